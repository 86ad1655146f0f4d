// SPDX-License-Identifier: MIT
#include "base/wide_count.h"

#include <limits>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(WideCount, IsExactBeyond64Bits) {
  const WideCount large(uint64_t{1} << 63);
  EXPECT_EQ((large + large).ToDecimal(), "18446744073709551616");
  EXPECT_EQ((large * large).ToDecimal(), "85070591730234615865843651857942052864");
  EXPECT_DOUBLE_EQ((large * large).ToDouble(), 0x1p126);
  EXPECT_EQ((WideCount(3) * WideCount(5) + WideCount(0)).ToDecimal(), "15");
}

TEST(WideCount, KnowsWhenItDoesNotFit) {
  const WideCount most(std::numeric_limits<uint64_t>::max());
  const WideCount square = most * most;
  EXPECT_TRUE(square.fits());
  EXPECT_TRUE((square + most + most).fits()) << "2^128 - 1";
  EXPECT_FALSE((square + most + most + WideCount(1)).fits());
  EXPECT_FALSE((square * WideCount(2)).fits());
  EXPECT_FALSE(((square * WideCount(2)) * WideCount(0)).fits()) << "stays unfit";
}

TEST(WideCount, IsAPlainIntegerWhere64BitsHoldIt) {
  EXPECT_EQ(*WideCount(std::numeric_limits<int64_t>::max()).ToValue().AsInt(),
            std::numeric_limits<int64_t>::max());
  EXPECT_EQ(WideCount(uint64_t{1} << 63).ToValue().AsBigInteger()->digits, "9223372036854775808");
}

}  // namespace
}  // namespace nsys
