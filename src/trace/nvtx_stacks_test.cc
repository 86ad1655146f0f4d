// SPDX-License-Identifier: MIT
#include "trace/nvtx_stacks.h"

#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

// All ranges that enclose the call, found by looking at each of them.
std::vector<uint32_t> OraclePath(const Trace& trace, uint32_t call) {
  const NvtxTable& nvtx = trace.nvtx;
  std::vector<uint32_t> path;
  for (uint32_t range = 0; range < nvtx.size(); ++range) {
    const bool same_thread =
        trace.nvtx_lanes[Index(nvtx.lane[range])].thread == trace.calls.thread[call];
    const bool encloses = nvtx.start_ns[range] <= trace.calls.start_ns[call] &&
                          nvtx.end_ns[range] >= trace.calls.end_ns[call];
    if (nvtx.event_type[range] == kNvtxPushPop && nvtx.end_ns[range] > nvtx.start_ns[range] &&
        same_thread && encloses) {
      path.push_back(range);
    }
  }
  std::stable_sort(path.begin(), path.end(), [&](uint32_t a, uint32_t b) {
    return std::tuple(-nvtx.duration_ns(a), nvtx.start_ns[a], trace.Text(nvtx.text[a])) <
           std::tuple(-nvtx.duration_ns(b), nvtx.start_ns[b], trace.Text(nvtx.text[b]));
  });
  return path;
}

TEST(NvtxStacks, AgreeWithTheDefinitionEvenWhenRangesCross) {
  std::mt19937 random(3);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 2000; ++round) {
    TraceBuilder builder;
    for (int64_t i = number(20); i > 0; --i) {
      const int64_t start = number(40);
      builder.Range(std::string(1, static_cast<char>('a' + number(26))),
                    {.start_ns = start,
                     .end_ns = start + number(30),
                     .tid = 100 + number(2),
                     .domain = number(2),
                     .type = number(8) == 0 ? 60 : 59});
    }
    std::vector<uint32_t> calls;
    for (int64_t i = number(10); i >= 0; --i) {
      const int64_t start = number(50);
      builder.Call("cudaLaunchKernel",
                   {.start_ns = start, .end_ns = start + number(6), .tid = 100 + number(2)});
      calls.push_back(static_cast<uint32_t>(calls.size()));
    }
    const Trace trace = builder.Build();
    const RangePaths paths = EnclosingRanges(trace, calls);
    for (const uint32_t call : calls) {
      const auto path = paths.Path(call);
      std::vector<std::string> got;
      std::vector<std::string> want;
      for (const uint32_t range : path) {
        got.emplace_back(trace.Text(trace.nvtx.text[range]));
      }
      for (const uint32_t range : OraclePath(trace, call)) {
        want.emplace_back(trace.Text(trace.nvtx.text[range]));
      }
      ASSERT_EQ(got, want) << "round " << round << " call " << call;
    }
  }
}

TEST(NvtxStacks, DomainsInterleaveFreely) {
  const Trace trace = TraceBuilder()
                          .Range("outer", {.start_ns = 0, .end_ns = 100})
                          .Range("nccl", {.start_ns = 50, .end_ns = 150, .domain = 1})
                          .Range("inner", {.start_ns = 60, .end_ns = 90})
                          .Call("cudaLaunchKernel", {.start_ns = 70, .end_ns = 75})
                          .Call("cudaLaunchKernel", {.start_ns = 110, .end_ns = 120})
                          .Build();
  const std::vector<uint32_t> calls = {0, 1};
  const RangePaths paths = EnclosingRanges(trace, calls);
  EXPECT_EQ(PathText(trace, paths.Path(0)), "outer > nccl > inner");
  EXPECT_EQ(trace.Text(trace.nvtx.text[InnermostRange(trace, paths.Path(0))]), "inner");
  EXPECT_EQ(PathText(trace, paths.Path(1)), "nccl");
}

}  // namespace
}  // namespace nsys
