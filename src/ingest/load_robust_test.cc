// SPDX-License-Identifier: MIT
// Loading what is damaged, or not stored as usual.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <new>

#include "ingest/capture.h"
#include "ingest/ingest_test_util.h"
#include "ingest/load.h"
#include "ingest/parquet_source.h"
#include "ingest/parquet_test_util.h"
#include "ingest/sqlite_source.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ColumnSet kAll = {Column::kTime, Column::kLane,        Column::kThread,
                            Column::kName, Column::kCorrelation, Column::kAttributes,
                            Column::kKind};
const Reads kReads = {{TableId::kKernel, kAll}, {TableId::kRuntime, kAll}, {TableId::kNvtx, kAll}};

constexpr const char* kSql =
    "CREATE TABLE StringIds (id BIGINT, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'cudaLaunchKernel');"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT, deviceId BIGINT,"
    " streamId BIGINT, globalPid BIGINT, correlationId BIGINT, shortName BIGINT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (10,20,0,7,16777216,1,1);"
    "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start BIGINT, \"end\" BIGINT, globalTid BIGINT,"
    " correlationId BIGINT, nameId BIGINT);"
    "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,16777217,1,2);"
    "CREATE TABLE NVTX_EVENTS (start BIGINT, \"end\" BIGINT, globalTid BIGINT, text TEXT,"
    " category BIGINT);"
    "INSERT INTO NVTX_EVENTS VALUES (1,5,16777299,'step',3);";

LoadOptions Drawing(bool keep_going) {
  return {.threads = 1, .progress = {}, .for_drawing = true, .keep_going = keep_going};
}

// A source one table of which breaks off after its first rows.
class BreakingSource final : public TableSource {
 public:
  BreakingSource(const TableSource& whole, std::string table, ErrorCode code)
      : whole_(whole), table_(std::move(table)), code_(code) {}

  const std::vector<SourceTable>& tables() const override { return whole_.tables(); }
  Status Read(std::string_view table, std::span<const WantedColumn> columns,
              const BatchSink& sink) const override {
    NSYS_TRY(whole_.Read(table, columns, sink));
    if (table != table_) {
      return {};
    }
    return Error{.code = code_, .message = "/x/" + table_ + ".parquet is damaged: no page"};
  }

 private:
  const TableSource& whole_;
  std::string table_;
  ErrorCode code_;
};

Result<Trace> LoadBroken(const std::string& table, const LoadOptions& options,
                         ErrorCode code = ErrorCode::kProfile) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", kSql);
  const auto source = OpenSqlite(folder / "x.sqlite");
  EXPECT_TRUE(source.ok());
  return LoadTrace(BreakingSource(*source.value(), table, code), kReads, options);
}

TEST(KeepGoing, ATableThatBreaksOffCountsAsAbsent) {
  const auto trace = LoadBroken("NVTX_EVENTS", Drawing(true));
  ASSERT_TRUE(trace.ok());
  const Trace& loaded = trace.value();
  EXPECT_EQ(loaded.nvtx.size(), 0U);
  EXPECT_THAT(loaded.nvtx.attributes, IsEmpty());
  EXPECT_THAT(loaded.nvtx_attributes, IsEmpty());
  EXPECT_THAT(loaded.nvtx_lanes, IsEmpty());
  EXPECT_EQ(loaded.threads.size(), 1U) << "the one of the call";
  EXPECT_FALSE(loaded.schema.Has(TableId::kNvtx));
  EXPECT_EQ(loaded.kernels.size(), 1U);
  EXPECT_EQ(loaded.calls.size(), 1U);
  EXPECT_THAT(loaded.warnings,
              ElementsAre("NVTX_EVENTS left out: /x/NVTX_EVENTS.parquet is damaged: no page"));
}

TEST(KeepGoing, KernelsGoWithTheirLanes) {
  const auto trace = LoadBroken("CUPTI_ACTIVITY_KIND_KERNEL", Drawing(true));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().kernels.size(), 0U);
  EXPECT_THAT(trace.value().kernels.name, IsEmpty());
  EXPECT_THAT(trace.value().lanes, IsEmpty());
  EXPECT_EQ(trace.value().calls.size(), 1U);
}

TEST(KeepGoing, WithoutTextsNumbersName) {
  const auto trace = LoadBroken("StringIds", Drawing(true));
  ASSERT_TRUE(trace.ok());
  const Trace& loaded = trace.value();
  EXPECT_EQ(loaded.Text(loaded.kernels.name[0]), "kernel_1");
  EXPECT_EQ(loaded.Text(loaded.calls.name[0]), "cuda_api_2");
  EXPECT_EQ(loaded.string_table_size, 0U);
  EXPECT_FALSE(loaded.schema.Has(TableId::kStringIds));
  EXPECT_THAT(loaded.warnings, ElementsAre(HasSubstr("StringIds left out")));
}

