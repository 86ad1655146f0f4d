// SPDX-License-Identifier: MIT
// What skills answer for small captures that went wrong for people before.
#include <random>

#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kMs = 1'000'000;

TEST(StreamConcurrency, EqualStreamNumbersOfDifferentDevicesStayApart) {
  TraceBuilder builder;
  for (int64_t device = 0; device < 3; ++device) {
    builder.Kernel("k", {.start_ns = 0, .end_ns = 43 * kMs, .stream = 17, .device = device})
        .Kernel("k", {.start_ns = 57 * kMs, .end_ns = 100 * kMs, .stream = 17, .device = device});
  }
  builder.Kernel("k", {.start_ns = 0, .end_ns = 43 * kMs, .stream = 7})
      .Kernel("k", {.start_ns = 57 * kMs, .end_ns = 100 * kMs, .stream = 7});
  const Answer answer = RunOn(builder.Build(), "stream_concurrency");
  ASSERT_EQ(answer.rows.size(), 4U);
  for (const Object& row : answer.rows) {
    EXPECT_EQ(RealCell(row, "stream_util_pct"), 86.0);
  }
  EXPECT_EQ(RealCell(answer.rows[0], "sum_util_pct"), 344.0) << "above 100 %, and named a sum";
}

TEST(StreamConcurrency, OverlapWithinAStreamIsNotCountedTwice) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = 100'000})
                          .Kernel("b", {.start_ns = 88'000, .end_ns = 150'000})
                          .Build();
  const Answer answer = RunOn(trace, "stream_concurrency");
  EXPECT_EQ(RealCell(answer.rows[0], "stream_util_pct"), 100.0);
  EXPECT_EQ(IntCell(answer.rows[0], "device_max_concurrent_kernels"), 2);
  EXPECT_EQ(RealCell(answer.rows[0], "device_concurrent_ms"), 0.012);
}

TEST(PipelineBubbles, ConcurrentWorkIsCountedOnce) {
  const Trace trace =
      TraceBuilder()
          .Kernel("compute", {.start_ns = 0, .end_ns = 1000 * kMs})
          .Kernel("ncclDevKernel_x", {.start_ns = 500 * kMs, .end_ns = 1500 * kMs, .stream = 9})
          .Kernel("late", {.start_ns = 2000 * kMs, .end_ns = 2000 * kMs})
          .Build();
  const Answer answer = RunOn(trace, "pipeline_bubble_metrics", {}, Window{0, 2000 * kMs});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(RealCell(answer.rows[0], "active_ms"), 1500.0);
  EXPECT_EQ(RealCell(answer.rows[0], "tail_idle_ms"), 500.0) << "75 % of the window";
}

TEST(PipelineBubbles, WholeGraphsAreWork) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 0, .end_ns = kMs})
                          .Graph({.start_ns = kMs, .end_ns = 99 * kMs})
                          .Kernel("k", {.start_ns = 99 * kMs, .end_ns = 100 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "pipeline_bubble_metrics");
  EXPECT_EQ(RealCell(answer.rows[0], "bubble_pct"), 0.0);
}

TEST(PipelineBubbles, AgreeWithPaintedTime) {
  std::mt19937 random(6);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 1000; ++round) {
    TraceBuilder builder;
    std::vector<uint8_t> busy(120, 0);
    for (int64_t i = number(8); i >= 0; --i) {
      const int64_t start = number(100);
      const int64_t end = start + 1 + number(19);
      number(2) == 0
          ? builder.Kernel(
                "k", {.start_ns = start * 10'000, .end_ns = end * 10'000, .stream = number(3)})
          : builder.Graph(
                {.start_ns = start * 10'000, .end_ns = end * 10'000, .stream = number(3)});
      std::fill(busy.begin() + start, busy.begin() + end, uint8_t{1});
    }
    const auto first = std::find(busy.begin(), busy.end(), 1) - busy.begin();
    const auto last = busy.rend() - std::find(busy.rbegin(), busy.rend(), 1);
    const auto active = std::count(busy.begin(), busy.end(), 1);
    const Answer answer = RunOn(builder.Build(), "pipeline_bubble_metrics");
    ASSERT_EQ(RealCell(answer.rows[0], "active_ms"), static_cast<double>(active) / 100);
    ASSERT_EQ(RealCell(answer.rows[0], "total_span_ms"), static_cast<double>(last - first) / 100);
  }
}

TEST(PipelineBubbles, CopiesBesideNoKernelAreTold) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 0, .end_ns = 10 * kMs})
                          .Copy({.start_ns = 5 * kMs, .end_ns = 40 * kMs, .bytes = 1})
                          .Memset({.start_ns = 45 * kMs, .end_ns = 50 * kMs})
                          .Kernel("k", {.start_ns = 60 * kMs, .end_ns = 70 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "pipeline_bubble_metrics");
  EXPECT_EQ(RealCell(answer.rows[0], "active_ms"), 55.0);
  EXPECT_EQ(RealCell(answer.rows[0], "kernel_ms"), 20.0);
  EXPECT_EQ(RealCell(answer.rows[0], "copy_only_ms"), 35.0);
}

