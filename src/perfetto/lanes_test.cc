// SPDX-License-Identifier: MIT
#include "perfetto/lanes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <tuple>
#include <vector>

namespace nsys::perfetto {
namespace {

template <typename Lanes>
std::vector<uint32_t> PlaceAll(const std::vector<Span>& slices) {
  Lanes lanes;
  std::vector<uint32_t> placed;
  for (const Span slice : slices) {
    placed.push_back(lanes.Place(slice));
  }
  return placed;
}

TEST(IntervalLanesTest, TouchingSlicesShareALaneOverlappingOnesDoNot) {
  EXPECT_EQ(PlaceAll<IntervalLanes>({{0, 10}, {5, 7}, {7, 20}, {10, 10}, {10, 30}}),
            (std::vector<uint32_t>{0, 1, 1, 0, 2}));
}

TEST(IntervalLanesTest, SlicesWithoutLengthShareALaneWithWhatEndsThereAndWhatBeginsLater) {
  EXPECT_EQ(PlaceAll<IntervalLanes>({{0, 10}, {10, 10}, {10, 10}, {11, 20}}),
            (std::vector<uint32_t>{0, 0, 1, 0}));
}

TEST(LaminarLanesTest, NestedSlicesShareALaneCrossingOnesDoNot) {
  // 5-15 crosses 0-10; 6-7 fits both and goes to the lower; at 10 the first has ended.
  EXPECT_EQ(PlaceAll<LaminarLanes>({{0, 10}, {5, 15}, {6, 7}, {10, 40}, {12, 14}}),
            (std::vector<uint32_t>{0, 1, 0, 0, 0}));
}

TEST(LaminarLanesTest, SlicesWithoutLengthFitAnywhere) {
  EXPECT_EQ(PlaceAll<LaminarLanes>({{0, 10}, {0, 0}, {5, 5}, {10, 10}, {10, 12}}),
            (std::vector<uint32_t>{0, 0, 0, 0, 0}));
}

TEST(LaminarLanesTest, ALaneIsLeftWhenItIsDeepAndUsedAgainWhenItIsNot) {
  std::vector<Span> slices;
  const auto deep = static_cast<int64_t>(LaminarLanes::kMostNested) + 2;
  for (int64_t i = 0; i < deep; ++i) {
    slices.push_back({i, 3 * deep - i});
  }
  slices.push_back({2 * deep + 5, 2 * deep + 6});  // when some of the inner ones have ended
  std::vector<uint32_t> expected(LaminarLanes::kMostNested, 0);
  expected.insert(expected.end(), {1, 1, 0});
  EXPECT_EQ(PlaceAll<LaminarLanes>(slices), expected);
}

// The rules of the lanes, word by word.
std::vector<uint32_t> IntervalOracle(const std::vector<Span>& slices) {
  std::vector<int64_t> ends;
  std::vector<uint32_t> placed;
  for (const Span slice : slices) {
    size_t lane = 0;
    while (lane < ends.size() && ends[lane] > slice.begin_ns) {
      ++lane;
    }
    ends.resize(std::max(ends.size(), lane + 1));
    ends[lane] = std::max(slice.end_ns, slice.begin_ns + 1);
    placed.push_back(static_cast<uint32_t>(lane));
  }
  return placed;
}

std::vector<uint32_t> LaminarOracle(const std::vector<Span>& slices) {
  std::vector<std::vector<int64_t>> stacks;
  std::vector<uint32_t> placed;
  for (const Span slice : slices) {
    for (auto& stack : stacks) {
      std::erase_if(stack, [&](int64_t end) { return end <= slice.begin_ns; });
    }
    size_t lane = 0;
    while (lane < stacks.size() && !stacks[lane].empty() && stacks[lane].back() < slice.end_ns) {
      ++lane;
    }
    stacks.resize(std::max(stacks.size(), lane + 1));
    stacks[lane].push_back(slice.end_ns);
    placed.push_back(static_cast<uint32_t>(lane));
  }
  return placed;
}

TEST(LanesTest, AgreeWithTheirRulesOnRandomSlices) {
  std::mt19937 random(7);
  size_t most_lanes = 0;
  for (int round = 0; round < 400; ++round) {
    std::vector<Span> slices;
    const auto longest = 1 + random() % 60;
    for (int i = 0; i < 60; ++i) {
      const auto start = static_cast<int64_t>(random() % 80);
      slices.push_back({start, start + static_cast<int64_t>(random() % longest)});
    }
    std::sort(slices.begin(), slices.end(), [](Span a, Span b) {
      return std::tie(a.begin_ns, a.end_ns) < std::tie(b.begin_ns, b.end_ns);
    });
    const auto intervals = PlaceAll<IntervalLanes>(slices);
    EXPECT_EQ(intervals, IntervalOracle(slices));
    most_lanes =
        std::max<size_t>(most_lanes, *std::max_element(intervals.begin(), intervals.end()));
    std::sort(slices.begin(), slices.end(), [](Span a, Span b) {
      return std::tie(a.begin_ns, b.end_ns) < std::tie(b.begin_ns, a.end_ns);
    });
    EXPECT_EQ(PlaceAll<LaminarLanes>(slices), LaminarOracle(slices));
  }
  EXPECT_GT(most_lanes, 16U);  // so that the tree has grown several times
}

}  // namespace
}  // namespace nsys::perfetto
