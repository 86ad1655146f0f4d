// SPDX-License-Identifier: MIT
// Cells of another type than their column's are told, whatever the form of the capture.
#include "ingest/foreign_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/capture.h"
#include "ingest/ingest_test_util.h"
#include "ingest/load.h"
#include "ingest/parquet_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr const char* kStrings =
    "CREATE TABLE StringIds (id BIGINT, value TEXT); INSERT INTO StringIds VALUES (1,'gemm');";

// A table of kernels whose columns `start` and `correlationId` have these types.
std::string Kernels(const std::string& start, const std::string& correlation,
                    const std::string& rows) {
  return "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start " + start +
         ", \"end\" BIGINT, deviceId BIGINT, streamId BIGINT, correlationId " + correlation +
         ", shortName BIGINT); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES " + rows + ";";
}

Result<Trace> LoadPath(const std::string& path, const LoadOptions& options = {}) {
  auto source = OpenCapture(path, 1);
  if (!source.ok()) {
    return std::move(source).TakeError();
  }
  return LoadTrace(*source.value(), ReadEverything(), options);
}

Result<Trace> LoadSqlite(const std::string& sql, const LoadOptions& options = {}) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", sql);
  return LoadPath(folder / "x.sqlite", options);
}

Result<Trace> LoadParquet(const std::string& sql) {
  const TempFolder folder;
  MakeParquetFolder(folder / "x", sql);
  return LoadPath(folder / "x");
}

TEST(ForeignCells, SomeInADatabaseAreToldOncePerColumn) {
  const auto trace = LoadSqlite(kStrings + Kernels("ANY", "ANY",
                                                   "(10,20,0,7,'a',1),('abc',21,0,7,x'01',1),"
                                                   "(12,22,0,7,2.5,1),(NULL,23,0,7,NULL,1),"
                                                   "('def',24,0,7,4,1)"));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_EQ(trace.value().kernels.size(), 2U);
  EXPECT_THAT(
      trace.value().warnings,
      ElementsAre("CUPTI_ACTIVITY_KIND_KERNEL: column start: 2 values of another type than integer "
                  "(text); read as missing",
                  "CUPTI_ACTIVITY_KIND_KERNEL: column correlationId: 3 values of another type than "
                  "integer (text); read as missing",
                  "CUPTI_ACTIVITY_KIND_KERNEL: 3 rows have no start; left out"));
}

TEST(ForeignCells, NullIsSilent) {
  const std::string sql = kStrings + Kernels("BIGINT", "BIGINT", "(10,20,NULL,NULL,NULL,1)");
  for (const auto& trace : {LoadSqlite(sql), LoadParquet(sql)}) {
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_THAT(trace.value().warnings, IsEmpty());
  }
}

TEST(ForeignCells, TimesOfNothingElseAreAnError) {
  const std::string sql =
      kStrings + Kernels("TEXT", "BIGINT", "('abc',20,0,7,1,1),(NULL,21,0,7,2,1)");
  for (const auto& trace : {LoadSqlite(sql), LoadParquet(sql)}) {
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::kProfile);
    EXPECT_THAT(trace.error().message,
                AllOf(HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL"), HasSubstr("column start"),
                      HasSubstr("(1 value of type text)")));
    EXPECT_THAT(trace.error().hint, HasSubstr("export"));
  }
  const auto kept = LoadSqlite(sql, {.keep_going = true});
  ASSERT_TRUE(kept.ok());
  EXPECT_EQ(kept.value().kernels.size(), 0U);
  EXPECT_THAT(kept.value().warnings,
              ElementsAre(AllOf(HasSubstr("KERNEL left out"), HasSubstr("column start"))));
}

TEST(ForeignCells, AColumnOfAFolderIsToldWithItsType) {
  for (const auto& [type, shown] : std::vector<std::pair<std::string, std::string>>{
           {"TEXT", "text"}, {"TIMESTAMP", "date or time"}, {"BIGINT[]", "nested or rare"}}) {
    const std::string cells = type == "TEXT" ? "'7'" : type == "TIMESTAMP" ? "'2020-01-01'" : "[7]";
    const auto trace = LoadParquet(kStrings + Kernels("BIGINT", type,
                                                      "(10,20,0,7," + cells +
                                                          ",1),"
                                                          "(11,21,0,7,NULL,1)"));
    ASSERT_TRUE(trace.ok()) << trace.error().message;
    EXPECT_THAT(trace.value().warnings,
                ElementsAre("CUPTI_ACTIVITY_KIND_KERNEL: column correlationId: 1 value of another "
                            "type than integer (" +
                            shown + "); read as missing"));
  }
}

TEST(ForeignCells, RealsCountWhenTheyAreWhole) {
  const auto trace =
      LoadParquet(kStrings + Kernels("DOUBLE", "DOUBLE", "(10,20,0,7,1,1),(11.5,21,0,7,NULL,1)"));
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_THAT(trace.value().warnings,
              ElementsAre(HasSubstr("column start: 1 value of another type than integer (real)"),
                          HasSubstr("1 row has no start")));
}

TEST(ForeignCells, SmallTablesAndTextsAreToldAsWell) {
  const auto trace = LoadSqlite(
      "CREATE TABLE StringIds (id BIGINT, value ANY); INSERT INTO StringIds VALUES (1,'gemm'),"
      "('x','y'),(3,4);" +
      Kernels("BIGINT", "BIGINT", "(10,20,0,7,1,1)") +
      "CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId ANY, cudaId BIGINT, pid BIGINT);"
      "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES ('gpu',0,1)");
  ASSERT_TRUE(trace.ok()) << trace.error().message;
  EXPECT_THAT(trace.value().warnings,
              testing::UnorderedElementsAre(
                  HasSubstr("StringIds: column id: 1 value of another type than integer (text)"),
                  HasSubstr("StringIds: column value: 1 value of another type than text (integer)"),
                  HasSubstr("TARGET_INFO_CUDA_DEVICE: column gpuId: 1 value")));
}

}  // namespace
}  // namespace nsys
