// SPDX-License-Identifier: MIT
// What the skills about the CPU, its calls and its waiting answer for small captures.
#include <map>
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

using testing::HasSubstr;

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000'000;

// A kernel and its launch, with correlation ids of their own.
struct Launches {
  TraceBuilder builder;
  int64_t next = 1;

  Launches& Add(int64_t call_ns, int64_t start_ns, int64_t end_ns, KernelSpec spec = {},
                int64_t tid = 100) {
    spec.start_ns = start_ns;
    spec.end_ns = end_ns;
    spec.correlation = next++;
    builder.Kernel("k", spec).Call("cudaLaunchKernel", {.start_ns = call_ns,
                                                        .end_ns = call_ns + 10 * kUs,
                                                        .correlation = spec.correlation,
                                                        .pid = spec.pid,
                                                        .tid = tid});
    return *this;
  }
};

TEST(CpuGpuPipeline, ABacklogIsNoStarvation) {
  Launches run;
  run.Add(0, 20 * kUs, 10 * kMs)
      .Add(30 * kUs, 10 * kMs, 20 * kMs)
      .Add(50 * kUs, 20 * kMs, 30 * kMs);
  const Answer answer = RunOn(run.builder.Build(), "cpu_gpu_pipeline");
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(IntCell(answer.rows[0], "dispatches"), 3);
  EXPECT_EQ(IntCell(answer.rows[0], "starvation_events"), 0);
  EXPECT_EQ(IntCell(answer.rows[0], "long_queue_events"), 2) << "9.96 and 19.94 ms";
  EXPECT_EQ(RealCell(answer.rows[0], "min_queue_delay_us"), 10.0);
  EXPECT_EQ(RealCell(answer.rows[0], "max_queue_delay_us"), 19940.0);
  EXPECT_EQ(RealCell(answer.rows[0], "avg_queue_delay_us"), 9970.0);
}

TEST(CpuGpuPipeline, TheGpuWaitsForALateLaunch) {
  Launches run;
  run.Add(0, 20 * kUs, kMs)                      // the first: nothing is known before it
      .Add(3 * kMs, 3 * kMs + 5 * kUs, 4 * kMs)  // 2 ms idle, launched in it: queue 0
      .Add(5 * kMs - kUs, 5 * kMs, 6 * kMs)      // idle for exactly 1 ms: not more
      .Add(20 * kUs, 9 * kMs, 10 * kMs);         // 3 ms idle, but launched long before
  const Answer answer = RunOn(run.builder.Build(), "cpu_gpu_pipeline");
  EXPECT_EQ(IntCell(answer.rows[0], "starvation_events"), 1);
  EXPECT_EQ(IntCell(answer.rows[0], "gpu_idle_before_launch_events"), 1);
  EXPECT_EQ(RealCell(answer.rows[0], "gpu_idle_before_launch_ms"), 2.005);
  EXPECT_EQ(RealCell(answer.rows[0], "min_queue_delay_us"), 0.0)
      << "a kernel that starts before its call returns has not queued";
}

TEST(CpuGpuPipeline, CopiesKeepAGpuFromStarving) {
  Launches run;
  run.Add(0, 20 * kUs, kMs).Add(3 * kMs, 3 * kMs + 5 * kUs, 4 * kMs);
  run.builder.Copy({.start_ns = kMs, .end_ns = 3 * kMs, .bytes = 1, .stream = 9});
  run.builder.Copy({.start_ns = 0, .end_ns = 9 * kMs, .bytes = 1, .device = 1});
  EXPECT_EQ(IntCell(RunOn(run.builder.Build(), "cpu_gpu_pipeline").rows[0], "starvation_events"),
            0);
}

