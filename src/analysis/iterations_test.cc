// SPDX-License-Identifier: MIT
#include "analysis/iterations.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

// `steps` iterations of 1 ms on thread 100: one kernel launched by it and one by thread 101.
TraceBuilder TrainingLoop(int64_t steps) {
  TraceBuilder builder;
  for (int64_t i = 0; i < steps; ++i) {
    const int64_t base = i * 1'000'000;
    builder.Range("Sample_0 step " + std::to_string(i),
                  {.start_ns = base, .end_ns = base + 900'000});
    builder.Range("sample_0 inner", {.start_ns = base + 10, .end_ns = base + 500'000});
    builder.Call("cudaLaunchKernel",
                 {.start_ns = base + 100, .end_ns = base + 200, .correlation = 10 * i + 1});
    builder.Call(
        "cudaLaunchKernel",
        {.start_ns = base + 150, .end_ns = base + 250, .correlation = 10 * i + 2, .tid = 101});
    builder.Call("cudaLaunchKernel",
                 {.start_ns = base + 300, .end_ns = base + 400, .correlation = 10 * i + 3});
    builder.Kernel("gemm",
                   {.start_ns = base + 1'000, .end_ns = base + 101'000, .correlation = 10 * i + 1});
    builder.Kernel("ncclDevKernel_AllReduce", {.start_ns = base + 200'000,
                                               .end_ns = base + 260'000,
                                               .stream = 20,
                                               .correlation = 10 * i + 2});
    builder.Kernel(
        "gemm", {.start_ns = base + 300'000, .end_ns = base + 400'000, .correlation = 10 * i + 3});
  }
  return builder;
}

TEST(Iterations, CountLaunchesOfEveryThreadOfTheProcess) {
  const Trace trace = TrainingLoop(3).Build();
  Views views(trace);
  const auto& iterations =
      DetectIterations(views, {.device = 0, .marker = "SAMPLE_0", .window = std::nullopt});
  ASSERT_EQ(iterations.size(), 3U);
  EXPECT_EQ(iterations[1].text, "Sample_0 step 1") << "the outer of two marker ranges";
  EXPECT_FALSE(iterations[1].heuristic);
  EXPECT_EQ(iterations[1].kernels, 3);
  EXPECT_EQ(iterations[1].communication_kernels, 1);
  EXPECT_EQ(iterations[1].kernel_ns, 260'000);
  EXPECT_EQ(iterations[1].gpu_start_ns, 1'001'000);
  EXPECT_EQ(iterations[1].gpu_end_ns, 1'400'000);
}

TEST(Iterations, MarkerIsLiteral) {
  const Trace trace = TrainingLoop(3).Build();
  Views views(trace);
  const auto& iterations =
      DetectIterations(views, {.device = 0, .marker = "s_mple_0", .window = std::nullopt});
  ASSERT_FALSE(iterations.empty());
  for (const Iteration& iteration : iterations) {
    EXPECT_TRUE(iteration.heuristic) << "no wildcard, so no range matches";
  }
}

TEST(Iterations, WindowKeepsRangesThatIntersectIt) {
  const Trace trace = TrainingLoop(4).Build();
  Views views(trace);
  const auto& iterations = DetectIterations(
      views, {.device = 0, .marker = "sample_0", .window = Window{1'950'000, 2'950'000}});
  ASSERT_EQ(iterations.size(), 1U);
  EXPECT_EQ(iterations[0].text, "Sample_0 step 2");
}

TEST(Iterations, PausesStandInForMarkersAndSaySo) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 3; ++i) {
    const int64_t base = i * 10'000'000;
    builder.Call("cudaLaunchKernel", {.start_ns = base, .end_ns = base + 10, .correlation = i + 1});
    builder.Kernel("gemm",
                   {.start_ns = base + 20, .end_ns = base + 5'000'020, .correlation = i + 1});
  }
  const Trace trace = builder.Build();
  Views views(trace);
  const auto& iterations =
      DetectIterations(views, {.device = 0, .marker = "sample_0", .window = std::nullopt});
  ASSERT_EQ(iterations.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_TRUE(iterations[i].heuristic);
    EXPECT_EQ(iterations[i].text, "heuristic_step_" + std::to_string(i));
    EXPECT_EQ(iterations[i].kernels, 1);
  }
}

TEST(Iterations, NoiseIsTold) {
  TraceBuilder builder;
  builder.Range("sample_0 a", {.start_ns = 0, .end_ns = 100})
      .Range("sample_0 b", {.start_ns = 200, .end_ns = 300});
  builder.Call("cudaLaunchKernel", {.start_ns = 10, .end_ns = 20, .correlation = 1})
      .Call("cudaLaunchKernel", {.start_ns = 210, .end_ns = 220, .correlation = 2});
  builder.Kernel("big", {.start_ns = 30, .end_ns = 1030, .correlation = 1})
      .Kernel("small", {.start_ns = 2000, .end_ns = 2099, .correlation = 2});
  const Trace trace = builder.Build();
  Views views(trace);
  const auto& iterations =
      DetectIterations(views, {.device = 0, .marker = "sample_0", .window = std::nullopt});
  ASSERT_EQ(iterations.size(), 2U);
  EXPECT_TRUE(iterations[0].real);
  EXPECT_FALSE(iterations[1].real) << "99 of 1000 is less than a tenth";
}

TEST(Iterations, NoneWithoutLaunches) {
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = 5}).Build();
  Views views(trace);
  EXPECT_TRUE(
      DetectIterations(views, {.device = 0, .marker = "x", .window = std::nullopt}).empty());
}

}  // namespace
}  // namespace nsys
