// SPDX-License-Identifier: MIT
#include "analysis/dispatch.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kStep = 250'000;  // so that more than four steps of idle time are starvation

// Whether the kernel began after its device had idled long enough, and was launched meanwhile: by
// looking at every nanosecond that matters, which are multiples of kStep.
bool Waited(const Trace& trace, size_t kernel, int64_t call_start_ns) {
  const auto busy_at = [&](int64_t step) {
    const auto covers = [&](const GpuEvents& events) {
      for (size_t row = 0; row < events.size(); ++row) {
        if (trace.DeviceOf(events, row) == trace.DeviceOf(trace.kernels, kernel) &&
            events.start_ns[row] <= step * kStep && events.end_ns[row] > step * kStep) {
          return true;
        }
      }
      return false;
    };
    return covers(trace.kernels) || covers(trace.copies) || covers(trace.graphs);
  };
  const int64_t start = trace.kernels.start_ns[kernel] / kStep;
  int64_t idle_from = start;
  while (idle_from > 0 && !busy_at(idle_from - 1)) {
    --idle_from;
  }
  return idle_from > 0 && (start - idle_from) * kStep > kStarvedNs &&
         call_start_ns >= idle_from * kStep;
}

TEST(Dispatches, AgreeWithLookingAtEveryKernel) {
  std::mt19937 random(21);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  int64_t starved_at_all = 0;
  for (int round = 0; round < 2000; ++round) {
    TraceBuilder builder;
    const int64_t kernels = 1 + number(6);
    std::vector<int64_t> call_starts(static_cast<size_t>(kernels) + 1);
    for (int64_t i = 1; i <= kernels; ++i) {
      const int64_t start = number(60);
      const int64_t call = std::max<int64_t>(start - number(20), 0);
      call_starts[static_cast<size_t>(i)] = call * kStep;
      builder
          .Kernel("k", {.start_ns = start * kStep,
                        .end_ns = (start + 1 + number(8)) * kStep,
                        .stream = number(2),
                        .device = number(2),
                        .correlation = i})
          .Call("cudaLaunchKernel", {.start_ns = call * kStep,
                                     .end_ns = (call + 1) * kStep,
                                     .correlation = i,
                                     .tid = 100 + number(2)});
    }
    for (int64_t i = number(3); i > 0; --i) {
      const int64_t start = number(60);
      builder.Copy({.start_ns = start * kStep, .end_ns = (start + 1 + number(9)) * kStep});
      builder.Graph({.start_ns = start * kStep, .end_ns = (start + 1) * kStep, .device = 1});
    }
    const Trace trace = builder.Build();
    Views views(trace);
    for (int64_t device = 0; device < 2; ++device) {
      int64_t starved = 0;
      int64_t count = 0;
      int64_t queue_ns = 0;
      for (size_t row = 0; row < trace.kernels.size(); ++row) {
        if (trace.DeviceOf(trace.kernels, row) != device) {
          continue;
        }
        const int64_t call = call_starts[static_cast<size_t>(trace.kernels.correlation[row])];
        starved += Waited(trace, row, call) ? 1 : 0;
        queue_ns += std::max<int64_t>(trace.kernels.start_ns[row] - (call + kStep), 0);
        ++count;
      }
      const Dispatches& got = DispatchesOf(views, device, std::nullopt);
      int64_t got_queue_ns = 0;
      for (const ThreadDispatches& thread : got.threads) {
        got_queue_ns += thread.queue_ns;
      }
      ASSERT_EQ(got.starved(), starved) << "round " << round;
      ASSERT_EQ(got.kernels, count);
      ASSERT_EQ(got.unlinked, 0);
      ASSERT_EQ(got_queue_ns, queue_ns);
      starved_at_all += starved;
    }
    ASSERT_EQ(DispatchesOf(views, std::nullopt, std::nullopt).starved(),
              DispatchesOf(views, 0, std::nullopt).starved() +
                  DispatchesOf(views, 1, std::nullopt).starved());
  }
  EXPECT_GT(starved_at_all, 100) << "else the test tests nothing";
}

TEST(Dispatches, OneIdleStretchCountsOnce) {
  const Trace trace =
      TraceBuilder()
          .Kernel("a", {.start_ns = 0, .end_ns = 10})
          .Call("cudaLaunchKernel", {.start_ns = 3'000'000, .end_ns = 3'000'010, .correlation = 1})
          .Call("cudaLaunchKernel", {.start_ns = 3'000'011, .end_ns = 3'000'020, .correlation = 2})
          .Kernel("b", {.start_ns = 4'000'010, .end_ns = 5'000'000, .correlation = 1})
          .Kernel("c", {.start_ns = 4'000'010, .end_ns = 5'000'000, .stream = 8, .correlation = 2})
          .Build();
  Views views(trace);
  const Dispatches& got = DispatchesOf(views, std::nullopt, std::nullopt);
  ASSERT_EQ(got.threads.size(), 1U);
  EXPECT_EQ(got.threads[0].starved, 2);
  EXPECT_EQ(got.threads[0].starved_idle_ns, 4'000'000);
  EXPECT_EQ(got.unlinked, 1);
}

TEST(Dispatches, TheWindowPicksKernelsAndNotTheWorkBeforeThem) {
  const Trace trace =
      TraceBuilder()
          .Kernel("a", {.start_ns = 0, .end_ns = 1'000'000})
          .Call("cudaLaunchKernel", {.start_ns = 3'000'000, .end_ns = 3'000'010, .correlation = 1})
          .Kernel("b", {.start_ns = 4'000'000, .end_ns = 5'000'000, .correlation = 1})
          .Build();
  Views views(trace);
  EXPECT_EQ(DispatchesOf(views, 0, Window{3'500'000, 6'000'000}).starved(), 1);
  EXPECT_EQ(DispatchesOf(views, 0, Window{0, 4'500'000}).kernels, 0);
}

}  // namespace
}  // namespace nsys
