// SPDX-License-Identifier: MIT
// Which device is looked at, in what order its causes stand, hotspots, and what the skill says.
#include "root_cause_test_util.h"

namespace nsys {
namespace {

constexpr char kHotspot[] = "Kernel Hotspot";

TEST(Hotspot, MoreThanHalfOfTheKernelTimeOfOneDevice) {
  const auto with = [](int64_t first, int64_t second) {
    return TraceBuilder()
        .Kernel("gemm", {.start_ns = 0, .end_ns = first})
        .Kernel("gemm", {.start_ns = 90, .end_ns = 100})
        .Kernel("softmax", {.start_ns = 100, .end_ns = 100 + second})
        .Kernel("softmax", {.start_ns = 0, .end_ns = 1000, .device = 1})
        .Build();
  };
  const RootCause cause = FindOne(with(41, 50), kHotspot);
  EXPECT_EQ(cause.magnitude_ns, 51);
  EXPECT_EQ(cause.place, (Span{0, 100}));
  EXPECT_EQ(cause.where, "device 0");
  EXPECT_EQ(cause.severity, Severity::kInfo);
  EXPECT_EQ(cause.recoverable_ns(), 0);
  EXPECT_FALSE(Fires(with(40, 50), kHotspot));
  EXPECT_FALSE(Fires(TraceBuilder().Kernel("gemm", {.start_ns = 0, .end_ns = 9}).Build(), kHotspot))
      << "one name is no hotspot";
}

TEST(Device, TheOneAskedForWhileItHasAnyKernelInTheWindow) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 10, .device = 0})
                          .Kernel("gemm", {.start_ns = 20, .end_ns = 30, .device = 2})
                          .Kernel("gemm", {.start_ns = 40, .end_ns = 60, .device = 2})
                          .Kernel("gemm", {.start_ns = 20, .end_ns = 30, .device = 1})
                          .Kernel("gemm", {.start_ns = 40, .end_ns = 60, .device = 1})
                          .Build();
  EXPECT_EQ(CausesOf(trace, 0)->device, 0);
  EXPECT_EQ(CausesOf(trace, 2)->device, 2);
  EXPECT_EQ(CausesOf(trace, 0, Window{5, 100})->device, 1) << "two each; the smaller id";
  EXPECT_EQ(CausesOf(trace, 0, Window{5, 100})->span, (Span{20, 60}));
  EXPECT_EQ(CausesOf(trace, 2, Window{35, 60})->device, 2);
  EXPECT_EQ(CausesOf(trace, 2, Window{0, 20})->device, 0) << "the only one with a whole kernel";
  EXPECT_FALSE(CausesOf(trace, 0, Window{1, 9}).has_value());
}

TEST(Device, MostKernelsNotMostTime) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 90, .device = 1})
                          .Kernel("gemm", {.start_ns = 20, .end_ns = 30, .device = 2})
                          .Kernel("gemm", {.start_ns = 40, .end_ns = 60, .device = 2})
                          .Build();
  EXPECT_EQ(CausesOf(trace, 0)->device, 2);
}

// A kernel without length has a span and no work in it.
TEST(Device, OneKernelOfNoLength) {
  const Trace trace = TraceBuilder().Kernel("gemm", {.start_ns = 5, .end_ns = 5}).Build();
  const auto causes = CausesOf(trace);
  ASSERT_TRUE(causes.has_value());
  EXPECT_EQ(causes->span, (Span{5, 5}));
  EXPECT_TRUE(causes->found.empty());
  EXPECT_EQ(RunOn(trace, "profile_health_manifest").rows.size(), 1U);
}