TEST(CpuGpuPipeline, ProcessesWithEqualCorrelationIdsStayApart) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 100, .end_ns = 200, .correlation = 1, .pid = 1})
                          .Kernel("k", {.start_ns = 100, .end_ns = 300, .correlation = 1, .pid = 2})
                          .Kernel("k", {.start_ns = 400, .end_ns = 500, .correlation = 2, .pid = 2})
                          .Call("cudaLaunchKernel",
                                {.start_ns = 0, .end_ns = 50, .correlation = 1, .pid = 1, .tid = 1})
                          .Call("cudaLaunchKernel",
                                {.start_ns = 0, .end_ns = 90, .correlation = 1, .pid = 2, .tid = 1})
                          .Build();
  const Answer answer = RunOn(trace, "cpu_gpu_pipeline");
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(IntCell(answer.rows[0], "pid"), 1);
  EXPECT_EQ(RealCell(answer.rows[0], "max_queue_delay_us"), 0.1) << "50 ns, rounded to even";
  EXPECT_EQ(RealCell(answer.rows[1], "pct_of_dispatches"), 50.0) << "the third has no launch";
  EXPECT_THAT(answer.notes.back(), HasSubstr("1 of 3 kernels have no launch call"));
}

TEST(CpuGpuPipeline, KernelsOfOneGraphShareTheirCall) {
  TraceBuilder builder;
  builder.Call("cudaGraphLaunch", {.start_ns = 0, .end_ns = 20 * kUs, .correlation = 5});
  for (int64_t i = 0; i < 50; ++i) {
    builder.Kernel("k", {.start_ns = (30 + i) * kUs, .end_ns = (31 + i) * kUs, .correlation = 5});
  }
  const Answer answer = RunOn(builder.Build(), "cpu_gpu_pipeline");
  EXPECT_EQ(IntCell(answer.rows[0], "dispatches"), 50);
  EXPECT_EQ(IntCell(answer.rows[0], "launch_calls"), 1);
}

TEST(CpuGpuPipeline, LimitZeroGivesNoRow) {
  Launches run;
  run.Add(0, 20 * kUs, kMs);
  EXPECT_TRUE(RunOn(run.builder.Build(), "cpu_gpu_pipeline", {{"limit", "0"}}).rows.empty());
}

// ---- thread_utilization

TEST(ThreadUtilization, SharesOfCyclesByWholeThread) {
  const Trace trace = TraceBuilder()
                          .Sample({.at_ns = 1, .cycles = 600, .pid = 1, .tid = 7})
                          .Sample({.at_ns = 2, .cycles = 300, .pid = 2, .tid = 7})
                          .Sample({.at_ns = 90, .cycles = 100, .pid = 1, .tid = 7})
                          .NameThread("worker", {.priority = 1, .pid = 1, .tid = 7})
                          .NameThread("a first name", {.priority = 0, .pid = 1, .tid = 7})
                          .NameThread("main", {.priority = 1, .pid = 1, .tid = 7})
                          .Build();
  const Answer answer = RunOn(trace, "thread_utilization");
  ASSERT_EQ(answer.rows.size(), 2U) << "equal thread numbers of two processes";
  EXPECT_EQ(TextCell(answer.rows[0], "thread_name"), "main") << "highest priority, then by letters";
  EXPECT_EQ(RealCell(answer.rows[0], "cpu_pct"), 70.0);
  EXPECT_EQ(IntCell(answer.rows[0], "samples"), 2);
  EXPECT_TRUE(Cell(answer.rows[1], "thread_name").is_null());
  EXPECT_EQ(IntCell(answer.rows[1], "tid"), 7);
  const Answer early = RunOn(trace, "thread_utilization", {}, Window{0, 50});
  EXPECT_EQ(RealCell(early.rows[0], "cpu_pct"), 66.67);
  EXPECT_EQ(RunOn(trace, "thread_utilization", {{"limit", "1"}}).rows.size(), 1U);
}

TEST(ThreadUtilization, SamplesWithoutCyclesAreTold) {
  const Answer answer = RunOn(TraceBuilder().Sample({.at_ns = 1}).Build(), "thread_utilization");
  EXPECT_EQ(RealCell(answer.rows[0], "cpu_pct"), 0.0);
  EXPECT_EQ(RealCell(answer.rows[0], "sample_pct"), 100.0);
  EXPECT_THAT(answer.notes.back(), HasSubstr("no cycle counts"));
}

