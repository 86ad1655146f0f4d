// SPDX-License-Identifier: MIT
// The sweeps over kernels against painted time axes, one cell per nanosecond.
#include "analysis/overlap.h"

#include <random>

#include <gtest/gtest.h>

#include "analysis/host_sync.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kAxis = 80;

struct Painted {
  int64_t compute_only = 0;
  int64_t communication_only = 0;
  int64_t both = 0;
  int64_t idle = 0;
};

Painted PaintDevice(const Trace& trace, int64_t device, const std::optional<Window>& window) {
  std::vector<int> paint(kAxis, 0);
  int64_t first = kAxis;
  int64_t last = -1;
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    const int64_t start = trace.kernels.start_ns[row];
    const int64_t end = trace.kernels.end_ns[row];
    if (trace.DeviceOf(trace.kernels, row) != device) {
      continue;
    }
    if (window && (start < window->begin_ns || end > window->end_ns)) {
      continue;
    }
    first = std::min(first, start);
    last = std::max(last, end);
    const int bit =
        trace.Text(trace.kernels.name[row]).find("nccl") != std::string_view::npos ? 2 : 1;
    for (int64_t t = start; t < end; ++t) {
      paint[static_cast<size_t>(t)] |= bit;
    }
  }
  Painted sums;
  for (int64_t t = first; t < last; ++t) {
    const int bits = paint[static_cast<size_t>(t)];
    ++(bits == 0   ? sums.idle
       : bits == 1 ? sums.compute_only
       : bits == 2 ? sums.communication_only
                   : sums.both);
  }
  return sums;
}

TEST(Overlap, AgreesWithPaintedTime) {
  std::mt19937 random(4);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 3000; ++round) {
    TraceBuilder builder;
    for (int64_t i = number(9); i >= 0; --i) {
      const int64_t start = number(60);
      builder.Kernel(number(3) == 0 ? "ncclDevKernel_AllReduce" : "gemm",
                     {.start_ns = start,
                      .end_ns = start + number(20),
                      .stream = number(3),
                      .device = number(2)});
    }
    const Trace trace = builder.Build();
    std::optional<Window> window;
    if (number(2) == 0) {
      window = Window{number(30), 30 + number(50)};
    }
    for (int64_t device = 0; device < 2; ++device) {
      const auto overlap = ComputeOverlap(trace, device, window);
      const Painted want = PaintDevice(trace, device, window);
      if (!overlap) {
        ASSERT_EQ(want.compute_only + want.communication_only + want.both + want.idle, 0);
        continue;
      }
      ASSERT_EQ(overlap->compute_only_ns, want.compute_only);
      ASSERT_EQ(overlap->communication_only_ns, want.communication_only);
      ASSERT_EQ(overlap->overlap_ns, want.both);
      ASSERT_EQ(overlap->idle_ns, want.idle);
      ASSERT_EQ(overlap->total_ns(),
                want.compute_only + want.communication_only + want.both + want.idle);
    }
  }
}

TEST(Overlap, ClippedKernelsCountTheirInnerPart) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 100})
                          .Kernel("ncclDevKernel_x", {.start_ns = 50, .end_ns = 200, .stream = 9})
                          .Build();
  EXPECT_FALSE(ComputeOverlap(trace, 0, Window{20, 120}).has_value());
  const auto clipped = ComputeOverlap(trace, 0, Window{20, 120}, KernelCut::kClipped);
  ASSERT_TRUE(clipped.has_value());
  EXPECT_EQ(clipped->compute_only_ns, 30);
  EXPECT_EQ(clipped->overlap_ns, 50);
  EXPECT_EQ(clipped->communication_only_ns, 20);
}

TEST(Overlap, IsComputedOncePerQuestion) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 100})
                          .Kernel("gemm", {.start_ns = 50, .end_ns = 200, .device = 1})
                          .Build();
  Views views(trace);
  const auto& whole = OverlapOf(views, 0, std::nullopt);
  EXPECT_EQ(&OverlapOf(views, 0, std::nullopt), &whole);
  EXPECT_EQ(whole->compute_only_ns, 100);
  EXPECT_EQ(OverlapOf(views, 1, std::nullopt)->compute_only_ns, 150);
  EXPECT_FALSE(OverlapOf(views, 0, Window{20, 120}).has_value());
  EXPECT_EQ(OverlapOf(views, 0, Window{20, 120}, KernelCut::kClipped)->compute_only_ns, 80);
}

TEST(Overlap, TellsHowMuchIdleTimeGraphsRan) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 10})
                          .Graph({.start_ns = 5, .end_ns = 40})
                          .Kernel("gemm", {.start_ns = 50, .end_ns = 60})
                          .Graph({.start_ns = 55, .end_ns = 90})
                          .Build();
  const auto overlap = ComputeOverlap(trace, 0, std::nullopt);
  ASSERT_TRUE(overlap.has_value());
  EXPECT_EQ(overlap->idle_ns, 40);
  EXPECT_EQ(overlap->graph_only_ns, 30) << "within the span of the kernels, without their time";
}

TEST(HostSync, CountsBlockingRecordsOfTheContextsDevice) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 0, .end_ns = 5, .device = 1, .pid = 2, .context = 4})
          .Kernel("k", {.start_ns = 0, .end_ns = 5, .device = 0, .pid = 1, .context = 4})
          .Call("cudaStreamSynchronize_v3020",
                {.start_ns = 10, .end_ns = 40, .correlation = 7, .pid = 2, .tid = 2})
          .Sync({.start_ns = 12, .end_ns = 38, .type = 2, .correlation = 7, .pid = 2, .context = 4})
          .Sync({.start_ns = 30, .end_ns = 60, .type = 3, .pid = 2, .context = 4})
          .Sync({.start_ns = 0, .end_ns = 100, .type = 2, .pid = 2, .context = 4})
          .Sync({.start_ns = 70, .end_ns = 80, .type = 4, .pid = 1, .context = 4})
          .Build();
  Views views(trace);
  EXPECT_EQ(HostSyncSpans(views, 1, 0, 1000), (SpanSet{{12, 60}}))
      << "the mislabelled synchronize counts, the stream wait does not";
  EXPECT_EQ(HostSyncSpans(views, 0, 0, 1000), (SpanSet{{70, 80}}))
      << "by the context's kernels, although every record says device 0";
  EXPECT_EQ(HostSyncSpans(views, std::nullopt, 50, 75), (SpanSet{{50, 60}, {70, 75}}));
  const Trace without = TraceBuilder().Kernel("k", {}).Build();
  Views none(without);
  EXPECT_EQ(HostSyncSpans(none, std::nullopt, 0, 1), std::nullopt);
}

}  // namespace
}  // namespace nsys
