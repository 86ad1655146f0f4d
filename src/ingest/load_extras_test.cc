// SPDX-License-Identifier: MIT
// Loading what is drawn besides kernels, copies and calls, from both forms of an export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/load_forms_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

constexpr ColumnSet kGpu = {Column::kTime, Column::kLane, Column::kCorrelation};

class LoadExtras : public LoadForms {};
INSTANTIATE_TEST_SUITE_P(Forms, LoadExtras, testing::Values(Form::kSqlite, Form::kParquet),
                         FormName);

constexpr const char* kAttributeColumns =
    "CREATE TABLE NVTX_EVENTS (start BIGINT, \"end\" BIGINT, category BIGINT, color BIGINT,"
    " uint64Value BIGINT, int64Value BIGINT, doubleValue DOUBLE, uint32Value BIGINT,"
    " int32Value BIGINT, floatValue DOUBLE, jsonTextId BIGINT, jsonText TEXT);"
    "INSERT INTO NVTX_EVENTS VALUES ";

TEST_P(LoadExtras, AttributesOfRangesAreNumberedByFirstSight) {
  const std::string none = "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)";
  const Trace trace =
      Load(std::string(kStrings) + kAttributeColumns + "(9,10,3,-16711936," + none +  //
               ",(8,NULL,NULL,NULL," + none +                                         //
               ",(7,8,3,4278255360," + none +                                         //
               ",(6,7,NULL,NULL,-1,NULL,NULL,NULL,NULL,NULL,NULL,NULL)"
               ",(5,6,NULL,NULL,NULL,-1,NULL,NULL,NULL,NULL,NULL,NULL)"
               ",(4,5,NULL,NULL,NULL,NULL,2.5,NULL,NULL,NULL,NULL,NULL)"
               ",(3,4,NULL,NULL,NULL,NULL,NULL,-1,NULL,NULL,NULL,NULL)"
               ",(2,3,NULL,NULL,NULL,NULL,NULL,NULL,-7,NULL,NULL,NULL)"
               ",(1,2,NULL,NULL,NULL,NULL,NULL,NULL,NULL,0.5,NULL,NULL)"
               ",(11,12,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,6,NULL)"
               ",(12,13,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL,'[1]')"
               ",(13,14,3,NULL," +
               none + ",(14,15,NULL,0," + none + ";",
           {{TableId::kNvtx, {Column::kTime, Column::kAttributes}}});
  EXPECT_THAT(trace.nvtx.attributes,
              ElementsAre(6, 5, 4, 3, 2, 1, 0, kNoAttributes, 0, 7, 8, 9, 10));
  EXPECT_THAT(trace.nvtx.open, ElementsAre(0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0));
  const std::vector<NvtxAttributes>& distinct = trace.nvtx_attributes;
  ASSERT_EQ(distinct.size(), 11U);
  using Payload = decltype(NvtxAttributes::payload);
  EXPECT_EQ(distinct[0].category, 3);
  EXPECT_EQ(distinct[0].color, 0xFF00FF00U) << "ARGB, however the sign bit is written";
  EXPECT_EQ(distinct[0].payload, Payload());
  EXPECT_EQ(distinct[1].payload, Payload(uint64_t{0xFFFFFFFFFFFFFFFF}));
  EXPECT_FALSE(distinct[1].category || distinct[1].color);
  EXPECT_EQ(distinct[2].payload, Payload(int64_t{-1}));
  EXPECT_EQ(distinct[3].payload, Payload(2.5));
  EXPECT_EQ(distinct[4].payload, Payload(uint64_t{0xFFFFFFFF}));
  EXPECT_EQ(distinct[5].payload, Payload(int64_t{-7}));
  EXPECT_EQ(distinct[6].payload, Payload(0.5));
  EXPECT_EQ(distinct[7].payload, Payload(std::string("{\"a\":1}")));
  EXPECT_EQ(distinct[8].payload, Payload(std::string("[1]")));
  EXPECT_EQ(distinct[9].category, 3);
  EXPECT_FALSE(distinct[9].color.has_value());
  EXPECT_EQ(distinct[10].color, 0U);
}