TEST(GpuIdleGaps, CopiesAndCallsWithinAGapAreTold) {
  const Trace trace =
      TraceBuilder()
          .Kernel("a", {.start_ns = 0, .end_ns = kMs})
          .Kernel("b", {.start_ns = 11 * kMs, .end_ns = 12 * kMs})
          .Copy({.start_ns = 0, .end_ns = 5 * kMs, .bytes = 1, .stream = 9})
          .Copy({.start_ns = 2 * kMs, .end_ns = 8 * kMs, .bytes = 1, .device = 1})
          .Call("cudaMemcpyAsync", {.start_ns = 2 * kMs, .end_ns = 4 * kMs})
          .Call("cudaLaunchKernel", {.start_ns = 3 * kMs, .end_ns = 5 * kMs, .tid = 101})
          .Build();
  const Answer answer = RunOn(trace, "gpu_idle_gaps");
  ASSERT_EQ(answer.rows.size(), 1U);
  const Object& gap = *Cell(answer.rows[0], "attribution").AsObject();
  EXPECT_EQ(RealCell(gap, "copy_ms"), 4.0) << "from the end of a; the other device does not count";
  EXPECT_EQ(RealCell(gap, "cuda_call_ms"), 3.0) << "the union of both threads";
  EXPECT_NE(TextCell(gap, "description").find("mostly outside CUDA calls"), std::string::npos);
}

TEST(IterationTiming, StepsRunFromStartToStart) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t base = i * i * 10 * kMs;
    builder.Range("sample_0", {.start_ns = base, .end_ns = base + kMs})
        .Call("cudaLaunchKernel",
              {.start_ns = base + 10, .end_ns = base + 20, .correlation = i + 1})
        .Kernel("k", {.start_ns = base + 30, .end_ns = base + kMs, .correlation = i + 1});
  }
  const Answer answer = RunOn(builder.Build(), "iteration_timing");
  ASSERT_EQ(answer.rows.size(), 3U);
  EXPECT_EQ(RealCell(answer.rows[0], "step_ms"), 10.0);
  EXPECT_EQ(RealCell(answer.rows[1], "step_ms"), 30.0);
  EXPECT_TRUE(Cell(answer.rows[2], "step_ms").is_null());
}

TEST(GpuIdleGaps, LimitZeroKeepsTheSummary) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = kMs})
                          .Kernel("b", {.start_ns = 4 * kMs, .end_ns = 5 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "gpu_idle_gaps", {{"limit", "0"}});
  EXPECT_TRUE(answer.rows.empty());
  ASSERT_EQ(answer.about.size(), 1U);
  EXPECT_EQ(IntCell(answer.about[0], "gap_count"), 1);
  EXPECT_EQ(RealCell(answer.about[0], "total_idle_ms"), 3.0);
  EXPECT_EQ(answer.about[0].Find("note"), nullptr) << "there is a gap, so no all-clear";
}

TEST(GpuIdleGaps, AWindowWithoutKernelsIsNoAllClear) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = kMs})
                          .Kernel("b", {.start_ns = 40 * kMs, .end_ns = 50 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "gpu_idle_gaps", {}, Window{10 * kMs, 30 * kMs});
  ASSERT_TRUE(answer.problem.has_value());
  EXPECT_EQ(TextCell(*answer.problem, "error"), "no kernels found");
}

TEST(GpuIdleGaps, BucketsAddUpToTheCount) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const int64_t gap : {kMs - 1, kMs, 5 * kMs, 5 * kMs + 1, 50 * kMs, 50 * kMs + 1}) {
    builder.Kernel("k", {.start_ns = at, .end_ns = at + 10});
    at += 10 + gap;
  }
  builder.Kernel("k", {.start_ns = at, .end_ns = at + 10});
  const Answer answer = RunOn(builder.Build(), "gpu_idle_gaps", {{"min_gap_ns", "0"}});
  const Object& summary = answer.about.front();
  EXPECT_EQ(IntCell(summary, "gaps_lt1ms"), 1);
  EXPECT_EQ(IntCell(summary, "gaps_1_5ms"), 2);
  EXPECT_EQ(IntCell(summary, "gaps_5_50ms"), 2);
  EXPECT_EQ(IntCell(summary, "gaps_gt50ms"), 1);
  EXPECT_EQ(IntCell(summary, "gap_count"), 6);
}

TEST(OverlapBreakdown, EveryDeviceIsNamed) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = 5, .device = 2})
                          .Kernel("a", {.start_ns = 0, .end_ns = 5, .device = 0})
                          .Build();
  const Answer answer = RunOn(trace, "overlap_breakdown");
  EXPECT_EQ(ToJson(Cell(answer.rows[0], "present_devices"), JsonLayout::kOneLine), "[0, 2]");
  const Answer absent = RunOn(trace, "overlap_breakdown", {{"device", "1"}});
  ASSERT_TRUE(absent.problem.has_value());
  EXPECT_EQ(ToJson(Cell(*absent.problem, "available_devices"), JsonLayout::kOneLine),
            R"({"0": 1, "2": 1})");
}

