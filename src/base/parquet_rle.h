// SPDX-License-Identifier: MIT
// Parquet's hybrid of runs and packed bits, in which small numbers are written: which text of a
// dictionary, and whether there is a value.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/varint.h"

namespace nsys {

// Appends `values`, each below 2^width, 1 <= width <= 32.
template <typename T>
class RleEncoder {
 public:
  RleEncoder(std::string& out, std::span<const T> values, int width)
      : out_(out), values_(values), width_(width) {}

  void Append() {
    size_t literals = 0;  // where the values begin that are not yet written
    for (size_t at = 0; at < values_.size();) {
      size_t end = at + 1;
      while (end < values_.size() && values_[end] == values_[at]) {
        ++end;
      }
      // Literals come by the eight, so a run first fills up the eight before it.
      const size_t fill = (kGroup - (at - literals) % kGroup) % kGroup;
      if (end - at >= kGroup + fill) {
        AppendLiterals(literals, at + fill);
        AppendRun(values_[at], end - at - fill);
        literals = end;
      }
      at = end;
    }
    AppendLiterals(literals, values_.size());
  }

 private:
  static constexpr size_t kGroup = 8;

  void AppendRun(T value, size_t count) {
    AppendVarint(out_, uint64_t{count} << 1);
    for (int bit = 0; bit < width_; bit += 8) {
      out_.push_back(static_cast<char>(uint64_t{value} >> bit & 0xFF));
    }
  }

  // The last group may be short; zeros fill it.
  void AppendLiterals(size_t begin, size_t end) {
    if (begin == end) {
      return;
    }
    const size_t groups = (end - begin + kGroup - 1) / kGroup;
    AppendVarint(out_, uint64_t{groups} << 1 | 1);
    uint64_t bits = 0;
    int held = 0;
    for (size_t i = begin; i < begin + groups * kGroup; ++i) {
      bits |= (i < end ? uint64_t{values_[i]} : 0) << held;
      held += width_;
      for (; held >= 8; held -= 8) {
        out_.push_back(static_cast<char>(bits & 0xFF));
        bits >>= 8;
      }
    }
  }

  std::string& out_;
  std::span<const T> values_;
  int width_;
};

template <typename T>
void AppendRle(std::string& out, std::span<const T> values, int width) {
  RleEncoder<T>(out, values, width).Append();
}

}  // namespace nsys
