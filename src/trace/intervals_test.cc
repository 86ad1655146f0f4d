// SPDX-License-Identifier: MIT
// The sweeps against a bitmap: every point of a small time axis is painted and counted.
#include "trace/intervals.h"

#include <array>
#include <random>

#include <gtest/gtest.h>

namespace nsys {
namespace {

constexpr int64_t kAxis = 64;
using Points = std::array<bool, kAxis>;

Points Paint(const std::vector<Span>& spans) {
  Points points{};
  for (const Span& span : spans) {
    for (int64_t t = span.begin_ns; t < span.end_ns; ++t) {
      points[static_cast<size_t>(t)] = true;
    }
  }
  return points;
}

SpanSet FromPoints(const Points& points) {
  SpanSet set;
  for (int64_t t = 0; t < kAxis; ++t) {
    if (!points[static_cast<size_t>(t)]) {
      continue;
    }
    if (!set.empty() && set.back().end_ns == t) {
      ++set.back().end_ns;
    } else {
      set.push_back({t, t + 1});
    }
  }
  return set;
}

std::vector<Span> RandomSpans(std::mt19937& random) {
  std::vector<Span> spans(random() % 8);
  for (Span& span : spans) {
    span.begin_ns = static_cast<int64_t>(random() % kAxis);
    span.end_ns = span.begin_ns +
                  static_cast<int64_t>(random() % static_cast<uint32_t>(kAxis - span.begin_ns + 1));
  }
  return spans;
}

TEST(Intervals, AgreeWithPaintedPoints) {
  std::mt19937 random(1);
  for (int round = 0; round < 5000; ++round) {
    const std::vector<Span> a = RandomSpans(random);
    const std::vector<Span> b = RandomSpans(random);
    const Points points_a = Paint(a);
    const Points points_b = Paint(b);
    Points both{};
    Points rest{};
    for (size_t t = 0; t < kAxis; ++t) {
      both[t] = points_a[t] && points_b[t];
      rest[t] = points_a[t] && !points_b[t];
    }
    const SpanSet set_a = Union(a);
    const SpanSet set_b = Union(b);
    ASSERT_EQ(set_a, FromPoints(points_a));
    ASSERT_EQ(Intersect(set_a, set_b), FromPoints(both));
    ASSERT_EQ(Subtract(set_a, set_b), FromPoints(rest));
    ASSERT_EQ(Length(Intersect(set_a, set_b)) + Length(Subtract(set_a, set_b)), Length(set_a));
    if (!set_a.empty()) {
      const int64_t extent = set_a.back().end_ns - set_a.front().begin_ns;
      ASSERT_EQ(Length(Gaps(set_a)) + Length(set_a), extent);
    }
  }
}

TEST(Intervals, TouchingSpansMergeAndEmptyOnesVanish) {
  EXPECT_EQ(Union({{5, 7}, {0, 5}, {9, 9}}), (SpanSet{{0, 7}}));
  EXPECT_TRUE(Gaps({{0, 7}}).empty());
  EXPECT_EQ(ClippedLength({0, 10}, 5, 20), 5);
  EXPECT_EQ(ClippedLength({0, 10}, 10, 20), 0);
  EXPECT_EQ(Union({{-30, -10}, {-20, 5}}), (SpanSet{{-30, 5}})) << "negative times are ordinary";
}

}  // namespace
}  // namespace nsys