TEST(OverlapBreakdown, ZeroCommunicationIsZeroAndNoRatio) {
  const Answer answer =
      RunOn(TraceBuilder().Kernel("a", {.start_ns = 0, .end_ns = 5}).Build(), "overlap_breakdown");
  EXPECT_EQ(IntCell(answer.rows[0], "overlap_pct"), 0);
}

TEST(OverlapBreakdown, SharedStreamsAreListedByNumber) {
  TraceBuilder builder;
  for (const int64_t stream : {20, 9, 100}) {
    builder.Kernel("gemm", {.start_ns = stream, .end_ns = stream + 5, .stream = stream})
        .Kernel("ncclDevKernel_x",
                {.start_ns = stream + 6, .end_ns = stream + 8, .stream = stream});
  }
  const Answer answer = RunOn(builder.Build(), "overlap_breakdown");
  EXPECT_EQ(ToJson(Cell(answer.rows[0], "same_stream_diagnosis"), JsonLayout::kOneLine),
            R"(["9", "20", "100"])");
}

TEST(MemoryBandwidth, LongAndEmptyCopies) {
  constexpr int64_t kGiB8 = int64_t{8} << 30;
  const Trace trace = TraceBuilder()
                          .Copy({.start_ns = 0, .end_ns = 1'500'000'000, .bytes = kGiB8})
                          .Copy({.start_ns = 5, .end_ns = 5, .bytes = 64, .kind = 2})
                          .Build();
  const Answer answer = RunOn(trace, "memory_bandwidth");
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(RealCell(answer.rows[0], "avg_bandwidth_gbps"), 5.73);
  EXPECT_EQ(RealCell(answer.rows[1], "peak_bandwidth_gbps"), 0.0);
}

TEST(MemoryTransfers, UnknownKindsKeepTheirNumber) {
  const Answer answer =
      RunOn(TraceBuilder().Copy({.start_ns = 0, .end_ns = 9, .bytes = 5, .kind = 42}).Build(),
            "memory_transfers");
  EXPECT_EQ(TextCell(answer.rows[0], "direction"), "unknown(42)");
}

TEST(KernelInstances, NameIsLiteral) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm_f32", {.start_ns = 0, .end_ns = 5})
                          .Kernel("gemmXf32", {.start_ns = 10, .end_ns = 20})
                          .Kernel("50%", {.start_ns = 30, .end_ns = 31})
                          .Build();
  EXPECT_EQ(RunOn(trace, "kernel_instances", {{"name", "gemm_f32"}}).rows.size(), 1U);
  EXPECT_EQ(RunOn(trace, "kernel_instances", {{"name", "%"}}).rows.size(), 1U);
  EXPECT_EQ(RunOn(trace, "kernel_instances", {{"name", "GEMM"}}).rows.size(), 0U);
}

TEST(TopKernels, RanksByExactTime) {
  const Trace trace = TraceBuilder()
                          .Kernel("a_short", {.start_ns = 0, .end_ns = 1'000})
                          .Kernel("z_long", {.start_ns = 0, .end_ns = 4'000})
                          .Build();
  const Answer answer = RunOn(trace, "top_kernels", {{"limit", "1"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(TextCell(answer.rows[0], "kernel_name"), "z_long") << "both round to 0.00 ms";
}

TEST(NvtxKernelMap, OnlyStartEndRangesAreNamedAsTheReason) {
  TraceBuilder builder;
  builder.Range("step", {.start_ns = 0, .end_ns = 100, .type = 60})
      .Range("mark", {.start_ns = 5, .end_ns = 5, .type = 34});
  builder.Call("cudaLaunchKernel", {.start_ns = 10, .end_ns = 20, .correlation = 1})
      .Kernel("k", {.start_ns = 30, .end_ns = 40, .correlation = 1});
  const Answer answer = RunOn(builder.Build(), "nvtx_kernel_map");
  ASSERT_TRUE(answer.abstention.has_value());
  EXPECT_EQ(TextCell(answer.abstention->details, "nvtx_event_types"), "60");
}

TEST(EmptyKernelTable, IsAnAbstention) {
  Trace trace = TraceBuilder()
                    .Call("cudaMalloc", {.start_ns = 0, .end_ns = 1})
                    .Range("r", {.start_ns = 0, .end_ns = 1})
                    .Build();
  trace.schema.resolved[static_cast<size_t>(TableId::kKernel)] = "CUPTI_ACTIVITY_KIND_KERNEL";
  trace.schema.unknown_gpu_tables = {"VENDOR_KERNELS"};
  for (const char* name :
       {"top_kernels", "gpu_idle_gaps", "overlap_breakdown", "kernel_instances",
        "stream_concurrency", "nccl_breakdown", "nvtx_kernel_map", "iteration_timing"}) {
    const Answer answer = RunOn(trace, name);
    ASSERT_TRUE(answer.abstention.has_value()) << name;
    EXPECT_NE(answer.abstention->details.Find("unknown_gpu_tables"), nullptr);
  }
}

}  // namespace
}  // namespace nsys
