// SPDX-License-Identifier: MIT
#include "analysis/nccl_events.h"

#include <algorithm>
#include <random>
#include <tuple>

#include <gtest/gtest.h>

#include "trace/launches.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr char kKernel[] = "ncclDevKernel_SendRecv";

// The operation of each kernel, in the order of the kernels' starts; "-" without a call.
std::vector<std::string> OperationsOf(const Trace& trace) {
  Views views(trace);
  const NcclCalls& calls = NcclCallsOf(views);
  std::vector<std::string> operations;
  for (const uint32_t call : calls.of_kernel) {
    operations.emplace_back(call == kNoNcclCall ? "-" : calls.calls[call].operation);
  }
  return operations;
}

using Texts = std::vector<std::string>;

TEST(NcclEvents, NamesOperations) {
  EXPECT_EQ(NcclOperation("ncclAllReduce"), "allreduce");
  EXPECT_EQ(NcclOperation("nccl:_all_gather_base"), "allgather");
  EXPECT_EQ(NcclOperation("nccl:all_to_all, op_id = 7"), "alltoall");
  EXPECT_EQ(NcclOperation("ncclReduceScatter"), "reducescatter");
  EXPECT_EQ(NcclOperation("ncclReduce"), "reduce");
  EXPECT_EQ(NcclOperation("ncclSend"), "sendrecv");
  EXPECT_EQ(NcclOperation("ncclRecv"), "sendrecv");
  EXPECT_EQ(NcclOperation("ncclBcast"), "broadcast");
  EXPECT_EQ(NcclOperation("ncclGroupEnd"), "");
  EXPECT_EQ(NcclOperation("ncclCommInitRank"), "");
  EXPECT_EQ(NcclOperation("NcclAllReduce"), "");
  EXPECT_EQ(NcclOperation("my ncclAllReduce"), "");
  EXPECT_EQ(NcclOperation("nccl"), "");
}

TEST(NcclEvents, TheRangeAroundTheLaunchDecides) {
  TraceBuilder builder;
  builder.Range("ncclAllReduce", {.start_ns = 10, .end_ns = 50, .domain = 1});
  builder.Call("cudaLaunchKernel", {.start_ns = 10, .end_ns = 50, .correlation = 1});
  builder.Call("cudaLaunchKernel", {.start_ns = 51, .end_ns = 60, .correlation = 2});
  builder.Call("cudaLaunchKernel", {.start_ns = 49, .end_ns = 51, .correlation = 3, .tid = 101});
  builder.Kernel(kKernel, {.start_ns = 100, .end_ns = 200, .correlation = 1});
  builder.Kernel(kKernel, {.start_ns = 300, .end_ns = 400, .correlation = 2});
  builder.Kernel(kKernel, {.start_ns = 500, .end_ns = 600, .correlation = 3});
  builder.Kernel("gemm", {.start_ns = 700, .end_ns = 800, .correlation = 1});
  EXPECT_EQ(OperationsOf(builder.Build()), (Texts{"allreduce", "-", "-", "-"}));
}

TEST(NcclEvents, CorrelationIdsAreThoseOfTheProcess) {
  TraceBuilder builder;
  builder.Range("ncclAllReduce", {.start_ns = 10, .end_ns = 50, .pid = 1, .tid = 1});
  builder.Range("ncclBroadcast", {.start_ns = 10, .end_ns = 50, .pid = 2, .tid = 1});
  builder.Call("c", {.start_ns = 20, .end_ns = 30, .correlation = 1, .pid = 1, .tid = 1});
  builder.Call("c", {.start_ns = 20, .end_ns = 30, .correlation = 1, .pid = 2, .tid = 1});
  builder.Kernel(kKernel, {.start_ns = 100, .end_ns = 200, .correlation = 1, .pid = 2});
  builder.Kernel(kKernel, {.start_ns = 300, .end_ns = 400, .correlation = 1, .pid = 1});
  EXPECT_EQ(OperationsOf(builder.Build()), (Texts{"broadcast", "allreduce"}));
}