TEST_P(LoadExtras, ExportsWithoutNullFillEveryMember) {
  const Trace trace =
      Load(std::string(kAttributeColumns) +
               "(1,2,0,0,0,0,0.0,0,0,0.0,NULL,''),(2,3,0,0,0,0,0.0,0,12,0.0,NULL,'')",
           {{TableId::kNvtx, {Column::kTime, Column::kAttributes}}});
  ASSERT_EQ(trace.nvtx_attributes.size(), 2U);
  using Payload = decltype(NvtxAttributes::payload);
  EXPECT_EQ(trace.nvtx_attributes[0].payload, Payload());
  EXPECT_EQ(trace.nvtx_attributes[1].payload, Payload(int64_t{12}));
}

TEST_P(LoadExtras, OldRangesHaveNoAttributes) {
  const Trace trace = Load(
      "CREATE TABLE NVTX_EVENTS (start BIGINT, \"end\" BIGINT);"
      "INSERT INTO NVTX_EVENTS VALUES (1,2),(2,NULL);",
      {{TableId::kNvtx, {Column::kTime, Column::kAttributes}}});
  EXPECT_THAT(trace.nvtx.attributes, ElementsAre(kNoAttributes, kNoAttributes));
  EXPECT_THAT(trace.nvtx.open, ElementsAre(0, 1));
}

TEST_P(LoadExtras, ThreadsOfOsCallsAndOverheads) {
  const std::string sql =
      std::string(kStrings) +
      "CREATE TABLE OSRT_API (start BIGINT, \"end\" BIGINT, globalTid BIGINT, nameId BIGINT);"
      "INSERT INTO OSRT_API VALUES (5,9,16777218,5),(1,2,16777217,88),(3,4,NULL,5);"
      "CREATE TABLE PROFILER_OVERHEAD (start BIGINT, \"end\" BIGINT, globalTid BIGINT,"
      " nameId BIGINT);"
      "INSERT INTO PROFILER_OVERHEAD VALUES (5,9,16777217,4),(1,2,33554433,99);";
  const Trace trace =
      Load(sql, {{TableId::kOsrt, {Column::kWhole}},
                 {TableId::kOverhead, {Column::kWhole, Column::kThread, Column::kName}}});
  ASSERT_EQ(trace.threads.size(), 3U);
  EXPECT_EQ(trace.threads[2].global_tid, 33554433);
  EXPECT_EQ(trace.processes.size(), 2U);
  EXPECT_THAT(trace.os_calls.thread, ElementsAre(ThreadId{0}, ThreadId::kNone, ThreadId{1}));
  EXPECT_EQ(trace.Text(trace.os_calls.name[0]), "os_call_88");
  EXPECT_EQ(trace.Text(trace.os_calls.name[2]), "poll");
  EXPECT_THAT(trace.overheads.thread, ElementsAre(ThreadId{2}, ThreadId{0}));
  EXPECT_EQ(trace.overheads.name[0], StringId::kNone);
  EXPECT_EQ(trace.Text(trace.overheads.name[1]), "cudaFree");

  const Trace times = Load(sql, {{TableId::kOverhead, {Column::kWhole}}});
  EXPECT_THAT(times.overheads.start_ns, ElementsAre(1, 5));
  EXPECT_THAT(times.overheads.thread, IsEmpty());
  EXPECT_THAT(times.threads, IsEmpty()) << "who asks for times alone sees no other threads";
}

