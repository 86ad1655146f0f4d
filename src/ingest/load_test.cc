// SPDX-License-Identifier: MIT
#include "ingest/load.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>

#include "ingest/ingest_test_util.h"
#include "ingest/sqlite_source.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Trace LoadSql(const std::string& sql, const Reads& reads = ReadEverything(), int threads = 1) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", sql);
  auto source = OpenSqlite(folder / "x.sqlite");
  EXPECT_TRUE(source.ok());
  auto trace = LoadTrace(*source.value(), reads, {.threads = threads, .progress = {}});
  EXPECT_TRUE(trace.ok()) << trace.error().message;
  return std::move(trace).value();
}

constexpr const char* kSampleDump =
    "P -144115188075855872\n"
    "P 281474993487872\n"
    "T 281474993487873 1\n"
    "T 281474993487874 1\n"
    "L 0 7 281474993487872 1 -\n"
    "L 0 7 281474993487872 1 3\n"
    "L 0 9 -144115188075855872 1 -\n"
    "L 1 7 281474993487872 1 -\n"
    "N 0 0\n"
    "N 0 1\n"
    "N 4294967295 0\n"
    "kernel 50 55 lane 1 corr 13 'kernel_99' '' ''\n";

TEST(LoadTrace, Sample) {
  const Trace trace = LoadSql(SampleSql());
  std::string expected = kSampleDump;
  expected += std::string("kernel 50 55 lane 2 corr -1 'far' 'a\0b' 'far'\n", 46);
  expected +=
      "kernel 50 60 lane 3 corr 12 'ba\xEF\xBF\xBD"
      "d' 'ba\xEF\xBF\xBD"
      "d' ''\n"
      "kernel 100 200 lane 0 corr 11 'void gemm<float>()' 'gemm' 'void gemm<float>()'\n"
      "copy 10 30 lane 0 corr 21 4096 1\n"
      "sync 10 30 lane 0 corr 22 4\n"
      "call 40 45 1 12 'cudaLaunchKernel_v7000'\n"
      "call 41 46 4294967295 -1 ''\n"
      "call 90 95 0 11 'cudaLaunchKernel_v7000'\n"
      "nvtx 5 5 1 34 'm\xEF\xBF\xBD'\n"
      "nvtx 7 9 2 60 'plain'\n"
      "nvtx 10 20 0 59 'step'\n"
      "D 0\n"
      "D 1\n"
      "W CUPTI_ACTIVITY_KIND_KERNEL: 1 row has no start; left out\n"
      "W CUPTI_ACTIVITY_KIND_KERNEL: 1 row has no end; left out\n"
      "W CUPTI_ACTIVITY_KIND_KERNEL: 1 row ends before it starts; left out\n";
  EXPECT_EQ(Dump(trace), expected);
}

TEST(LoadTrace, ThreadsDoNotChangeTheResult) {
  const std::string one = Dump(LoadSql(SampleSql()));
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(Dump(LoadSql(SampleSql(), ReadEverything(), 8)), one);
  }
}

TEST(LoadTrace, ReadsOnlyWhatIsWanted) {
  const Trace trace = LoadSql(SampleSql(), {{TableId::kKernel, {Column::kTime}}});
  EXPECT_EQ(trace.kernels.size(), 4U);
  EXPECT_THAT(trace.kernels.lane, IsEmpty());
  EXPECT_THAT(trace.kernels.name, IsEmpty());
  EXPECT_THAT(trace.kernels.correlation, IsEmpty());
  EXPECT_EQ(trace.calls.size(), 0U);
  EXPECT_EQ(trace.strings.size(), 0U);
  EXPECT_THAT(trace.device_inventory, IsEmpty());
  EXPECT_TRUE(trace.schema.Has(TableId::kRuntime));
}

TEST(LoadTrace, MissingColumnsLeaveDefaults) {
  const Trace trace = LoadSql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, \"end\" INTEGER, textId INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES (1,2,5);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, \"end\" INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2)");
  EXPECT_EQ(Dump(trace),
            "L - - - - -\nN 4294967295 0\nkernel 1 2 lane 0 corr -1 'kernel_unknown' '' ''\n"
            "copy 1 2 lane 0 corr -1 0 0\nnvtx 1 2 0 59 ''\n");
}

TEST(LoadTrace, WithoutEndColumnNoRowIsMadeUp) {
  const Trace trace = LoadSql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1)");
  EXPECT_EQ(trace.kernels.size(), 0U);
  EXPECT_THAT(trace.warnings, ElementsAre(HasSubstr("no column end")));
}

TEST(LoadTrace, TiesKeepTheOrderOfTheFile) {
  const Trace trace = LoadSql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER, correlationId "
      "INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5,6,1),(5,6,2),(-9,6,3),(5,5,4),"
      "(5,6,5),(-9223372036854775808,9223372036854775807,6),(9,8,7),(9,8,8)");
  EXPECT_THAT(trace.kernels.correlation, ElementsAre(3, 4, 1, 2, 5));
  EXPECT_THAT(trace.warnings, ElementsAre(HasSubstr("2 rows end before they start"),
                                          HasSubstr("1 row has an impossible time")));
}

TEST(LoadTrace, NoSumCanOverflow) {
  const Trace trace = LoadSql(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start INTEGER, \"end\" INTEGER, bytes INTEGER, "
      "copyKind INTEGER); INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES "
      "(0,2305843009213693952,4611686018427387904,1),(0,2305843009213693952,1,1),(0,1,-5,1),"
      "(0,0,9223372036854775807,1)");
  EXPECT_THAT(trace.copies.bytes, ElementsAre(0, 4611686018427387904, 0));
  EXPECT_EQ(trace.rows_left_out[static_cast<size_t>(TableId::kMemcpy)], 1);
}

