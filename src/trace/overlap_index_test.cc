// SPDX-License-Identifier: MIT
#include "trace/overlap_index.h"

#include <random>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(OverlapIndex, FindsWhatAScanFinds) {
  std::mt19937 random(11);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 60; ++round) {
    Events events;
    for (int64_t i = number(2000); i > 0; --i) {
      const int64_t start = number(5000);
      events.start_ns.push_back(start);
      events.end_ns.push_back(start + number(number(20) == 0 ? 5000 : 20));
    }
    SortByTime(events);
    const OverlapIndex index(events);
    for (int query = 0; query < 20; ++query) {
      const int64_t begin = number(6000) - 500;
      const Span span{begin, begin + number(300)};
      std::vector<size_t> want;
      for (size_t row = 0; row < events.size(); ++row) {
        if (events.start_ns[row] < span.end_ns && events.end_ns[row] > span.begin_ns) {
          want.push_back(row);
        }
      }
      std::vector<size_t> got;
      index.ForEach(span, [&](size_t row) { got.push_back(row); });
      ASSERT_EQ(got, want) << "round " << round;
    }
  }
}

TEST(OverlapIndex, OfNothing) {
  const Events events;
  OverlapIndex(events).ForEach({0, 10}, [](size_t) { FAIL(); });
}

}  // namespace
}  // namespace nsys