TEST_P(LoadExtras, CountersOfGpus) {
  const std::string names =
      "CREATE TABLE TARGET_INFO_GPU_METRICS (typeId BIGINT, sourceId BIGINT, typeName TEXT,"
      " metricId BIGINT, metricName TEXT);"
      "INSERT INTO TARGET_INFO_GPU_METRICS VALUES (2,0,'GH100',1,'SM Active'),"
      "(1,0,'GH100',7,'DRAM'),(1,0,'GH100',7,'again'),(1,0,'GH100',NULL,'x');";
  const std::string columns = "typeId BIGINT, metricId BIGINT, value BIGINT);";
  const std::string rows =
      "(20,1,7,50),(10,1,7,40),(10,2,1,-1),(NULL,1,7,1),(5,1,NULL,1),(6,1,7,NULL)";
  const Reads reads = {{TableId::kGpuMetrics, {Column::kWhole}},
                       {TableId::kGpuMetricNames, {Column::kWhole}}};
  const Trace trace = Load(names + "CREATE TABLE GPU_METRICS (timestamp BIGINT, " + columns +
                               "INSERT INTO GPU_METRICS VALUES " + rows,
                           reads);
  EXPECT_THAT(trace.gpu_metrics.start_ns, ElementsAre(10, 10, 20));
  EXPECT_THAT(trace.gpu_metrics.end_ns, ElementsAre(10, 10, 20));
  EXPECT_THAT(trace.gpu_metrics.type, ElementsAre(1, 2, 1));
  EXPECT_THAT(trace.gpu_metrics.metric, ElementsAre(7, 1, 7));
  EXPECT_THAT(trace.gpu_metrics.value, ElementsAre(40, -1, 50));
  EXPECT_EQ(trace.rows_left_out[static_cast<size_t>(TableId::kGpuMetrics)], 3);
  EXPECT_THAT(trace.warnings,
              UnorderedElementsAre("GPU_METRICS: 1 row has no start; left out",
                                   "GPU_METRICS: 2 rows without a counter or a value; left out"));
  ASSERT_EQ(trace.gpu_metric_names.size(), 2U);
  EXPECT_EQ(trace.gpu_metric_names[0].name, "DRAM");
  EXPECT_EQ(trace.gpu_metric_names[1].type, 2);
  EXPECT_EQ(trace.gpu_metric_names[1].source, "GH100");

  const Trace raw = Load("CREATE TABLE GPU_METRICS (rawTimestamp BIGINT, " + columns +
                             "INSERT INTO GPU_METRICS VALUES " + rows,
                         reads,
                         {.threads = 1,
                          .progress = {},
                          .for_drawing = true,
                          .keep_going = false,
                          .window = Span{11, 30}});
  EXPECT_THAT(raw.gpu_metrics.start_ns, ElementsAre(20)) << "only what touches the window";
}

TEST_P(LoadExtras, ProcessesAndClocks) {
  const Trace trace = Load(
      "CREATE TABLE PROCESSES (globalPid BIGINT, pid BIGINT, name TEXT);"
      "INSERT INTO PROCESSES VALUES (50331648,3,'python3'),(33554432,2,'sh'),(33554432,2,'again'),"
      "(NULL,4,'x'),(67108864,4,NULL);"
      "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_PARAM_TIME_SHIFT','9'),"
      "('EXPORT_CONFIG_TIME_SHIFT','1786331166672603878');"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (systemClockNs BIGINT);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (NULL),(35),(36);",
      {{TableId::kProcesses, {Column::kWhole}},
       {TableId::kExportSettings, {Column::kWhole}},
       {TableId::kSessionStart, {Column::kWhole}}});
  ASSERT_EQ(trace.process_names.size(), 2U);
  EXPECT_EQ(trace.process_names[0].name, "sh");
  EXPECT_EQ(trace.process_names[1].global_pid, 50331648);
  EXPECT_EQ(trace.export_shift_ns, 1786331166672603878);
  EXPECT_EQ(trace.session_start_ns, 35);
}

TEST_P(LoadExtras, ClocksThatNobodyTells) {
  const Trace trace = Load(
      "CREATE TABLE META_DATA_EXPORT (name TEXT, value TEXT);"
      "INSERT INTO META_DATA_EXPORT VALUES ('EXPORT_CONFIG_TIME_SHIFT','soon');"
      "CREATE TABLE TARGET_INFO_SESSION_START_TIME (utcEpochNs BIGINT);"
      "INSERT INTO TARGET_INFO_SESSION_START_TIME VALUES (1);",
      {{TableId::kProcesses, {Column::kWhole}},
       {TableId::kExportSettings, {Column::kWhole}},
       {TableId::kSessionStart, {Column::kWhole}}});
  EXPECT_FALSE(trace.export_shift_ns.has_value());
  EXPECT_FALSE(trace.session_start_ns.has_value());
  EXPECT_THAT(trace.process_names, IsEmpty());
}

