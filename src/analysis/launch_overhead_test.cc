// SPDX-License-Identifier: MIT
#include "analysis/launch_overhead.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

LaunchOverhead Find(const Trace& trace, int64_t device = 0,
                    const std::optional<Window>& window = std::nullopt, int64_t min_launches = 1) {
  Views views(trace);
  return FindSmallKernels(views, device, window, min_launches);
}

TEST(LaunchOverhead, SumsAreExact) {
  const Trace trace =
      TraceBuilder()
          .Call("cudaLaunchKernel_v7000", {.start_ns = 0, .end_ns = 40, .correlation = 1})
          .Kernel("k", {.start_ns = 100, .end_ns = 107, .correlation = 1})
          .Call("cuLaunchKernelEx", {.start_ns = 150, .end_ns = 250, .correlation = 2})
          .Kernel("k", {.start_ns = 200, .end_ns = 210, .correlation = 2})
          .Build();
  const LaunchOverhead found = Find(trace);
  ASSERT_EQ(found.small.size(), 1U);
  const LaunchedKernel& one = found.small[0];
  EXPECT_EQ(one.kernels, 2);
  EXPECT_EQ(one.api_ns, 140);
  EXPECT_EQ(one.max_api_ns, 100);
  EXPECT_EQ(one.queued, 1) << "the second starts before its call returns";
  EXPECT_EQ(one.queue_ns, 60);
  EXPECT_EQ(one.kernel_ns, 17);
  EXPECT_EQ(one.first_ns, 100);
  EXPECT_EQ(one.last_ns, 210);
}

