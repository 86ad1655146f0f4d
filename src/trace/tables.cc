// SPDX-License-Identifier: MIT
#include "trace/tables.h"

#include <algorithm>
#include <numeric>

#include "base/sort_runs.h"

namespace nsys {

std::vector<uint32_t> TimeOrder(const Events& events, std::span<const int64_t> ties) {
  const auto less = [&](uint32_t a, uint32_t b) {
    const int64_t start_a = events.start_ns[a];
    const int64_t start_b = events.start_ns[b];
    if (start_a != start_b) {
      return start_a < start_b;
    }
    const auto rest = [&](uint32_t row) {
      return std::tuple(events.end_ns[row], ties.empty() ? int64_t{0} : ties[row], row);
    };
    return rest(a) < rest(b);
  };
  const auto rows = static_cast<uint32_t>(events.size());
  uint32_t in_order = 1;
  while (in_order < rows && less(in_order - 1, in_order)) {
    ++in_order;
  }
  if (in_order >= rows) {
    return {};
  }
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  SortByRuns(order, less);
  return order;
}

}  // namespace nsys
