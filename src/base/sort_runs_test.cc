// SPDX-License-Identifier: MIT
#include "base/sort_runs.h"

#include <algorithm>
#include <functional>
#include <random>
#include <utility>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(SortByRuns, SortsAsSortDoes) {
  std::mt19937 random(3);
  using Item = std::pair<int, int>;
  for (int round = 0; round < 2000; ++round) {
    std::vector<Item> items;
    // From stretches of one item to all in one.
    const auto back = 1 + random() % (round % 2 == 0 ? 4U : 60U);
    int value = 0;
    for (size_t i = 0, count = random() % 150; i < count; ++i) {
      value = random() % back == 0 ? static_cast<int>(random() % 40)
                                   : value + static_cast<int>(random() % 2);
      items.emplace_back(value, static_cast<int>(i));
    }
    std::vector<Item> expected = items;
    std::sort(expected.begin(), expected.end());
    SortByRuns(items, std::less<>());
    ASSERT_EQ(items, expected) << round;
  }
}

}  // namespace
}  // namespace nsys
