// SPDX-License-Identifier: MIT
// Numbers sorted by a small key, in linear time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

namespace nsys {

// The numbers from 0 to before `count`, group by group; those of one group ascend.
class Grouping {
 public:
  // `group_of(number)`, asked twice of each, is below `groups`.
  template <typename GroupOf>
  Grouping(size_t count, size_t groups, const GroupOf& group_of) : begins_(groups + 1) {
    for (uint32_t number = 0; number < count; ++number) {
      ++begins_[group_of(number) + 1];
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    numbers_.resize(count);
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (uint32_t number = 0; number < count; ++number) {
      numbers_[next[group_of(number)]++] = number;
    }
  }

  size_t groups() const { return begins_.size() - 1; }
  std::span<uint32_t> Of(size_t group) {
    return std::span(numbers_).subspan(begins_[group], begins_[group + 1] - begins_[group]);
  }

 private:
  std::vector<uint32_t> begins_;  // by group, one more than groups
  std::vector<uint32_t> numbers_;
};

}  // namespace nsys
