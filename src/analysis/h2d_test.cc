// SPDX-License-Identifier: MIT
#include "analysis/h2d.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

// A capture of ten seconds with one copy of so many bytes at the start of each second; 0 for none.
Trace CopiesPerSecond(const std::vector<int64_t>& bytes) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = 0, .end_ns = 10 * kSecond});
  for (size_t second = 0; second < bytes.size(); ++second) {
    const auto start = static_cast<int64_t>(second) * kSecond;
    if (bytes[second] > 0) {
      builder.Copy({.start_ns = start, .end_ns = start + 10, .bytes = bytes[second]});
    }
  }
  return builder.Build();
}

H2dPattern PatternOf(const std::vector<int64_t>& bytes) {
  return ComputeH2d(CopiesPerSecond(bytes), 0, std::nullopt)->pattern;
}

TEST(H2d, Patterns) {
  EXPECT_EQ(PatternOf({41, 40, 0, 19}), H2dPattern::kInitHeavy) << "81 %";
  EXPECT_EQ(PatternOf({40, 40, 0, 20}), H2dPattern::kSpreadOut) << "80 % is not above";
  EXPECT_EQ(PatternOf({10, 10, 10, 31}), H2dPattern::kSpike);
  EXPECT_EQ(PatternOf({10, 10, 10, 30}), H2dPattern::kSpreadOut) << "three times is not above";
  EXPECT_EQ(PatternOf({10, 0, 0, 10}), H2dPattern::kUnknown);
}

TEST(H2d, ASpikeIsMeasuredByTheUpperMedian) {
  const auto found = ComputeH2d(CopiesPerSecond({10, 10, 90, 20, 20, 70}), 0, std::nullopt);
  EXPECT_EQ(found->median_bytes, 20);
  EXPECT_EQ(found->spikes, (std::vector<size_t>{2, 5}));
}

TEST(H2d, NoBytesAreNoPattern) {
  const Trace trace = TraceBuilder().Copy({.start_ns = 0, .end_ns = 10, .bytes = 0}).Build();
  EXPECT_EQ(ComputeH2d(trace, 0, std::nullopt)->pattern, H2dPattern::kNone);
}

TEST(H2d, AShortCaptureTellsNothing) {
  const auto with_end = [](int64_t end) {
    return TraceBuilder()
        .Copy({.start_ns = 0, .end_ns = 10, .bytes = 100})
        .Kernel("k", {.start_ns = 20, .end_ns = end, .device = 1})
        .Build();
  };
  EXPECT_EQ(ComputeH2d(with_end(3 * kSecond), 0, std::nullopt)->pattern, H2dPattern::kInitHeavy);
  EXPECT_EQ(ComputeH2d(with_end(3 * kSecond - 1), 0, std::nullopt)->pattern, H2dPattern::kTooShort);
  const auto cut = ComputeH2d(with_end(9 * kSecond), 0, Window{0, 2 * kSecond});
  EXPECT_EQ(cut->pattern, H2dPattern::kTooShort);
  EXPECT_EQ(cut->seen_ns, 2 * kSecond);
}

TEST(H2d, CopiesAtTheEndAreNoStart) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 0, .end_ns = 10 * kSecond})
                          .Copy({.start_ns = 9 * kSecond, .end_ns = 9 * kSecond + 5, .bytes = 7})
                          .Build();
  EXPECT_EQ(ComputeH2d(trace, 0, std::nullopt)->pattern, H2dPattern::kTooShort);
}

TEST(H2d, SecondsAreFloored) {
  const Trace trace =
      TraceBuilder()
          .Copy({.start_ns = 500, .end_ns = 600, .bytes = 1})
          .Copy({.start_ns = 500 + 999'999'999, .end_ns = 500 + 3 * kSecond, .bytes = 2})
          .Copy({.start_ns = 500 + kSecond, .end_ns = 600 + kSecond, .bytes = 4})
          .Build();
  const auto found = ComputeH2d(trace, 0, std::nullopt);
  ASSERT_EQ(found->seconds.size(), 2U);
  EXPECT_EQ(found->seconds[0].bytes, 3);
  EXPECT_EQ(found->seconds[0].last_ns, 500 + 3 * kSecond);
  EXPECT_EQ(found->seconds[1].bytes, 4);
}

TEST(H2d, OnlyHostToDeviceOfTheDeviceCounts) {
  const Trace trace = TraceBuilder()
                          .Copy({.start_ns = 0, .end_ns = 5, .bytes = 1, .kind = 2})
                          .Copy({.start_ns = 0, .end_ns = 5, .bytes = 1, .device = 1})
                          .Copy({.start_ns = 0, .end_ns = 50, .bytes = 1})
                          .Build();
  EXPECT_EQ(ComputeH2d(trace, 0, std::nullopt)->bytes, 1);
  EXPECT_FALSE(ComputeH2d(trace, 0, Window{0, 49}).has_value()) << "not wholly inside";
}

TEST(H2d, AgreesWithPlainCounting) {
  std::mt19937 random(11);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 500; ++round) {
    TraceBuilder builder;
    std::vector<std::pair<int64_t, int64_t>> mine;  // start, bytes
    for (int64_t i = number(12); i >= 0; --i) {
      const CopySpec copy{.start_ns = number(90) * 100'000'000,
                          .end_ns = 20 * kSecond,
                          .bytes = number(50),
                          .kind = static_cast<int32_t>(1 + number(2)),
                          .device = number(2)};
      builder.Copy(copy);
      if (copy.kind == 1 && copy.device == 0) {
        mine.emplace_back(copy.start_ns, copy.bytes);
      }
    }
    const auto found = ComputeH2d(builder.Build(), 0, std::nullopt);
    ASSERT_EQ(found.has_value(), !mine.empty());
    if (mine.empty()) {
      continue;
    }
    const int64_t base = std::min_element(mine.begin(), mine.end())->first;
    std::map<int64_t, std::pair<int64_t, int64_t>> wanted;  // second: copies, bytes
    for (const auto& [start, bytes] : mine) {
      auto& [copies, sum] = wanted[(start - base) / kSecond];
      ++copies;
      sum += bytes;
    }
    std::map<int64_t, std::pair<int64_t, int64_t>> got;
    for (const H2dSecond& one : found->seconds) {
      got[one.second] = {one.copies, one.bytes};
    }
    ASSERT_EQ(got, wanted);
    ASSERT_EQ(got.size(), found->seconds.size());
  }
}

}  // namespace
}  // namespace nsys