TEST(KeepGoing, OnlyOnRequestAndOnlyForWhatIsWrongWithTheFile) {
  for (const char* table : {"StringIds", "NVTX_EVENTS", "CUPTI_ACTIVITY_KIND_RUNTIME"}) {
    const auto strict = LoadBroken(table, Drawing(false));
    ASSERT_FALSE(strict.ok()) << table;
    EXPECT_THAT(strict.error().message, AllOf(HasSubstr(table), HasSubstr("no page")));
    EXPECT_FALSE(LoadBroken(table, Drawing(true), ErrorCode::kInterrupted).ok()) << table;
  }
}

constexpr const char* kNvtxFile = "d/NVTX_EVENTS.parquet";

TEST(KeepGoing, FilesThatCannotBeOpenedAreLeftOut) {
  const TempFolder folder;
  MakeParquetFolder(folder / "d", kSql);
  const std::string whole = ReadFile(folder / kNvtxFile);
  for (const std::string& bytes :
       {std::string(), std::string("garbage"), std::string(64, 'x'),
        whole.substr(0, whole.size() / 2), whole.substr(0, whole.size() - 1)}) {
    WriteFile(folder / kNvtxFile, bytes);
    const auto strict = OpenParquetFolder(folder / "d", 1);
    ASSERT_FALSE(strict.ok()) << bytes.size();
    EXPECT_THAT(strict.error().message, HasSubstr("NVTX_EVENTS.parquet is damaged or truncated: "));
    const auto source = OpenCapture(folder / "d", OpenOptions{.keep_going = true});
    ASSERT_TRUE(source.ok()) << source.error().message;
    const auto trace = LoadTrace(*source.value(), kReads, Drawing(true));
    ASSERT_TRUE(trace.ok());
    EXPECT_EQ(trace.value().kernels.size(), 1U);
    EXPECT_EQ(trace.value().nvtx.size(), 0U);
    EXPECT_FALSE(trace.value().schema.Has(TableId::kNvtx));
    EXPECT_THAT(trace.value().warnings,
                ElementsAre(AllOf(HasSubstr("NVTX_EVENTS left out: "), HasSubstr(kNvtxFile),
                                  HasSubstr("damaged or truncated"))));
  }
}

TEST(KeepGoing, DamageInTheMiddleOfAFile) {
  const TempFolder folder;
  MakeParquetFolder(folder / "d", kSql);
  std::string bytes = ReadFile(folder / kNvtxFile);
  std::fill(bytes.begin() + 4, bytes.begin() + 64, '\xFF');  // pages; the footer stays
  WriteFile(folder / kNvtxFile, bytes);
  const auto source = OpenCapture(folder / "d", OpenOptions{.keep_going = true});
  ASSERT_TRUE(source.ok()) << source.error().message;
  const auto strict = LoadTrace(*source.value(), kReads, Drawing(false));
  ASSERT_FALSE(strict.ok());
  EXPECT_THAT(strict.error().message, HasSubstr(kNvtxFile));
  const auto trace = LoadTrace(*source.value(), kReads, Drawing(true));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().nvtx.size(), 0U);
  EXPECT_THAT(trace.value().warnings, ElementsAre(HasSubstr(kNvtxFile)));
}

TEST(KeepGoing, NothingReadableIsAnError) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "d");
  WriteFile(folder / "d/CUPTI_ACTIVITY_KIND_KERNEL.parquet", "");
  WriteFile(folder / kNvtxFile, "x");
  const auto source = OpenCapture(folder / "d", OpenOptions{.keep_going = true});
  ASSERT_FALSE(source.ok());
  EXPECT_THAT(source.error().message,
              HasSubstr("CUPTI_ACTIVITY_KIND_KERNEL.parquet is damaged or truncated"));
}

Trace LoadFolder(const std::string& folder, const Reads& reads = kReads) {
  const auto source = OpenCapture(folder, OpenOptions{.threads = 2, .table_folders = true});
  EXPECT_TRUE(source.ok()) << source.error().message;
  auto trace = LoadTrace(*source.value(), reads, Drawing(false));
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return std::move(trace).value();
}

