// SPDX-License-Identifier: MIT
// Finds the rows of a table that overlap a span without reading the rest of the table. A long event
// may begin anywhere before the span, so order by start alone does not tell where to begin.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/tables.h"

namespace nsys {

// Keeps the largest end of every block of rows. Built in one pass; 1/64 byte per row. Holds on to
// `events`, which must stay as they are.
class OverlapIndex {
 public:
  explicit OverlapIndex(const Events& events) : events_(events) {
    for (size_t begin = 0; begin < events.size(); begin += kBlock) {
      const auto first = events.end_ns.begin() + static_cast<std::ptrdiff_t>(begin);
      const auto last =
          events.end_ns.begin() + static_cast<std::ptrdiff_t>(BlockEnd(begin, events.size()));
      largest_end_.push_back(*std::max_element(first, last));
    }
  }

  // Calls `row(i)` for each row with start < span.end and end > span.begin, in ascending order.
  template <typename Row>
  void ForEach(Span span, const Row& row) const {
    const auto& starts = events_.start_ns;
    const auto stop = static_cast<size_t>(
        std::lower_bound(starts.begin(), starts.end(), span.end_ns) - starts.begin());
    for (size_t begin = 0; begin < stop; begin += kBlock) {
      if (largest_end_[begin / kBlock] <= span.begin_ns) {
        continue;
      }
      for (size_t i = begin; i < BlockEnd(begin, stop); ++i) {
        if (events_.end_ns[i] > span.begin_ns) {
          row(i);
        }
      }
    }
  }

 private:
  static constexpr size_t kBlock = 512;
  static size_t BlockEnd(size_t begin, size_t rows) { return std::min(begin + kBlock, rows); }

  const Events& events_;
  std::vector<int64_t> largest_end_;  // of each block
};

}  // namespace nsys