TEST_P(LoadExtras, MemoryUsageIsMoments) {
  const Trace trace = Load(
      "CREATE TABLE CUDA_GPU_MEMORY_USAGE_EVENTS (start BIGINT, globalPid BIGINT, deviceId BIGINT,"
      " contextId BIGINT, bytes BIGINT, memKind BIGINT, memoryOperationType BIGINT,"
      " correlationId BIGINT);"
      "INSERT INTO CUDA_GPU_MEMORY_USAGE_EVENTS VALUES (9,16777216,1,2,300,2,1,8),"
      "(5,16777216,0,2,300,3,0,NULL),(NULL,16777216,0,2,1,1,1,1);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT, deviceId BIGINT,"
      " streamId BIGINT, globalPid BIGINT, contextId BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,0,7,16777216,2);",
      {{TableId::kMemoryUsage, {Column::kWhole}}, {TableId::kKernel, kGpu}});
  const MemoryUsageTable& usage = trace.memory_usage;
  EXPECT_THAT(usage.start_ns, ElementsAre(5, 9));
  EXPECT_THAT(usage.end_ns, ElementsAre(5, 9));
  EXPECT_THAT(usage.bytes, ElementsAre(300, 300));
  EXPECT_THAT(usage.kind, ElementsAre(3, 2));
  EXPECT_THAT(usage.operation, ElementsAre(0, 1));
  EXPECT_THAT(usage.correlation, ElementsAre(kNoCorrelation, 8));
  EXPECT_EQ(trace.lanes.size(), 3U) << "two without a stream, and the one of the kernel";
  EXPECT_EQ(trace.DeviceOf(usage, 0), 0);
  EXPECT_EQ(trace.DeviceOf(usage, 1), 1);
  EXPECT_FALSE(trace.LaneOf(usage, 0).stream.has_value());
  EXPECT_EQ(trace.LaneOf(trace.kernels, 0).stream, 7);
  EXPECT_THAT(trace.schema.Missing(TableId::kMemoryUsage, Column::kTime), IsEmpty());
  EXPECT_THAT(trace.warnings, ElementsAre("CUDA_GPU_MEMORY_USAGE_EVENTS: 1 row has no start; left "
                                          "out"));
}

TEST_P(LoadExtras, ThreadsDoNotChangeTheResult) {
  const std::string none = "NULL,NULL,NULL,NULL,NULL,NULL,NULL,NULL)";
  const std::string sql =
      std::string(kStrings) + kAttributeColumns + "(9,10,3,1," + none + ",(8,9,4,1," + none +
      ",(7,8,3,1," + none +
      ";CREATE TABLE OSRT_API (start BIGINT, \"end\" BIGINT, globalTid BIGINT, nameId BIGINT);"
      "INSERT INTO OSRT_API VALUES (5,9,16777218,5),(1,2,16777217,88);";
  const Reads reads = {
      {TableId::kNvtx, {Column::kTime, Column::kThread, Column::kName, Column::kAttributes}},
      {TableId::kOsrt, {Column::kWhole}}};
  for (int i = 0; i < 5; ++i) {
    const Trace trace = Load(sql, reads, {.threads = 4, .progress = {}, .for_drawing = true});
    EXPECT_THAT(trace.nvtx.attributes, ElementsAre(0, 1, 0));
    ASSERT_EQ(trace.nvtx_attributes.size(), 2U);
    EXPECT_EQ(trace.nvtx_attributes[1].category, 4);
    EXPECT_THAT(trace.os_calls.thread, ElementsAre(ThreadId{0}, ThreadId{1}));
  }
}

}  // namespace
}  // namespace nsys
