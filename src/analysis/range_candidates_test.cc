// SPDX-License-Identifier: MIT
#include "analysis/range_candidates.h"

#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

TEST(RangeCandidates, ConfidenceByItsFormula) {
  const Trace trace = TraceBuilder()
                          .Range("step", {.start_ns = 0, .end_ns = 1000})
                          .Range("layer", {.start_ns = 100, .end_ns = 600})
                          .Range("elsewhere", {.start_ns = 0, .end_ns = 2000, .tid = 101})
                          .Call("launch", {.start_ns = 110, .end_ns = 120, .correlation = 1})
                          .Kernel("gemm", {.start_ns = 150, .end_ns = 180, .correlation = 1})
                          .Call("launch", {.start_ns = 700, .end_ns = 710, .correlation = 2})
                          .Kernel("late", {.start_ns = 1500, .end_ns = 1600, .correlation = 2})
                          .Build();
  Views views(trace);
  const RangeCandidates found =
      FindRangeCandidates(views, {.begin_ns = 100, .end_ns = 1100}, 10, 3);
  ASSERT_EQ(found.first.size(), 3U);
  EXPECT_EQ(found.launches, 1U);
  EXPECT_EQ(found.launched_elsewhere, 0U);
  EXPECT_EQ(found.first[0].path, "step");
  EXPECT_EQ(found.first[0].overlap_ns, 900);
  EXPECT_EQ(found.first[0].confidence, 0.7) << "0.55 · 0.9 + 0.20 = 0.695";
  EXPECT_EQ(found.first[1].path, "step > layer");
  EXPECT_EQ(found.first[1].confidence, 0.5) << "0.55 · 0.5 + 0.20 + 0.025";
  EXPECT_EQ(found.first[1].kernels, 1);
  EXPECT_EQ(found.first[1].kernel_ns, 30);
  EXPECT_EQ(found.first[2].path, "elsewhere") << "its thread launched nothing of the window";
  EXPECT_EQ(found.first[2].confidence, 0.7) << "0.55 + 0.15";
  EXPECT_TRUE(found.first[2].contains);
}

TEST(RangeCandidates, TellWhatWasLaunchedEarlier) {
  const Trace trace = TraceBuilder()
                          .Range("before", {.start_ns = 0, .end_ns = 50})
                          .Range("waiting", {.start_ns = 60, .end_ns = 400})
                          .Call("launch", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                          .Kernel("gemm", {.start_ns = 200, .end_ns = 300, .correlation = 1})
                          .Build();
  Views views(trace);
  const auto found = FindRangeCandidates(views, {.begin_ns = 200, .end_ns = 300}, 5, 3);
  ASSERT_EQ(found.first.size(), 1U);
  EXPECT_EQ(found.first[0].kernels, 0);
  EXPECT_EQ(found.launched_elsewhere, 1U);
}

// Random ranges of two threads and two domains, and kernels launched among them.
Trace RandomTrace(std::mt19937& random) {
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  TraceBuilder builder;
  for (int64_t i = number(14); i >= 0; --i) {
    const int64_t start = number(60);
    builder.Range("r" + std::to_string(i), {.start_ns = start,
                                            .end_ns = start + number(40),
                                            .tid = 100 + number(2),
                                            .domain = number(2)});
  }
  for (int64_t id = 1; id < 10; ++id) {
    const int64_t start = number(60);
    builder
        .Call("call", {.start_ns = start,
                       .end_ns = start + number(6),
                       .correlation = id,
                       .tid = 100 + number(2)})
        .Kernel("k", {.start_ns = start + 6,
                      .end_ns = start + 7 + number(20),
                      .device = number(2),
                      .correlation = id});
  }
  return builder.Build();
}

ThreadId ThreadOf(const Trace& trace, uint32_t range) {
  return trace.nvtx_lanes[Index(trace.nvtx.lane[range])].thread;
}

int64_t KernelsOf(const Trace& trace, Views& views, const RangeSelection& selection,
                  uint32_t range) {
  int64_t count = 0;
  for (uint32_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
    const uint32_t call = views.KernelCalls()[kernel];
    if (trace.DeviceOf(trace.kernels, kernel) == selection.device &&
        trace.kernels.start_ns[kernel] < selection.end_ns &&
        trace.kernels.end_ns[kernel] > selection.begin_ns &&
        trace.calls.thread[call] == ThreadOf(trace, range) &&
        trace.nvtx.start_ns[range] <= trace.calls.start_ns[call] &&
        trace.calls.end_ns[call] <= trace.nvtx.end_ns[range]) {
      ++count;
    }
  }
  return count;
}

// Of equal intervals the first text is the outer.
uint32_t DepthOf(const Trace& trace, uint32_t range) {
  const NvtxTable& nvtx = trace.nvtx;
  uint32_t depth = 0;
  for (uint32_t other = 0; other < nvtx.size(); ++other) {
    const bool inner = nvtx.span(other) == nvtx.span(range) &&
                       trace.Text(nvtx.text[other]) >= trace.Text(nvtx.text[range]);
    if (!inner && ThreadOf(trace, other) == ThreadOf(trace, range) &&
        nvtx.start_ns[other] <= nvtx.start_ns[range] && nvtx.end_ns[other] >= nvtx.end_ns[range]) {
      ++depth;
    }
  }
  return depth;
}

TEST(RangeCandidates, AgreeWithPlainSearch) {
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    const Trace trace = RandomTrace(random);
    const NvtxTable& nvtx = trace.nvtx;
    Views views(trace);
    const RangeSelection selection{
        .begin_ns = 30, .end_ns = 31 + static_cast<int64_t>(random() % 30), .device = 1};
    const auto found = FindRangeCandidates(views, selection, 100, 3);
    size_t overlapping = 0;
    for (uint32_t row = 0; row < nvtx.size(); ++row) {
      if (nvtx.duration_ns(row) == 0 || nvtx.start_ns[row] >= selection.end_ns ||
          nvtx.end_ns[row] <= selection.begin_ns) {
        continue;
      }
      ++overlapping;
      const auto at = std::find_if(found.first.begin(), found.first.end(),
                                   [&](const RangeCandidate& one) { return one.range == row; });
      ASSERT_NE(at, found.first.end()) << "round " << round;
      ASSERT_EQ(at->kernels, KernelsOf(trace, views, selection, row)) << "round " << round;
      ASSERT_EQ(at->depth, DepthOf(trace, row)) << "round " << round;
    }
    ASSERT_EQ(found.first.size(), overlapping) << "round " << round;
  }
}

}  // namespace
}  // namespace nsys