TEST(ThreadUtilization, ARowLeftOutIsNoReasonToAbstain) {
  Trace trace = TraceBuilder().Sample({.at_ns = 1, .cycles = 5}).Build();
  trace.rows_left_out[static_cast<size_t>(TableId::kSamples)] = 1;
  EXPECT_FALSE(RunOn(trace, "thread_utilization").abstention.has_value());
}

// ---- module_loading, gc_impact

TEST(ModuleLoading, CurrentDriversLoadThroughLibraries) {
  const Trace trace =
      TraceBuilder()
          .Call("cudaLaunchKernel", {.start_ns = 0, .end_ns = 10 * kMs})
          .Call("cuLibraryLoadData", {.start_ns = kMs, .end_ns = 4 * kMs})
          .Call("cuModuleGetLoadingMode", {.start_ns = 0, .end_ns = 1})
          .Call("nvrtcCompileProgram", {.start_ns = 20 * kMs, .end_ns = 22 * kMs})
          .Call("nvrtcCompileProgram", {.start_ns = 30 * kMs, .end_ns = 31 * kMs, .tid = 101})
          .Kernel("k", {.start_ns = 21 * kMs, .end_ns = 25 * kMs})
          .Build();
  const Answer answer = RunOn(trace, "module_loading");
  ASSERT_EQ(answer.rows.size(), 3U);
  EXPECT_EQ(TextCell(answer.rows[0], "api_name"), "cuLibraryLoadData") << "a tie: by name";
  EXPECT_EQ(RealCell(answer.rows[0], "before_first_kernel_ms"), 3.0);
  EXPECT_EQ(RealCell(answer.rows[1], "total_ms"), 3.0);
  EXPECT_EQ(RealCell(answer.rows[1], "max_ms"), 2.0);
  EXPECT_EQ(RealCell(answer.rows[1], "avg_ms"), 1.5);
  EXPECT_EQ(RealCell(answer.rows[1], "before_first_kernel_ms"), 1.0) << "cut at the first kernel";
  EXPECT_FALSE(*Cell(answer.rows[2], "loads_code").AsBool());
}

TEST(ModuleLoading, NestedCallsAreNotAddedUp) {
  const Trace trace = TraceBuilder()
                          .Call("cudaLibraryLoadData", {.start_ns = 0, .end_ns = 5 * kMs})
                          .Call("cuLibraryLoadData", {.start_ns = kMs, .end_ns = 4 * kMs})
                          .Call("cuLinkComplete", {.start_ns = 0, .end_ns = 2 * kMs, .tid = 101})
                          .Build();
  const Answer answer = RunOn(trace, "module_loading");
  ASSERT_EQ(answer.rows.size(), 3U);
  EXPECT_THAT(answer.notes[0], HasSubstr("7.00 ms")) << "5 ms on one thread, 2 ms on the other";
  EXPECT_TRUE(Cell(answer.rows[0], "before_first_kernel_ms").is_null());
  EXPECT_EQ(RunOn(trace, "module_loading", {}, Window{kMs, 4 * kMs}).rows.size(), 1U);
}

TEST(ModuleLoading, OnlyAskingIsNoLoading) {
  const Answer answer = RunOn(
      TraceBuilder().Call("cuModuleGetLoadingMode", {.start_ns = 0, .end_ns = 9 * kMs}).Build(),
      "module_loading");
  EXPECT_EQ(answer.rows.size(), 1U);
  EXPECT_TRUE(answer.notes.empty());
}

TEST(ModuleLoading, EveryProcessHasItsOwnFirstKernel) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 0, .end_ns = 1, .pid = 1})
          .Kernel("k", {.start_ns = 50 * kMs, .end_ns = 51 * kMs, .pid = 2})
          .Call("cuModuleLoadData", {.start_ns = kMs, .end_ns = 3 * kMs, .pid = 1, .tid = 1})
          .Call("cuModuleLoadDataEx", {.start_ns = kMs, .end_ns = 3 * kMs, .pid = 2, .tid = 2})
          .Build();
  const Answer answer = RunOn(trace, "module_loading");
  EXPECT_EQ(RealCell(answer.rows[0], "before_first_kernel_ms"), 0.0);
  EXPECT_EQ(RealCell(answer.rows[1], "before_first_kernel_ms"), 2.0);
}