TEST(Order, RecoverableTimeThenSeverityThenCheck) {
  // Three idle periods of 5 ms; communication of 10 ms, all exposed; a hotspot of no claim.
  TraceBuilder builder;
  for (int64_t i = 0; i < 4; ++i) {
    builder.Kernel("gemm", {.start_ns = i * 15 * kMs, .end_ns = i * 15 * kMs + 10 * kMs});
  }
  builder.Kernel("ncclDevKernel_AllReduce",
                 {.start_ns = 55 * kMs, .end_ns = 65 * kMs, .stream = 20});
  builder.Memset({.start_ns = 0, .end_ns = 5 * kMs, .correlation = 1});
  builder.Call("cudaMemset_v3020", {.start_ns = 0, .end_ns = 10, .correlation = 1});
  builder.Copy({.start_ns = 0, .end_ns = 5 * kMs, .kind = 2, .correlation = 2});
  builder.Call("cudaMemcpy_v3020", {.start_ns = 0, .end_ns = 10, .correlation = 2});
  const auto causes = CausesOf(builder.Build());
  std::vector<std::pair<std::string_view, int64_t>> order;
  for (const RootCause& cause : causes->found) {
    order.emplace_back(cause.pattern, cause.recoverable_ns());
  }
  // The copies and memsets run beside kernels: nothing comes back, and both are info.
  EXPECT_EQ(order, (std::vector<std::pair<std::string_view, int64_t>>{
                       {"GPU Bubbles (Pipeline Stalls)", 15 * kMs},
                       {"NCCL Serialization", 10 * kMs},
                       {kHotspot, 0},
                       {"Synchronous Memcpy", 0},
                       {"Synchronous Memset", 0}}));
}

TEST(RootCauseMatcher, AbstainsForAnEmptyWindow) {
  const Trace trace = TraceBuilder().Kernel("gemm", {.start_ns = 10, .end_ns = 20}).Build();
  const Answer answer = RunOn(trace, "root_cause_matcher", {}, Window{12, 18});
  ASSERT_TRUE(answer.abstention.has_value());
  EXPECT_TRUE(answer.rows.empty());
  EXPECT_EQ(IntCell(answer.abstention->details, "trim_start_ns"), 12);
  EXPECT_EQ(IntCell(answer.abstention->details, "trim_end_ns"), 18);
}

TEST(RootCauseMatcher, SaysThatNothingWasFoundAndWhatWasNotLookedFor) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 10, .end_ns = 20})
                          .Kernel("gemm", {.start_ns = 20, .end_ns = 30})
                          .Build();
  const Answer answer = RunOn(trace, "root_cause_matcher");
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(TextCell(answer.rows[0], "pattern"), "No Known Anti-Patterns Detected");
  EXPECT_EQ(IntCell(answer.rows[0], "start_ns"), 10);
  EXPECT_EQ(IntCell(answer.rows[0], "end_ns"), 30);
  EXPECT_EQ(answer.notes.size(), 3U) << "calls, copies, ranges";
}

TEST(RootCauseMatcher, UnknownDevice) {
  const Trace trace = TraceBuilder().Kernel("gemm", {.start_ns = 10, .end_ns = 20}).Build();
  EXPECT_TRUE(RunOn(trace, "root_cause_matcher", {{"device", "9"}}).problem.has_value());
}

TEST(RootCauseMatcher, RowsSayWhatTheCausesSay) {
  TraceBuilder builder;
  builder.Kernel("gemm", {.start_ns = 0, .end_ns = 10 * kMs})
      .Kernel("ncclDevKernel_AllReduce", {.start_ns = 10 * kMs, .end_ns = 40 * kMs, .stream = 9});
  const Answer answer = RunOn(builder.Build(), "root_cause_matcher", {{"device", "0"}});
  ASSERT_EQ(answer.rows.size(), 3U);
  const Object& first = answer.rows[0];
  EXPECT_EQ(TextCell(first, "pattern"), "NCCL Serialization");
  EXPECT_EQ(TextCell(first, "severity"), "critical");
  EXPECT_EQ(RealCell(first, "recoverable_ms"), 30.0);
  EXPECT_EQ(RealCell(first, "recoverable_pct"), 75.0);
  EXPECT_EQ(RealCell(first, "magnitude_ms"), 30.0);
  EXPECT_EQ(IntCell(first, "start_ns"), 10 * kMs);
  EXPECT_EQ(IntCell(first, "end_ns"), 40 * kMs);
  EXPECT_TRUE(Cell(first, "counted_in").is_null());
  EXPECT_EQ(TextCell(answer.rows[1], "counted_in"), "NCCL Serialization");
  EXPECT_EQ(RealCell(answer.rows[1], "recoverable_ms"), 0.0);
}

}  // namespace
}  // namespace nsys
