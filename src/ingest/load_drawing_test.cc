// SPDX-License-Identifier: MIT
// Loading what is drawn, from both forms of an export.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/load_forms_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr ColumnSet kGpu = {Column::kTime, Column::kLane, Column::kCorrelation};

int64_t Clamped(const Trace& trace, TableId table) {
  return trace.rows_clamped[static_cast<size_t>(table)];
}

class LoadForDrawing : public LoadForms {};
INSTANTIATE_TEST_SUITE_P(Forms, LoadForDrawing, testing::Values(Form::kSqlite, Form::kParquet),
                         FormName);

TEST_P(LoadForDrawing, RowsThatEndBeforeTheyStartAreKept) {
  const std::string sql =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT, correlationId BIGINT,"
      " deviceId BIGINT, streamId BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES "
      "(500,600,1,0,7),(300,290,2,1,7),(100,200,3,0,7)"
      ",(300,300,4,0,7),(NULL,5,6,0,7),(7,NULL,7,0,7);"
      "CREATE TABLE NVTX_EVENTS (start BIGINT, \"end\" BIGINT, eventType BIGINT);"
      "INSERT INTO NVTX_EVENTS VALUES (10,5,59),(20,NULL,59);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start BIGINT, \"end\" BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2);";
  const Reads reads = {{TableId::kKernel, kGpu},
                       {TableId::kNvtx, {Column::kTime, Column::kKind}},
                       {TableId::kRuntime, {Column::kTime}}};
  const Trace trace = Load(sql, reads);
  EXPECT_THAT(trace.kernels.start_ns, ElementsAre(100, 300, 300, 500));
  EXPECT_THAT(trace.kernels.end_ns, ElementsAre(200, 300, 300, 600));
  EXPECT_THAT(trace.kernels.recorded_end_ns, ElementsAre(200, 290, 300, 600));
  EXPECT_THAT(trace.kernels.correlation, ElementsAre(3, 2, 4, 1));
  EXPECT_EQ(trace.DeviceOf(trace.kernels, 1), 1) << "lanes move with their rows";
  EXPECT_EQ(Clamped(trace, TableId::kKernel), 1);
  EXPECT_THAT(trace.nvtx.end_ns, ElementsAre(10, 20));
  EXPECT_THAT(trace.nvtx.recorded_end_ns, ElementsAre(5, 20));
  EXPECT_EQ(Clamped(trace, TableId::kNvtx), 1);
  EXPECT_THAT(trace.calls.recorded_end_ns, IsEmpty());
  EXPECT_EQ(Clamped(trace, TableId::kRuntime), 0);
  EXPECT_EQ(trace.rows_left_out[static_cast<size_t>(TableId::kKernel)], 2);
  EXPECT_THAT(
      trace.warnings,
      testing::Contains("CUPTI_ACTIVITY_KIND_KERNEL: 1 row ends before it starts; kept with "
                        "no length"));

  const Trace computed = Load(sql, reads, {.threads = 1, .progress = {}});
  EXPECT_THAT(computed.kernels.start_ns, ElementsAre(100, 300, 500));
  EXPECT_THAT(computed.kernels.recorded_end_ns, IsEmpty());
  EXPECT_EQ(Clamped(computed, TableId::kKernel), 0);
}

TEST_P(LoadForDrawing, NothingIsAddedUpSoLongRowsStay) {
  const std::string sql =
      "CREATE TABLE NVTX_EVENTS (start BIGINT, \"end\" BIGINT);"
      "INSERT INTO NVTX_EVENTS VALUES (0,2305843009213693952),(1,2305843009213693952),"
      "(2,2305843009213693952),(3,2305843009213693953),(4,-2305843009213693953);";
  const Trace trace = Load(sql, {{TableId::kNvtx, {Column::kTime}}});
  EXPECT_THAT(trace.nvtx.start_ns, ElementsAre(0, 1, 2)) << "the others are beyond any clock";
}