TEST(GcImpact, GcIsAWord) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const char* text : {"argcheck", "bigconv", "dgcnn", "gcd", "gc", "torch_gc", "GC gen2",
                           "x.gc()", "my Garbage truck"}) {
    builder.Range(text, {.start_ns = at, .end_ns = at + kMs});
    at += kMs;
  }
  builder.Range("gc", {.start_ns = 0, .end_ns = 0})
      .Range("gc", {.start_ns = 0, .end_ns = 9, .type = 34});
  const Answer answer = RunOn(builder.Build(), "gc_impact");
  std::vector<std::string> names;
  for (const Object& row : answer.rows) {
    names.push_back(TextCell(row, "event_name"));
    EXPECT_EQ(IntCell(row, "occurrences"), 1);
    EXPECT_TRUE(Cell(row, "blocking").is_null());
  }
  EXPECT_THAT(names,
              testing::ElementsAre("GC gen2", "gc", "my Garbage truck", "torch_gc", "x.gc()"));
}

TEST(GcImpact, PoolCallsDoNotBlockAndLabelsHaveNoIds) {
  const Trace trace =
      TraceBuilder()
          .Call("cudaMallocAsync_v11020", {.start_ns = 0, .end_ns = 5 * kMs})
          .Call("cudaFree_v3020", {.start_ns = 6 * kMs, .end_ns = 8 * kMs})
          .Call("cuMemFree_v2", {.start_ns = 6 * kMs, .end_ns = 7 * kMs})
          .Range("gc run, op_id = 1", {.start_ns = 0, .end_ns = kMs})
          .Range("gc run, op_id = 2", {.start_ns = kMs, .end_ns = 4 * kMs, .type = 60})
          .Build();
  const Answer answer = RunOn(trace, "gc_impact");
  ASSERT_EQ(answer.rows.size(), 4U);
  EXPECT_FALSE(*Cell(answer.rows[0], "blocking").AsBool());
  EXPECT_EQ(TextCell(answer.rows[1], "event_name"), "gc run");
  EXPECT_EQ(IntCell(answer.rows[1], "occurrences"), 2);
  EXPECT_EQ(RealCell(answer.rows[1], "max_ms"), 3.0);
  EXPECT_TRUE(*Cell(answer.rows[2], "blocking").AsBool());
  EXPECT_THAT(answer.notes[0], HasSubstr("2.00 ms")) << "the driver's call runs within the other";
}

TEST(GcImpact, OneKindOfEventIsEnough) {
  const Answer calls =
      RunOn(TraceBuilder().Call("cudaFree", {.start_ns = 0, .end_ns = 5}).Build(), "gc_impact");
  EXPECT_EQ(calls.rows.size(), 1U);
  EXPECT_THAT(calls.notes.back(), HasSubstr("no NVTX ranges"));
  EXPECT_TRUE(RunOn(TraceBuilder().Build(), "gc_impact").abstention.has_value());
}

// ---- sync_cost_analysis

TEST(SyncCost, CallNamesGoBeforeRecordTypes) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 0, .end_ns = 10 * kMs})
          .Call("cudaStreamSynchronize_v3020", {.start_ns = 0, .end_ns = kMs, .correlation = 1})
          .Sync({.start_ns = 0, .end_ns = kMs, .type = 2, .correlation = 1})
          .Sync({.start_ns = 2 * kMs, .end_ns = 5 * kMs, .type = 2})
          .Sync({.start_ns = 4 * kMs, .end_ns = 6 * kMs, .type = 3})
          .Sync({.start_ns = 5 * kMs, .end_ns = 7 * kMs, .type = 42})
          .Sync({.start_ns = 9 * kMs, .end_ns = 20 * kMs, .type = 4})
          .SyncTypes()
          .Build();
  const Answer answer = RunOn(trace, "sync_cost_analysis");
  ASSERT_EQ(answer.rows.size(), 1U);
  const Object& row = answer.rows[0];
  EXPECT_EQ(RealCell(row, "total_sync_wall_ms"), 5.0) << "0–1, 4–7, 9–10";
  EXPECT_EQ(RealCell(row, "sync_density_pct"), 50.0);
  EXPECT_EQ(RealCell(row, "stream_wait_ms"), 3.0);
  EXPECT_EQ(IntCell(row, "relabelled_records"), 1);
  EXPECT_EQ(ToJson(Cell(row, "sync_by_type_ms"), JsonLayout::kOneLine),
            R"({"CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE": 3.0, )"
            R"("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT": 3.0, "Unknown": 2.0, )"
            R"("CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE": 1.0})");
}

