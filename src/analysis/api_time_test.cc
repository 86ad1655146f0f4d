// SPDX-License-Identifier: MIT
#include "analysis/api_time.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

TEST(ApiTime, AsksOncePerNameAndKeepsTheWindow) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 20; ++i) {
    builder.Call(i % 2 == 0 ? "cudaFree" : "cudaLaunchKernel", {.start_ns = i, .end_ns = i + 2});
  }
  const Trace trace = builder.Build();
  int asked = 0;
  const auto rows = CallsNamed(trace, Window{4, 10}, [&](std::string_view name) {
    ++asked;
    return name == "cudaFree";
  });
  EXPECT_EQ(rows, (std::vector<uint32_t>{4, 6, 8}));
  EXPECT_EQ(asked, 2);
  const auto times = TimeByName(trace, rows);
  ASSERT_EQ(times.size(), 1U);
  EXPECT_EQ(times[0].count, 3);
  EXPECT_EQ(times[0].total_ns, 6);
  EXPECT_EQ(times[0].longest_ns, 2);
}

TEST(ApiTime, ThreadTimeAgreesWithPaintedTime) {
  std::mt19937 random(4);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 1000; ++round) {
    TraceBuilder builder;
    std::map<int64_t, std::vector<uint8_t>> axes;
    for (int64_t i = number(8); i > 0; --i) {
      const int64_t start = number(80);
      const int64_t end = start + number(15);
      const int64_t tid = number(3);
      builder.Call("cudaFree", {.start_ns = start, .end_ns = end, .tid = tid});
      auto& axis = axes.try_emplace(tid, 100, uint8_t{0}).first->second;
      std::fill(axis.begin() + start, axis.begin() + end, uint8_t{1});
    }
    int64_t want = 0;
    for (const auto& [tid, axis] : axes) {
      want += std::count(axis.begin(), axis.end(), 1);
    }
    const Trace trace = builder.Build();
    const auto all = CallsNamed(trace, std::nullopt, [](std::string_view) { return true; });
    ASSERT_EQ(ThreadTime(trace, all), want);
  }
}

}  // namespace
}  // namespace nsys