TEST_P(LoadForDrawing, WithoutATextTheNumberNames) {
  const std::string sql = std::string(kStrings) +
                          "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start BIGINT, \"end\" BIGINT,"
                          " nameId BIGINT);"
                          "INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (1,2,4),(2,3,77),"
                          "(3,4,77),(4,5,NULL);"
                          "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT,"
                          " shortName BIGINT);"
                          "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (1,2,1),(2,3,99),"
                          "(3,4,NULL);";
  const Reads reads = {{TableId::kRuntime, {Column::kTime, Column::kName}},
                       {TableId::kKernel, {Column::kTime, Column::kName}}};
  const auto names = [](const Trace& trace, const std::vector<StringId>& ids) {
    std::vector<std::string> texts;
    for (const StringId id : ids) {
      texts.emplace_back(trace.Text(id));
    }
    return texts;
  };
  const Trace trace = Load(sql, reads);
  EXPECT_THAT(names(trace, trace.calls.name),
              ElementsAre("cudaFree", "cuda_api_77", "cuda_api_77", "cuda_api_"));
  EXPECT_THAT(names(trace, trace.kernels.name), ElementsAre("gemm", "kernel_99", "kernel_"));
  const Trace computed = Load(sql, reads, {.threads = 1, .progress = {}});
  EXPECT_THAT(names(computed, computed.calls.name), ElementsAre("cudaFree", "", "", ""));
  EXPECT_THAT(names(computed, computed.kernels.name),
              ElementsAre("gemm", "kernel_99", "kernel_unknown"));
}

TEST_P(LoadForDrawing, TiesAreInTheOrderOfTheirCorrelation) {
  const std::string sql =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT, correlationId "
      "BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (5,6,9),(5,6,2),(5,5,3),(5,6,4),(4,6,8);";
  const Reads reads = {{TableId::kKernel, kGpu}};
  EXPECT_THAT(Load(sql, reads).kernels.correlation, ElementsAre(8, 3, 2, 4, 9));
  EXPECT_THAT(Load(sql, reads, {.threads = 1, .progress = {}}).kernels.correlation,
              ElementsAre(8, 3, 9, 2, 4));
}

TEST_P(LoadForDrawing, ShapesGraphsAndMangledNamesOfKernels) {
  const std::string sql =
      std::string(kStrings) +
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT, mangledName BIGINT,"
      " gridX BIGINT, gridY BIGINT, gridZ BIGINT, blockX BIGINT, blockY BIGINT, blockZ BIGINT,"
      " graphId BIGINT, graphNodeId BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3,4,3,1,2,3,4,5,6,NULL,77),"
      "(1,2,NULL,10,NULL,1,1,1,1,0,0),(5,6,50,1,1,1,1,1,1,8,4294967297),"
      "(7,8,3,1,1,1,1,1,1,NULL,NULL);";
  const Reads reads = {
      {TableId::kKernel, {Column::kTime, Column::kShape, Column::kGraph, Column::kMangled}}};
  const Trace trace = Load(sql, reads);
  const KernelTable& kernels = trace.kernels;
  ASSERT_EQ(kernels.size(), 4U);
  ASSERT_EQ(kernels.shape.size(), 4U);
  EXPECT_EQ(kernels.shape[0].grid.x, 10);
  EXPECT_EQ(kernels.shape[0].grid.y, 0);
  EXPECT_EQ(kernels.shape[1].grid.z, 3);
  EXPECT_EQ(kernels.shape[1].block.x, 4);
  EXPECT_EQ(kernels.shape[1].block.z, 6);
  ASSERT_EQ(kernels.graph.size(), 4U);
  const auto place = [&](size_t row) {
    return std::pair(kernels.graph[row].graph, kernels.graph[row].node);
  };
  EXPECT_EQ(place(0), std::pair(kNoNumber, kNoNumber)) << "0 means none";
  EXPECT_EQ(place(1), std::pair(kNoNumber, int64_t{77}));
  EXPECT_EQ(place(2), std::pair(int64_t{8}, int64_t{4294967297}));
  EXPECT_EQ(place(3), std::pair(kNoNumber, kNoNumber));
  EXPECT_EQ(trace.Text(kernels.mangled_name[1]), "_Z4gemmv");
  EXPECT_EQ(kernels.mangled_name[0], StringId::kNone);
  EXPECT_EQ(kernels.mangled_name[2], StringId::kNone);
}

TEST_P(LoadForDrawing, KernelsOutsideGraphsHaveNoColumnOfGraphs) {
  const Trace trace = Load(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start BIGINT, \"end\" BIGINT, graphNodeId BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (3,4,0),(1,2,NULL);",
      {{TableId::kKernel, {Column::kTime, Column::kShape, Column::kGraph, Column::kMangled}}});
  EXPECT_THAT(trace.kernels.graph, IsEmpty());
  ASSERT_EQ(trace.kernels.shape.size(), 2U) << "a shape that nobody tells is 0";
  EXPECT_EQ(trace.kernels.shape[1].block.x, 0);
  EXPECT_THAT(trace.kernels.mangled_name, ElementsAre(StringId::kNone, StringId::kNone));
}