TEST(SyncCost, DevicesByTheKernelsOfTheContext) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 0, .end_ns = 10 * kMs, .device = 0, .pid = 1})
                          .Kernel("k", {.start_ns = 0, .end_ns = 10 * kMs, .device = 1, .pid = 2})
                          .Sync({.start_ns = 0, .end_ns = 3 * kMs, .pid = 1})
                          .Sync({.start_ns = 2 * kMs, .end_ns = 6 * kMs, .pid = 2})
                          .SyncTypes()
                          .Build();
  const Object whole = RunOn(trace, "sync_cost_analysis").rows[0];
  EXPECT_EQ(RealCell(whole, "total_sync_wall_ms"), 6.0);
  const List& devices = *Cell(whole, "sync_by_device").AsList();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(RealCell(*devices[1].AsObject(), "total_sync_wall_ms"), 4.0);
  const Object one = RunOn(trace, "sync_cost_analysis", {{"device", "1"}}).rows[0];
  EXPECT_EQ(RealCell(one, "total_sync_wall_ms"), 4.0);
  EXPECT_TRUE(RunOn(trace, "sync_cost_analysis", {{"device", "2"}}).problem.has_value());
  const Object part = RunOn(trace, "sync_cost_analysis", {}, Window{kMs, 5 * kMs}).rows[0];
  EXPECT_EQ(RealCell(part, "sync_density_pct"), 100.0) << "cut to the window, never above 100 %";
  const Object open = RunOn(trace, "sync_cost_analysis", {}, Window{5 * kMs}).rows[0];
  EXPECT_EQ(RealCell(open, "profile_span_ms"), 5.0) << "as far as anything was recorded";
}

// ---- critical_path

TEST(CriticalPath, AGpuThatCopiesIsNotBoundByTheCpu) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = 5 * kMs})
                          .Copy({.start_ns = 4 * kMs, .end_ns = 90 * kMs, .bytes = 1})
                          .Kernel("b", {.start_ns = 95 * kMs, .end_ns = 100 * kMs})
                          .Build();
  const Object row = RunOn(trace, "critical_path").rows[0];
  EXPECT_EQ(TextCell(row, "bound_class"), "copy-bound");
  const Object& parts = *Cell(row, "breakdown").AsObject();
  EXPECT_EQ(RealCell(parts, "gpu_compute_ms"), 10.0);
  EXPECT_EQ(RealCell(parts, "copy_ms"), 85.0);
  EXPECT_EQ(RealCell(parts, "cpu_ms"), 5.0);
  EXPECT_EQ(RealCell(row, "margin"), 0.75);
  EXPECT_EQ(RealCell(RunOn(trace, "pipeline_bubble_metrics").rows[0], "bubble_ms"), 5.0)
      << "one idle figure";
  EXPECT_TRUE(Cell(*Cell(row, "cpu_attribution").AsObject(), "sync_wall_ms").is_null())
      << "not recorded is not zero";
}

