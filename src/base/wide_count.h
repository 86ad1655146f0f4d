// SPDX-License-Identifier: MIT
// Whole numbers from 0 to 2^128 - 1 whose sums and products are exact, or known to be too large.
#pragma once

#include <cstdint>
#include <string>

#include "base/value.h"

namespace nsys {

class WideCount {
 public:
  WideCount() = default;
  explicit WideCount(uint64_t value) : value_(value) {}

  // False once a sum or product did not fit. An unfit count stays so.
  bool fits() const { return fits_; }

  WideCount operator*(const WideCount& other) const;
  WideCount operator+(const WideCount& other) const;

  // The nearest double.
  double ToDouble() const { return static_cast<double>(value_); }
  std::string ToDecimal() const;
  // An integer where 64 bits hold it, else a BigInteger.
  Value ToValue() const;

 private:
  __extension__ using Word = unsigned __int128;
  Word value_ = 0;
  bool fits_ = true;
};

}  // namespace nsys
