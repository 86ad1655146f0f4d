// SPDX-License-Identifier: MIT
#include "base/wide_count.h"

#include <algorithm>
#include <limits>

namespace nsys {

WideCount WideCount::operator*(const WideCount& other) const {
  WideCount product;
  product.fits_ =
      !__builtin_mul_overflow(value_, other.value_, &product.value_) && fits_ && other.fits_;
  return product;
}

WideCount WideCount::operator+(const WideCount& other) const {
  WideCount sum;
  sum.fits_ = !__builtin_add_overflow(value_, other.value_, &sum.value_) && fits_ && other.fits_;
  return sum;
}

std::string WideCount::ToDecimal() const {
  std::string digits;
  Word rest = value_;
  do {
    digits += static_cast<char>('0' + static_cast<int>(rest % 10));
    rest /= 10;
  } while (rest != 0);
  std::reverse(digits.begin(), digits.end());
  return digits;
}

Value WideCount::ToValue() const {
  if (value_ <= static_cast<Word>(std::numeric_limits<int64_t>::max())) {
    return {static_cast<int64_t>(value_)};
  }
  return BigInteger{ToDecimal()};
}

}  // namespace nsys