TEST(CriticalPath, TakesTheBusiestDevice) {
  TraceBuilder builder;
  builder.Kernel("a", {.start_ns = 0, .end_ns = 10 * kMs, .device = 1})
      .Kernel("b", {.start_ns = 0, .end_ns = 10 * kMs, .device = 0})
      .Kernel("b", {.start_ns = 20 * kMs, .end_ns = 21 * kMs, .device = 1});
  const Trace trace = builder.Build();
  const Answer answer = RunOn(trace, "critical_path");
  EXPECT_EQ(IntCell(answer.rows[0], "device"), 1);
  EXPECT_THAT(answer.notes[0], HasSubstr("kernels also ran on device 0"));
  EXPECT_EQ(IntCell(RunOn(trace, "critical_path", {}, Window{0, 5 * kMs}).rows[0], "device"), 0)
      << "a tie within the window";
  EXPECT_EQ(IntCell(RunOn(trace, "critical_path", {{"device", "0"}}).rows[0], "device"), 0);
  EXPECT_TRUE(RunOn(trace, "critical_path", {{"device", "7"}}).problem.has_value());
  const Object none = RunOn(trace, "critical_path", {}, Window{12 * kMs, 15 * kMs}).rows[0];
  EXPECT_EQ(TextCell(none, "bound_class"), "n/a");
  EXPECT_EQ(RealCell(none, "critical_path_ms"), 0.0);
}

TEST(CriticalPath, ShortAndEvenPathsHaveNoClass) {
  const auto bound = [](int64_t compute_ns, int64_t communication_ns, int64_t idle_ns) {
    const int64_t second = compute_ns + idle_ns;
    const Trace trace =
        TraceBuilder()
            .Kernel("gemm", {.start_ns = 0, .end_ns = compute_ns})
            .Kernel("ncclDevKernel_x", {.start_ns = second, .end_ns = second + communication_ns})
            .Build();
    return TextCell(RunOn(trace, "critical_path").rows[0], "bound_class");
  };
  EXPECT_EQ(bound(999'998, 1, 0), "mixed") << "below 1 ms";
  EXPECT_EQ(bound(999'999, 1, 0), "gpu-compute-bound");
  EXPECT_EQ(bound(58 * kMs, 42 * kMs, 0), "gpu-compute-bound");
  EXPECT_EQ(bound(57 * kMs, 43 * kMs, 0), "mixed") << "a margin below 0.15";
  EXPECT_EQ(bound(49 * kMs, 26 * kMs, 25 * kMs), "mixed") << "less than half";
  EXPECT_EQ(bound(10 * kMs, 70 * kMs, 20 * kMs), "comm-bound");
  EXPECT_EQ(bound(10 * kMs, 20 * kMs, 70 * kMs), "cpu-bound");
}

TEST(CriticalPath, StarvationIsThatOfTheDevice) {
  Launches run;
  run.Add(0, 20 * kUs, 30 * kMs, {.device = 0, .pid = 1})
      .Add(0, 20 * kUs, kMs, {.device = 1, .pid = 2})
      .Add(5 * kMs, 5 * kMs + 20 * kUs, 6 * kMs, {.device = 1, .pid = 2});
  const Trace trace = run.builder.Build();
  const auto starved = [&](const char* device) {
    const Object row = RunOn(trace, "critical_path", {{"device", device}}).rows[0];
    return IntCell(*Cell(row, "cpu_attribution").AsObject(), "dispatch_starvation_events");
  };
  EXPECT_EQ(starved("0"), 0);
  EXPECT_EQ(starved("1"), 1);
}

TEST(CriticalPath, TopListsCountInnerPartsAndBreakTiesByName) {
  const Trace trace = TraceBuilder()
                          .Kernel("late", {.start_ns = 90, .end_ns = 200})
                          .Kernel("b", {.start_ns = 10, .end_ns = 20})
                          .Kernel("a", {.start_ns = 30, .end_ns = 40})
                          .Build();
  const Object row = RunOn(trace, "critical_path", {}, Window{0, 100}).rows[0];
  const List& top = *Cell(row, "top_compute_kernels").AsList();
  ASSERT_EQ(top.size(), 3U);
  EXPECT_EQ(TextCell(*top[0].AsObject(), "name"), "a");
  EXPECT_EQ(TextCell(*top[2].AsObject(), "name"), "late") << "10 ns each";
  EXPECT_EQ(IntCell(*top[2].AsObject(), "end_ns"), 200);
}

}  // namespace
}  // namespace nsys
