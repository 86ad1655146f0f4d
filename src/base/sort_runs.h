// SPDX-License-Identifier: MIT
// Sorting of what is nearly in order: exports lay the events of each thread or device down in long
// stretches that are in order by themselves.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace nsys {

// Sorts `items`, in one pass when they are in order, and else by merging the stretches that are;
// equal items may come in any order. O(n log stretches). T must have a default value.
template <typename T, typename Less>
void SortByRuns(std::vector<T>& items, const Less& less) {
  std::vector<size_t> begins;  // of the stretches
  for (size_t i = 0; i < items.size(); ++i) {
    if (i == 0 || less(items[i], items[i - 1])) {
      begins.push_back(i);
    }
  }
  constexpr size_t kLeastLength = 8;  // on average; below it, merging pays off no more
  if (begins.size() > 1 && items.size() / begins.size() < kLeastLength) {
    std::sort(items.begin(), items.end(), less);
    return;
  }
  std::vector<T> merged(begins.size() > 1 ? items.size() : 0);
  while (begins.size() > 1) {
    std::vector<size_t> longer;
    for (size_t run = 0; run < begins.size(); run += 2) {
      const auto at = [&](size_t which) {
        return which < begins.size() ? items.begin() + static_cast<ptrdiff_t>(begins[which])
                                     : items.end();
      };
      const size_t begin = begins[run];
      std::merge(at(run), at(run + 1), at(run + 1), at(run + 2),
                 merged.begin() + static_cast<ptrdiff_t>(begin), less);
      // One that follows the stretch before continues it.
      if (longer.empty() || less(merged[begin], merged[begin - 1])) {
        longer.push_back(begin);
      }
    }
    items.swap(merged);
    begins = std::move(longer);
  }
}

}  // namespace nsys