TEST(LoadTrace, AnnotationsOfOldLayout) {
  const Trace trace = LoadSql(
      "CREATE TABLE StringIds (id INTEGER, value TEXT); INSERT INTO StringIds VALUES (0,'zero'),"
      "(0,'other'),(-3,'minus');"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, \"end\" INTEGER, textId INTEGER, globalTid "
      "INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES (1,2,0,16777217),(3,4,-3,16777217),(5,6,77,16777217)");
  EXPECT_EQ(trace.Text(trace.nvtx.text[0]), "zero");
  EXPECT_EQ(trace.Text(trace.nvtx.text[1]), "minus");
  EXPECT_EQ(trace.nvtx.text[2], StringId::kNone);
}

TEST(LoadTrace, ProgressCountsRows) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite",
             "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, \"end\" INTEGER); WITH "
             "RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT i+1 FROM c WHERE i<199999) INSERT INTO "
             "CUPTI_ACTIVITY_KIND_KERNEL SELECT i, i FROM c");
  const auto source = OpenSqlite(folder / "x.sqlite");
  std::atomic<int64_t> last = 0;
  const auto trace = LoadTrace(*source.value(), {{TableId::kKernel, {Column::kTime}}},
                               {.threads = 2, .progress = [&](int64_t rows) { last = rows; }});
  ASSERT_TRUE(trace.ok());
  EXPECT_GT(last.load(), 190000);
}

// Two processes that each see one GPU call it device 0.
TEST(LoadTrace, WarnsOfOrdinalsThatStandForSeveralGpus) {
  const auto sql = [](int gpu_of_second) {
    const int64_t first = int64_t{100} << 24;
    const int64_t second = int64_t{200} << 24;
    return fmt::format(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start, end, deviceId, streamId, globalPid);"
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES(0, 5, 0, 7, {}), (0, 5, 0, 7, {});"
        "CREATE TABLE TARGET_INFO_CUDA_DEVICE(gpuId, cudaId, pid);"
        "INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES(0, 0, 100), ({}, 0, 200), (5, 0, 300);",
        first, second, gpu_of_second);
  };
  const Reads reads = {{TableId::kKernel, {Column::kTime, Column::kLane}}};
  EXPECT_THAT(LoadSql(sql(3), reads).warnings,
              ElementsAre(HasSubstr("device 0 stands for the GPUs 0 and 3")));
  EXPECT_THAT(LoadSql(sql(0), reads).warnings, IsEmpty()) << "process 300 ran nothing";
}

constexpr ColumnSet kNcclColumns = {Column::kTime, Column::kThread, Column::kName, Column::kKind,
                                    Column::kPayload};

constexpr const char* kNcclRows =
    "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
    "INSERT INTO StringIds VALUES (1, 'ncclAllReduce'), (2, 'layer');"
    "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
    "  globalTid INTEGER, textId INTEGER, domainId INTEGER, binaryData TEXT);"
    "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, NULL, 9, 1, 1, x'00FF'),"
    "  (3, 4, 59, NULL, 9, 2, 0, x'0102'), (5, 6, 59, 'nccl:send', 9, NULL, 0, NULL),"
    "  (7, 8, 59, 'xnccl', 9, 1, 0, x'03'), (9, 10, 59, NULL, 9, 1, 1, x'00FF'),"
    "  (11, NULL, 75, 'NCCL', 9, NULL, 1, NULL);";

TEST(LoadTrace, NcclRangesAloneLeaveOtherRowsOut) {
  const Reads reads = {{TableId::kNvtx, kNcclColumns, RowKind::kNccl}};
  const Trace trace = LoadSql(kNcclRows, reads);
  EXPECT_THAT(trace.nvtx.start_ns, ElementsAre(1, 5, 9));
  EXPECT_THAT(trace.nvtx.payload, ElementsAre(0U, kNoPayload, 0U));
  EXPECT_THAT(trace.payloads, ElementsAre(std::string("\0\xFF", 2)));
  EXPECT_EQ(trace.Text(trace.nvtx.text[1]), "nccl:send");
  EXPECT_THAT(trace.nvtx.event_type, ElementsAre(59, 59, 59));
}

TEST(LoadTrace, NcclRangesAmongOtherColumnsKeepAllRows) {
  const Reads reads = {{TableId::kNvtx, kNcclColumns, RowKind::kNccl},
                       {TableId::kNvtx, {Column::kName}}};
  const Trace trace = LoadSql(kNcclRows, reads);
  EXPECT_EQ(trace.nvtx.size(), 6U);
  // Payloads of other libraries are never needed.
  EXPECT_THAT(trace.nvtx.payload,
              ElementsAre(0U, kNoPayload, kNoPayload, kNoPayload, 0U, kNoPayload));
}

TEST(LoadTrace, NcclRangesAreNotReadWhenNoNameHoldsNccl) {
  const std::string sql =
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1, 'gemm');"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
      "  globalTid INTEGER);"
      "INSERT INTO NVTX_EVENTS VALUES (1, 2, 59, 'nccl:send', 9);";
  const Trace trace = LoadSql(sql, {{TableId::kNvtx, {Column::kName}, RowKind::kNccl}});
  EXPECT_EQ(trace.nvtx.size(), 0U);
}

}  // namespace
}  // namespace nsys