TEST_P(LoadForDrawing, RoutesOfCopies) {
  const std::string columns =
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start BIGINT, \"end\" BIGINT, srcDeviceId BIGINT,"
      " dstDeviceId BIGINT, srcContextId BIGINT, dstContextId BIGINT, graphNodeId BIGINT,"
      " virtualAddress BIGINT, copyCount BIGINT);";
  const Trace trace =
      Load(columns +
               "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2,0,1,3,4,5,-16,6),"
               "(3,4,NULL,NULL,NULL,NULL,NULL,NULL,NULL),(5,6,4294967295,-1,0,0,0,4096,0);",
           {{TableId::kMemcpy, {Column::kTime, Column::kRoute}}});
  const std::vector<CopyRoute>& routes = trace.copies.route;
  ASSERT_EQ(routes.size(), 3U);
  EXPECT_EQ(routes[0].from_device, 0);
  EXPECT_EQ(routes[0].to_device, 1);
  EXPECT_EQ(routes[0].from_context, 3);
  EXPECT_EQ(routes[0].to_context, 4);
  EXPECT_EQ(routes[0].graph_node, 5);
  EXPECT_EQ(routes[0].virtual_address, 0xFFFFFFFFFFFFFFF0U) << "an address is unsigned";
  EXPECT_EQ(routes[0].copies, 6);
  EXPECT_EQ(routes[1].from_device, kNoNumber);
  EXPECT_EQ(routes[1].to_context, kNoNumber);
  EXPECT_EQ(routes[1].graph_node, kNoNumber);
  EXPECT_EQ(routes[1].virtual_address, 0U);
  EXPECT_EQ(routes[1].copies, 1);
  EXPECT_EQ(routes[2].from_device, kNoNumber);
  EXPECT_EQ(routes[2].to_device, kNoNumber);
  EXPECT_EQ(routes[2].copies, 0);
}

TEST_P(LoadForDrawing, OldCopiesHaveDefaultRoutes) {
  const Trace trace = Load(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (start BIGINT, \"end\" BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (1,2);",
      {{TableId::kMemcpy, {Column::kTime, Column::kRoute}}});
  ASSERT_EQ(trace.copies.route.size(), 1U);
  EXPECT_EQ(trace.copies.route[0].to_device, kNoNumber);
  EXPECT_EQ(trace.copies.route[0].copies, 1);
}

TEST_P(LoadForDrawing, MemsetsAndWholeGraphs) {
  const Trace trace = Load(
      "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (start BIGINT, \"end\" BIGINT, bytes BIGINT,"
      " value BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET VALUES (3,4,100,255),(1,2,-5,NULL);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start BIGINT, \"end\" BIGINT, graphId BIGINT);"
      "INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (3,4,12),(1,2,0);",
      {{TableId::kMemset, {Column::kTime, Column::kBytes, Column::kRoute}},
       {TableId::kGraphTrace, {Column::kTime, Column::kGraph}}});
  EXPECT_THAT(trace.memsets.bytes, ElementsAre(0, 100));
  EXPECT_THAT(trace.memsets.value, ElementsAre(0, 255));
  EXPECT_THAT(trace.graphs.graph, ElementsAre(kNoNumber, 12));
  EXPECT_THAT(trace.warnings, ElementsAre("CUPTI_ACTIVITY_KIND_MEMSET: 1 row without a usable size;"
                                          " counted as 0 bytes"));
}

TEST_P(LoadForDrawing, NamesInOtherLettersArePointedOut) {
  const std::string sql =
      "CREATE TABLE nvtx_events (start BIGINT, \"end\" BIGINT);"
      "INSERT INTO nvtx_events VALUES (1,2);"
      "CREATE TABLE Osrt_Api (start BIGINT);";
  const Reads reads = {{TableId::kNvtx, {Column::kTime}}};
  const Trace trace = Load(sql, reads);
  EXPECT_EQ(trace.nvtx.size(), 0U);
  EXPECT_THAT(trace.warnings, ElementsAre(HasSubstr("the table nvtx_events is not read")))
      << "of tables that were asked for";
  EXPECT_THAT(Load(sql, reads, {.threads = 1, .progress = {}}).warnings, IsEmpty());
}

}  // namespace
}  // namespace nsys