TEST(TableFolders, PartsAreReadInTheOrderOfTheirNames) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / kNvtxFile);
  ParquetMaker maker;
  const auto part = [&](const std::string& query, const char* name) {
    maker.Copy(query, folder / (std::string(kNvtxFile) + "/" + name));
  };
  // The same times, so that only the order of the file decides.
  part("SELECT 1 AS start, 5 AS \"end\", 'b' AS text", "part1.parquet");
  part("SELECT 7 AS category, 5 AS \"end\", 1 AS start FROM range(3)", "part2.parquet");
  part("SELECT 1 AS start, 5 AS \"end\", 'a' AS text, 16777217 AS globalTid", "part0.parquet");
  WriteFile(folder / (std::string(kNvtxFile) + "/_SUCCESS"), "");
  WriteFile(folder / (std::string(kNvtxFile) + "/.part0.parquet.crc"), "x");
  const Trace trace = LoadFolder(folder / "d");
  ASSERT_EQ(trace.nvtx.size(), 5U);
  EXPECT_EQ(trace.Text(trace.nvtx.text[0]), "a");
  EXPECT_EQ(trace.Text(trace.nvtx.text[1]), "b");
  EXPECT_EQ(trace.nvtx.text[2], StringId::kNone) << "a part may lack a column";
  EXPECT_EQ(trace.nvtx.attributes[1], kNoAttributes);
  EXPECT_EQ(trace.nvtx_attributes.at(trace.nvtx.attributes[4]).category, 7);
  EXPECT_THAT(trace.warnings, IsEmpty());
}

TEST(TableFolders, ADamagedPartIsNamed) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / kNvtxFile);
  ParquetMaker maker;
  maker.Copy("SELECT 1 AS start, 5 AS \"end\"", folder / (std::string(kNvtxFile) + "/0.parquet"));
  WriteFile(folder / (std::string(kNvtxFile) + "/1.parquet"), "");
  const auto source = OpenCapture(folder / "d", OpenOptions{.table_folders = true});
  ASSERT_FALSE(source.ok());
  EXPECT_THAT(source.error().message, HasSubstr("NVTX_EVENTS.parquet/1.parquet is damaged"));
}

TEST(TableFolders, OnlyOnRequest) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / kNvtxFile);
  ParquetMaker maker;
  maker.Copy("SELECT 1 AS start, 5 AS \"end\"", folder / (std::string(kNvtxFile) + "/0.parquet"));
  EXPECT_FALSE(OpenCapture(folder / "d", 1).ok()) << "statements of users read single files";
}

TEST(ListParquetTables, SaysWhatLooksLikeATable) {
  const TempFolder folder;
  WriteFile(folder / "B.parquet", "");
  WriteFile(folder / "C.PARQUET", "");
  WriteFile(folder / "x.txt", "");
  std::filesystem::create_directories(folder / "A.parquet");
  std::filesystem::create_directories(folder / "D.parquet");
  WriteFile(folder / "D.parquet/1.parquet", "");
  WriteFile(folder / "D.parquet/0.parquet", "");
  const ParquetListing plain = ListParquetTables(folder.path(), false);
  ASSERT_EQ(plain.tables.size(), 1U);
  EXPECT_EQ(plain.tables[0].name, "B");
  EXPECT_THAT(plain.warnings,
              ElementsAre(AllOf(HasSubstr("A.parquet is not read"), HasSubstr("only convert")),
                          HasSubstr("C.PARQUET is not read"), HasSubstr("D.parquet is not read")));
  const ParquetListing all = ListParquetTables(folder.path(), true);
  ASSERT_EQ(all.tables.size(), 2U);
  EXPECT_EQ(all.tables[1].name, "D");
  EXPECT_THAT(all.tables[1].paths,
              ElementsAre(folder / "D.parquet/0.parquet", folder / "D.parquet/1.parquet"));
  EXPECT_THAT(all.warnings,
              ElementsAre(AllOf(HasSubstr("A.parquet"), HasSubstr("no part of a table")),
                          HasSubstr("C.PARQUET is not read")));
}

// A source whose tables cannot be held in memory.
class HugeSource final : public TableSource {
 public:
  explicit HugeSource(const TableSource& whole) : whole_(whole) {}
  const std::vector<SourceTable>& tables() const override { return whole_.tables(); }
  Status Read(std::string_view table, std::span<const WantedColumn> columns,
              const BatchSink& sink) const override {
    if (table != "StringIds") {
      throw std::bad_alloc();
    }
    return whole_.Read(table, columns, sink);
  }

 private:
  const TableSource& whole_;
};

TEST(LoadRobust, MemoryThatEndsOnAnyThreadIsTold) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", kSql);
  const auto source = OpenSqlite(folder / "x.sqlite");
  ASSERT_TRUE(source.ok());
  for (const int threads : {1, 4}) {
    EXPECT_THROW(static_cast<void>(LoadTrace(HugeSource(*source.value()), kReads,
                                             {.threads = threads, .progress = {}})),
                 std::bad_alloc);
  }
}

