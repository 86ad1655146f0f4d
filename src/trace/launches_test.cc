// SPDX-License-Identifier: MIT
#include "trace/launches.h"

#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

// The definition, row by row: of the calls of the process with the id, the latest that does not
// start after the kernel; else the earliest within the clock skew.
uint32_t OracleCall(const Trace& trace, size_t kernel) {
  uint32_t best = kNoCall;
  uint32_t skewed = kNoCall;
  const int64_t start = trace.kernels.start_ns[kernel];
  for (uint32_t call = 0; call < trace.calls.size(); ++call) {
    const Thread& thread = trace.threads[Index(trace.calls.thread[call])];
    if (ProcessWord(thread.global_tid) != *trace.LaneOf(trace.kernels, kernel).global_pid) {
      continue;
    }
    if (trace.calls.correlation[call] != trace.kernels.correlation[kernel]) {
      continue;
    }
    if (trace.calls.start_ns[call] <= start) {
      best = call;
    }
    if (skewed == kNoCall && trace.calls.start_ns[call] > start &&
        trace.calls.start_ns[call] - start <= kClockSkewNs) {
      skewed = call;
    }
  }
  return best != kNoCall ? best : skewed;
}

TEST(Launches, AgreeWithTheDefinitionOnRandomTraces) {
  std::mt19937 random(2);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 2000; ++round) {
    TraceBuilder builder;
    for (int64_t i = number(12); i >= 0; --i) {
      const int64_t start = number(300'000);
      builder.Call("cudaLaunchKernel", {.start_ns = start,
                                        .end_ns = start + 5,
                                        .correlation = number(4),
                                        .pid = 100 + number(2),
                                        .tid = 100 + number(2)});
    }
    for (int64_t i = number(12); i >= 0; --i) {
      const int64_t start = number(300'000);
      builder.Kernel("k", {.start_ns = start,
                           .end_ns = start + 9,
                           .device = number(2),
                           .correlation = number(4),
                           .pid = 100 + number(2)});
    }
    const Trace trace = builder.Build();
    const auto links = LinkLaunches(trace, trace.kernels);
    for (size_t kernel = 0; kernel < links.size(); ++kernel) {
      ASSERT_EQ(links[kernel], OracleCall(trace, kernel)) << "round " << round;
    }
  }
}

TEST(Launches, NeverCrossProcesses) {
  const Trace trace =
      TraceBuilder()
          .Call("cudaLaunchKernel",
                {.start_ns = 0, .end_ns = 5, .correlation = 1, .pid = 1, .tid = 1})
          .Kernel("mine", {.start_ns = 10, .end_ns = 20, .correlation = 1, .pid = 1})
          .Kernel("other", {.start_ns = 10, .end_ns = 20, .device = 1, .correlation = 1, .pid = 2})
          .Build();
  EXPECT_EQ(LinkLaunches(trace, trace.kernels), (std::vector<uint32_t>{0, kNoCall}));
}

TEST(Launches, AnUnknownProcessIsNotGuessed) {
  Trace trace = TraceBuilder()
                    .Call("cudaLaunchKernel",
                          {.start_ns = 0, .end_ns = 5, .correlation = 1, .pid = 1, .tid = 1})
                    .Call("cudaLaunchKernel",
                          {.start_ns = 1, .end_ns = 6, .correlation = 1, .pid = 2, .tid = 2})
                    .Call("cudaLaunchKernel",
                          {.start_ns = 2, .end_ns = 7, .correlation = 2, .pid = 2, .tid = 2})
                    .Kernel("either", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                    .Kernel("second", {.start_ns = 30, .end_ns = 40, .correlation = 2})
                    .Build();
  for (Lane& lane : trace.lanes) {
    lane.global_pid.reset();
  }
  EXPECT_EQ(LinkLaunches(trace, trace.kernels), (std::vector<uint32_t>{kNoCall, 2}));
}

// Contexts may count their ids each on its own: thread 1 launches into context 1, thread 2 into 2.
TEST(Launches, ACallOfAThreadOfTheContextComesFirst) {
  const auto call = [](int64_t start, int64_t id, int64_t tid) {
    return CallSpec{.start_ns = start, .end_ns = start + 5, .correlation = id, .tid = tid};
  };
  const auto kernel = [](int64_t start, int64_t id, int64_t context) {
    return KernelSpec{
        .start_ns = start, .end_ns = start + 9, .correlation = id, .context = context};
  };
  const auto links = [&](bool told) {
    TraceBuilder builder;
    builder.Call("cudaLaunchKernel", call(20, 3, 1)).Call("cudaLaunchKernel", call(40, 3, 2));
    builder.Kernel("second", kernel(60, 3, 2)).Kernel("first", kernel(80, 3, 1));
    if (told) {
      builder.Call("cudaLaunchKernel", call(0, 1, 1)).Call("cudaLaunchKernel", call(10, 2, 2));
      builder.Kernel("one", kernel(12, 1, 1)).Kernel("two", kernel(14, 2, 2));
    }
    const Trace trace = builder.Build();
    return LinkLaunches(trace, trace.kernels);
  };
  EXPECT_EQ(links(true), (std::vector<uint32_t>{0, 1, 3, 2}));
  EXPECT_EQ(links(false), (std::vector<uint32_t>{1, 1})) << "nothing says who launches into what";
}

TEST(Launches, OneGraphLaunchHasManyKernels) {
  TraceBuilder builder;
  builder.Call("cudaGraphLaunch", {.start_ns = 0, .end_ns = 20, .correlation = 9});
  for (int64_t i = 0; i < 50; ++i) {
    builder.Kernel("node", {.start_ns = 30 + i * 10, .end_ns = 39 + i * 10, .correlation = 9});
  }
  const Trace trace = builder.Build();
  for (const uint32_t call : LinkLaunches(trace, trace.kernels)) {
    EXPECT_EQ(call, 0U);
  }
}

}  // namespace
}  // namespace nsys
