// SPDX-License-Identifier: MIT
#include "trace/tables.h"

#include <algorithm>
#include <numeric>
#include <random>

#include <gtest/gtest.h>

namespace nsys {
namespace {

// Plain sorting, as TimeOrder documents its order.
std::vector<uint32_t> SortedRows(const Events& events, const std::vector<int64_t>& ties) {
  std::vector<uint32_t> order(events.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const auto key = [&](uint32_t row) {
      return std::tuple(events.start_ns[row], events.end_ns[row],
                        ties.empty() ? int64_t{0} : ties[row], row);
    };
    return key(a) < key(b);
  });
  return order;
}

void ExpectOrder(const Events& events, const std::vector<int64_t>& ties) {
  const std::vector<uint32_t> sorted = SortedRows(events, ties);
  const std::vector<uint32_t> order = TimeOrder(events, ties);
  if (order.empty()) {
    EXPECT_TRUE(std::is_sorted(sorted.begin(), sorted.end()));
  } else {
    EXPECT_EQ(order, sorted);
  }
}

TEST(TimeOrder, IsThatOfPlainSorting) {
  std::mt19937 random(7);
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  for (int round = 0; round < 300; ++round) {
    Events events;
    std::vector<int64_t> ties;
    int64_t time = 0;
    // Few different times, so that ties of every degree occur; stretches of any length.
    const int64_t back = 1 + below(round % 3 == 0 ? 2 : 40);
    for (int64_t row = 0, rows = below(200); row < rows; ++row) {
      time = below(back) == 0 ? below(30) : time + below(3);
      events.start_ns.push_back(time);
      events.end_ns.push_back(time + below(3));
      ties.push_back(below(2));
    }
    ExpectOrder(events, {});
    ExpectOrder(events, ties);
  }
}

TEST(TimeOrder, IsEmptyForRowsInOrder) {
  Events events;
  events.start_ns = {1, 1, 1, 5};
  events.end_ns = {1, 2, 2, 5};
  EXPECT_TRUE(TimeOrder(events).empty());
  EXPECT_TRUE(TimeOrder(Events()).empty());
}

}  // namespace
}  // namespace nsys