TEST(NcclEvents, AGroupLaunchesItsOperationsWhenItEnds) {
  TraceBuilder builder;
  builder.Range("nccl:all_to_all", {.start_ns = 0, .end_ns = 100});
  builder.Range("ncclGroupStart", {.start_ns = 5, .end_ns = 6});
  builder.Range("ncclSend", {.start_ns = 10, .end_ns = 12});
  builder.Range("ncclRecv", {.start_ns = 20, .end_ns = 22});
  builder.Range("ncclGroupEnd", {.start_ns = 30, .end_ns = 60});
  builder.Call("c", {.start_ns = 40, .end_ns = 50, .correlation = 1});
  // A group of two operations tells no single one; a lone end tells nothing.
  builder.Range("ncclGroupStart", {.start_ns = 105, .end_ns = 106});
  builder.Range("ncclSend", {.start_ns = 110, .end_ns = 112});
  builder.Range("ncclAllReduce", {.start_ns = 120, .end_ns = 122});
  builder.Range("ncclGroupEnd", {.start_ns = 130, .end_ns = 160});
  builder.Call("c", {.start_ns = 140, .end_ns = 150, .correlation = 2});
  builder.Range("nccl:all_reduce", {.start_ns = 200, .end_ns = 300});
  builder.Range("ncclGroupEnd", {.start_ns = 210, .end_ns = 260});
  builder.Call("c", {.start_ns = 220, .end_ns = 230, .correlation = 3});
  for (int64_t i = 1; i <= 3; ++i) {
    builder.Kernel(kKernel, {.start_ns = 1000 * i, .end_ns = 1000 * i + 5, .correlation = i});
  }
  const Trace trace = builder.Build();
  EXPECT_EQ(OperationsOf(trace), (Texts{"sendrecv", "", "allreduce"}));
  Views views(trace);
  const NcclCalls& calls = NcclCallsOf(views);
  EXPECT_EQ(calls.calls[calls.of_kernel[0]].range_count, 2U);
  EXPECT_EQ(calls.calls[calls.of_kernel[2]].range_count, 0U);
}

// Without groups: among all ranges that enclose the launch, by definition.
std::string Naive(const Trace& trace, uint32_t call) {
  std::string best = "-";
  std::optional<std::tuple<int64_t, int64_t, int64_t>> best_key;
  const NvtxTable& nvtx = trace.nvtx;
  for (uint32_t row = 0; row < nvtx.size(); ++row) {
    const std::string_view operation = NcclOperation(trace.Text(nvtx.text[row]));
    const bool encloses =
        trace.nvtx_lanes[Index(nvtx.lane[row])].thread == trace.calls.thread[call] &&
        nvtx.start_ns[row] <= trace.calls.start_ns[call] &&
        nvtx.end_ns[row] >= trace.calls.end_ns[call] && nvtx.duration_ns(row) > 0 &&
        nvtx.event_type[row] == kNvtxPushPop && !operation.empty();
    if (!encloses) {
      continue;
    }
    const std::string& text(std::string(trace.Text(nvtx.text[row])));
    const std::tuple key(nvtx.duration_ns(row), -nvtx.start_ns[row], -int64_t{text[4]});
    if (!best_key || key < *best_key) {
      best_key = key;
      best = operation;
    }
  }
  return best;
}

TEST(NcclEvents, AgreesWithTheDefinitionOnRandomTraces) {
  std::mt19937 random(11);
  const auto upto = [&](int64_t n) {
    return static_cast<int64_t>(random() % static_cast<uint32_t>(n));
  };
  const Texts names = {"ncclAllReduce", "ncclBroadcast", "ncclReduceScatter", "layer",
                       "ncclCommCount"};
  for (int round = 0; round < 300; ++round) {
    TraceBuilder builder;
    for (int i = 0; i < 25; ++i) {  // crossing ranges included
      const int64_t start = upto(200);
      builder.Range(names[static_cast<size_t>(upto(5))],
                    {.start_ns = start,
                     .end_ns = start + upto(80),
                     .pid = 1,
                     .tid = upto(2),
                     .domain = upto(2),
                     .type = upto(8) == 0 ? kNvtxStartEnd : kNvtxPushPop});
    }
    for (int64_t i = 0; i < 20; ++i) {
      const int64_t start = upto(250);
      builder.Call("c", {.start_ns = start,
                         .end_ns = start + upto(20),
                         .correlation = i,
                         .pid = 1,
                         .tid = upto(2)});
      builder.Kernel(
          kKernel,
          {.start_ns = 1000 + 10 * i, .end_ns = 1005 + 10 * i, .correlation = i, .pid = 1});
    }
    const Trace trace = builder.Build();
    Views views(trace);
    const std::vector<std::string> got = OperationsOf(trace);
    for (uint32_t kernel = 0; kernel < got.size(); ++kernel) {
      ASSERT_NE(views.KernelCalls()[kernel], kNoCall);
      EXPECT_EQ(got[kernel], Naive(trace, views.KernelCalls()[kernel])) << round << ' ' << kernel;
    }
  }
}

}  // namespace
}  // namespace nsys