TEST(LoadRobust, TextsAsBytesAndIdsWithTheHighestBit) {
  const TempFolder folder;
  std::filesystem::create_directories(folder / "d");
  ParquetMaker maker;
  maker.Copy(
      "SELECT 18446744073709551615::UBIGINT AS id, 'far'::BLOB AS value UNION ALL "
      "SELECT 1::UBIGINT, 'gemm'::BLOB",
      folder / "d/StringIds.parquet");
  maker.Copy(
      "SELECT 1 AS start, 5 AS \"end\", 'range'::BLOB AS text, "
      "9223372036854775809::UBIGINT AS globalTid",
      folder / kNvtxFile);
  maker.Copy(
      "SELECT 1::UBIGINT AS start, 5::UBIGINT AS \"end\", 18446744073709551615::UBIGINT AS "
      "shortName, 9223372036871553024::UBIGINT AS globalPid UNION ALL "
      "SELECT 2::UBIGINT, 18446744073709551615::UBIGINT, 1::UBIGINT, 1::UBIGINT",
      folder / "d/CUPTI_ACTIVITY_KIND_KERNEL.parquet");
  const Trace trace = LoadFolder(folder / "d");
  EXPECT_EQ(trace.Text(trace.nvtx.text[0]), "range");
  EXPECT_EQ(Index(trace.threads.at(0).process), 0U);
  EXPECT_EQ(static_cast<uint64_t>(trace.threads[0].global_tid), 9223372036854775809U);
  ASSERT_EQ(trace.kernels.size(), 2U);
  EXPECT_EQ(trace.Text(trace.kernels.name[0]), "far");
  EXPECT_EQ(static_cast<uint64_t>(*trace.LaneOf(trace.kernels, 0).global_pid),
            9223372036871553024U);
  EXPECT_EQ(trace.kernels.end_ns[1], 2) << "2^64 - 1 is -1 here, before the start";
}

TEST(LoadRobust, TextsThatAreNotUtf8AreCounted) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite",
             "CREATE TABLE StringIds (id INTEGER, value TEXT);"
             "INSERT INTO StringIds VALUES (1,CAST(x'6BFFFE' AS TEXT)),(2,'ok'),"
             "(3,CAST(x'C3' AS TEXT));"
             "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, text TEXT, textId INTEGER);"
             "INSERT INTO NVTX_EVENTS VALUES (1,2,CAST(x'61FF' AS TEXT),NULL),(2,3,NULL,1),"
             "(3,4,'fine',NULL);");
  const auto source = OpenSqlite(folder / "x.sqlite");
  const auto trace = LoadTrace(*source.value(), kReads, Drawing(false));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().texts_repaired, 3);
  EXPECT_EQ(trace.value().Text(trace.value().nvtx.text[0]), "a\xEF\xBF\xBD");
  EXPECT_EQ(trace.value().Text(trace.value().nvtx.text[1]), "k\xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_THAT(trace.value().warnings,
              ElementsAre("NVTX_EVENTS: 1 text is not UTF-8; U+FFFD stands for the bytes that are "
                          "none",
                          "StringIds: 2 texts are not UTF-8; U+FFFD stands for the bytes that are "
                          "none"));
  const auto computed = LoadTrace(*source.value(), kReads, {.threads = 1, .progress = {}});
  EXPECT_EQ(computed.value().texts_repaired, 0);
  EXPECT_THAT(computed.value().warnings, IsEmpty());
}

TEST(LoadRobust, TablesWithoutRowsAreLikeAbsentOnes) {
  const TempFolder folder;
  std::string sql = kSql;
  for (size_t at = sql.find("INSERT"); at != std::string::npos; at = sql.find("INSERT")) {
    sql.erase(at, sql.find(';', at) + 1 - at);
  }
  MakeParquetFolder(folder / "d", sql);
  const Trace trace = LoadFolder(folder / "d");
  EXPECT_EQ(trace.kernels.size() + trace.calls.size() + trace.nvtx.size(), 0U);
  EXPECT_THAT(trace.warnings, IsEmpty());
}

TEST(LoadRobust, WithoutTimesNoRowsButAWarning) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite",
             "CREATE TABLE GPU_METRICS (typeId INTEGER); INSERT INTO GPU_METRICS VALUES (1);"
             "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (bytes INTEGER);"
             "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);"
             "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1);");
  const auto source = OpenSqlite(folder / "x.sqlite");
  const auto trace = LoadTrace(*source.value(),
                               {{TableId::kGpuMetrics, {Column::kWhole}},
                                {TableId::kKernel, kAll},
                                {TableId::kMemoryUsage, {Column::kWhole}}},
                               Drawing(false));
  ASSERT_TRUE(trace.ok());
  EXPECT_EQ(trace.value().kernels.size() + trace.value().gpu_metrics.size(), 0U);
  EXPECT_THAT(trace.value().warnings,
              testing::UnorderedElementsAre(
                  "CUPTI_ACTIVITY_KIND_KERNEL: no column end; its rows could not be read",
                  "GPU_METRICS: no column of times; its rows could not be read",
                  "CUDA_GPU_MEMORY_USAGE_EVENTS: no column of times; its rows could not be read"));
}

}  // namespace
}  // namespace nsys
