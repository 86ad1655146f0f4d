// SPDX-License-Identifier: MIT
#include "analysis/idle_gaps.h"

#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

// Per stream: the maximal runs of unpainted cells between its first start and its last end.
std::multiset<std::pair<int64_t, int64_t>> OracleGaps(const Trace& trace, int64_t device,
                                                      int64_t min_gap) {
  constexpr size_t kAxis = 100;
  std::map<LaneId, std::vector<uint8_t>> paint;
  std::map<LaneId, std::pair<int64_t, int64_t>> extent;
  const auto add = [&](const GpuEvents& events) {
    for (size_t row = 0; row < events.size(); ++row) {
      if (trace.DeviceOf(events, row) != device) {
        continue;
      }
      auto& cells = paint.try_emplace(events.lane[row], kAxis, uint8_t{0}).first->second;
      for (int64_t t = events.start_ns[row]; t < events.end_ns[row]; ++t) {
        cells[static_cast<size_t>(t)] = 1;
      }
      auto [at, added] =
          extent.try_emplace(events.lane[row], events.start_ns[row], events.end_ns[row]);
      at->second.first = std::min(at->second.first, events.start_ns[row]);
      at->second.second = std::max(at->second.second, events.end_ns[row]);
    }
  };
  add(trace.kernels);
  add(trace.graphs);
  std::multiset<std::pair<int64_t, int64_t>> gaps;
  for (const auto& [lane, cells] : paint) {
    for (int64_t t = extent[lane].first; t < extent[lane].second; ++t) {
      if (cells[static_cast<size_t>(t)] != 0) {
        continue;
      }
      int64_t end = t;
      while (end < extent[lane].second && cells[static_cast<size_t>(end)] == 0) {
        ++end;
      }
      if (end - t > min_gap) {
        gaps.insert({t, end});
      }
      t = end;
    }
  }
  return gaps;
}

TEST(IdleGaps, AgreeWithPaintedStreams) {
  std::mt19937 random(5);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 3000; ++round) {
    TraceBuilder builder;
    for (int64_t i = number(10); i >= 0; --i) {
      const int64_t start = number(80);
      // At least 1 ns long: a kernel without length splits a gap on paper, but paints nothing.
      const KernelSpec spec{.start_ns = start,
                            .end_ns = start + 1 + number(15),
                            .stream = number(2),
                            .device = number(2),
                            .pid = 100 + number(2)};
      number(4) == 0 ? builder.Graph(spec) : builder.Kernel("k", spec);
    }
    const Trace trace = builder.Build();
    const int64_t min_gap = number(6);
    for (int64_t device = 0; device < 2; ++device) {
      const StreamActivity activity = FindIdleGaps(trace, device, std::nullopt, min_gap);
      std::multiset<std::pair<int64_t, int64_t>> got;
      for (const IdleGap& gap : activity.gaps) {
        got.insert({gap.start_ns, gap.end_ns});
      }
      ASSERT_EQ(got, OracleGaps(trace, device, min_gap)) << "round " << round;
      for (size_t i = 1; i < activity.gaps.size(); ++i) {
        ASSERT_GE(activity.gaps[i - 1].length_ns(), activity.gaps[i].length_ns());
      }
    }
  }
}

TEST(IdleGaps, OverlapWithinAStreamIsNoNegativeGap) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = 100})
                          .Kernel("b", {.start_ns = 88, .end_ns = 95})
                          .Kernel("c", {.start_ns = 98, .end_ns = 150})
                          .Kernel("d", {.start_ns = 160, .end_ns = 170})
                          .Build();
  const StreamActivity activity = FindIdleGaps(trace, 0, std::nullopt, 0);
  ASSERT_EQ(activity.gaps.size(), 1U);
  EXPECT_EQ(activity.gaps[0].start_ns, 150);
  EXPECT_EQ(trace.Text(activity.gaps[0].before), "c");
  EXPECT_EQ(trace.Text(activity.gaps[0].after), "d");
}

TEST(IdleGaps, ThresholdIsStrict) {
  const Trace trace = TraceBuilder()
                          .Kernel("a", {.start_ns = 0, .end_ns = 10})
                          .Kernel("b", {.start_ns = 20, .end_ns = 30})
                          .Build();
  EXPECT_TRUE(FindIdleGaps(trace, 0, std::nullopt, 10).gaps.empty());
  EXPECT_EQ(FindIdleGaps(trace, 0, std::nullopt, 9).gaps.size(), 1U);
}

TEST(IdleGaps, AttributionIsCutToTheGapAndTheProcess) {
  const Trace trace =
      TraceBuilder()
          .Kernel("a", {.start_ns = 0, .end_ns = 100, .pid = 1})
          .Kernel("b", {.start_ns = 200, .end_ns = 300, .pid = 1})
          .Call("cudaLaunchKernel_v7000", {.start_ns = 50, .end_ns = 180, .pid = 1, .tid = 1})
          .Call("cudaStreamSynchronize_v3020", {.start_ns = 185, .end_ns = 900, .pid = 1, .tid = 1})
          .Call("cudaDeviceSynchronize_v3020", {.start_ns = 0, .end_ns = 900, .pid = 2, .tid = 2})
          .Build();
  const StreamActivity activity = FindIdleGaps(trace, 0, std::nullopt, 10);
  ASSERT_EQ(activity.gaps.size(), 1U);
  Views views(trace);
  const auto shares = ActivityWithin(views, activity.gaps[0]).apis;
  ASSERT_EQ(shares.size(), 2U);
  EXPECT_EQ(shares[0].name, "cudaLaunchKernel_v7000");
  EXPECT_EQ(shares[0].ns, 80);
  EXPECT_EQ(shares[1].ns, 15);
  EXPECT_EQ(DominantActivity(shares), HostActivity::kKernelLaunch);
}

TEST(IdleGaps, NamesTheDominantActivity) {
  EXPECT_EQ(DominantActivity({}), HostActivity::kNoCalls);
  EXPECT_EQ(DominantActivity({{"cuStreamSynchronize", 5}, {"cuLaunchKernelEx", 5}}),
            HostActivity::kSynchronization)
      << "ties";
  EXPECT_EQ(DominantActivity({{"cuMemcpyHtoDAsync_v2", 9}, {"cudaMalloc", 3}}),
            HostActivity::kMemoryTransfer);
  EXPECT_EQ(DominantActivity({{"cudaMalloc", 3}}), HostActivity::kOther);
}

}  // namespace
}  // namespace nsys