TEST(LaunchOverhead, SmallIsStrictAndExact) {
  TraceBuilder builder;
  int64_t id = 0;
  for (const auto& [name, ns] :
       std::initializer_list<std::pair<const char*, int64_t>>{{"at the limit", 10'000},
                                                              {"at the limit", 10'000},
                                                              {"below", 10'000},
                                                              {"below", 9'999}}) {
    ++id;
    builder.Call("cudaLaunchKernel", {.start_ns = 0, .end_ns = 5, .correlation = id})
        .Kernel(name, {.start_ns = 10, .end_ns = 10 + ns, .correlation = id});
  }
  const Trace trace = builder.Build();
  const LaunchOverhead found = Find(trace);
  ASSERT_EQ(found.small.size(), 1U);
  EXPECT_EQ(trace.Text(found.small[0].name), "below");
  EXPECT_TRUE(Find(trace, 0, std::nullopt, 3).small.empty());
}

TEST(LaunchOverhead, EqualIdsOfTwoProcessesStayApart) {
  TraceBuilder builder;
  for (int64_t pid = 100; pid < 102; ++pid) {
    builder
        .Call("cudaLaunchKernel",
              {.start_ns = 0, .end_ns = pid, .correlation = 1, .pid = pid, .tid = pid})
        .Kernel(
            "k",
            {.start_ns = 200, .end_ns = 210, .device = pid - 100, .correlation = 1, .pid = pid});
  }
  const Trace trace = builder.Build();
  EXPECT_EQ(Find(trace, 0).small.at(0).api_ns, 100);
  EXPECT_EQ(Find(trace, 1).small.at(0).api_ns, 101);
}

TEST(LaunchOverhead, AnotherCallOfTheSameIdHidesNoLaunch) {
  const Trace trace =
      TraceBuilder()
          .Call("cudaLaunchKernel", {.start_ns = 0, .end_ns = 7, .correlation = 1})
          .Call("cudaStreamSynchronize", {.start_ns = 10, .end_ns = 900, .correlation = 1})
          .Kernel("k", {.start_ns = 20, .end_ns = 30, .correlation = 1})
          .Call("cudaMemcpy", {.start_ns = 40, .end_ns = 50, .correlation = 2})
          .Kernel("of no launch", {.start_ns = 60, .end_ns = 70, .correlation = 2})
          .Build();
  const LaunchOverhead found = Find(trace);
  ASSERT_EQ(found.small.size(), 1U);
  EXPECT_EQ(found.small[0].api_ns, 7);
  EXPECT_EQ(found.launched, 1);
  EXPECT_EQ(found.unknown, 1);
}

TEST(LaunchOverhead, AGraphLaunchIsOneCall) {
  TraceBuilder builder;
  builder.Call("cudaGraphLaunch_v10000", {.start_ns = 0, .end_ns = 20'000, .correlation = 1});
  for (int64_t i = 0; i < 50; ++i) {
    builder.Kernel("node",
                   {.start_ns = 30'000 + i * 10, .end_ns = 30'005 + i * 10, .correlation = 1});
  }
  const LaunchOverhead found = Find(builder.Build());
  EXPECT_TRUE(found.small.empty());
  EXPECT_EQ(found.graphs.calls, 1);
  EXPECT_EQ(found.graphs.api_ns, 20'000);
  EXPECT_EQ(found.graphs.kernels, 50);
  EXPECT_EQ(found.unknown, 0);
}

TEST(LaunchOverhead, WholeGraphsAreToldApart) {
  const Trace trace = TraceBuilder()
                          .Call("cuGraphLaunch", {.start_ns = 0, .end_ns = 300, .correlation = 1})
                          .Graph({.start_ns = 500, .end_ns = 900, .correlation = 1})
                          .Call("cudaGraphLaunch", {.start_ns = 0, .end_ns = 300, .correlation = 2})
                          .Graph({.start_ns = 500, .end_ns = 900, .device = 1, .correlation = 2})
                          .Kernel("k", {.start_ns = 0, .end_ns = 5})
                          .Build();
  const LaunchOverhead found = Find(trace);
  EXPECT_EQ(found.graphs.calls, 1);
  EXPECT_EQ(found.graphs.whole_graphs, 1);
  EXPECT_EQ(found.graphs.kernels, 0);
}

TEST(LaunchOverhead, OneCallOfSeveralKernelsCountsOnce) {
  const Trace trace =
      TraceBuilder()
          .Call("cudaLaunchCooperativeKernel", {.start_ns = 0, .end_ns = 40, .correlation = 1})
          .Kernel("k", {.start_ns = 100, .end_ns = 105, .correlation = 1})
          .Kernel("k", {.start_ns = 110, .end_ns = 115, .correlation = 1})
          .Build();
  const LaunchedKernel one = Find(trace).small.at(0);
  EXPECT_EQ(one.kernels, 2);
  EXPECT_EQ(one.calls, 1);
  EXPECT_EQ(one.api_ns, 40);
}

TEST(LaunchOverhead, AgreesWithAPlainJoin) {
  std::mt19937 random(5);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 300; ++round) {
    TraceBuilder builder;
    std::map<std::string, std::pair<int64_t, int64_t>> wanted;  // name: kernels, api time
    for (int64_t id = 0; id < 20; ++id) {
      const int64_t start = number(1000);
      const int64_t api = 1 + number(50);
      const int64_t device = number(2);
      const std::string name = "k" + std::to_string(number(3));
      builder
          .Call("cudaLaunchKernel", {.start_ns = start, .end_ns = start + api, .correlation = id})
          .Kernel(name, {.start_ns = start + number(100),
                         .end_ns = start + 200,
                         .stream = number(3),
                         .device = device,
                         .correlation = id});
      if (device == 0 && start + 200 <= 900) {
        ++wanted[name].first;
        wanted[name].second += api;
      }
    }
    std::map<std::string, std::pair<int64_t, int64_t>> got;
    const Trace trace = builder.Build();
    for (const LaunchedKernel& one : Find(trace, 0, Window{0, 900}).small) {
      got[std::string(trace.Text(one.name))] = {one.kernels, one.api_ns};
    }
    ASSERT_EQ(got, wanted);
  }
}

}  // namespace
}  // namespace nsys
