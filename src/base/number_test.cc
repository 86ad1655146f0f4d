// SPDX-License-Identifier: MIT
#include "base/number.h"

#include <cmath>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(Number, RoundingsDifferOnTiesOnly) {
  EXPECT_EQ(RoundHalfAway(0.125, 2), 0.13);
  EXPECT_EQ(RoundHalfEven(0.125, 2), 0.12);
  EXPECT_EQ(RoundHalfEven(0.375, 2), 0.38);
  EXPECT_EQ(RoundHalfAway(2.675, 2), 2.68) << "scaled first: 267.5 in double";
  EXPECT_EQ(RoundHalfEven(2.675, 2), 2.67) << "the double lies below 2.675";
  EXPECT_EQ(RoundHalfAway(-0.125, 2), -0.13);
  EXPECT_EQ(RoundHalfEven(-0.001, 2), 0.0);
  EXPECT_FALSE(std::signbit(RoundHalfEven(-0.001, 2)));
}

TEST(Number, FormatsDoublesForRoundTrips) {
  EXPECT_EQ(FormatDouble(0), "0.0");
  EXPECT_EQ(FormatDouble(-2), "-2.0");
  EXPECT_EQ(FormatDouble(0.1), "0.1");
  EXPECT_EQ(FormatDouble(3e-06), "3e-06");
  EXPECT_EQ(FormatDouble(0.0001), "0.0001");
  EXPECT_EQ(FormatDouble(1e20), "1e+20");
  EXPECT_EQ(FormatDouble(123456789012345680.0), "1.2345678901234568e+17");
  EXPECT_EQ(FormatDouble(1e15), "1000000000000000.0");
}

TEST(Number, FormatsCountsAndDurations) {
  EXPECT_EQ(FormatCount(0), "0");
  EXPECT_EQ(FormatCount(999), "999");
  EXPECT_EQ(FormatCount(-1234567), "-1,234,567");
  EXPECT_EQ(FormatDuration(999), "999 ns");
  EXPECT_EQ(FormatDuration(2'300), "2.30 us");
  EXPECT_EQ(FormatDuration(31'121'662), "31.12 ms");
  EXPECT_EQ(FormatDuration(1'250'000'000), "1.25 s");
}

TEST(Number, ParsesWholeTextsOnly) {
  EXPECT_EQ(ParseInt("42"), 42);
  EXPECT_EQ(ParseInt("-7"), -7);
  EXPECT_EQ(ParseInt("3.5"), std::nullopt);
  EXPECT_EQ(ParseInt("12x"), std::nullopt);
  EXPECT_EQ(ParseInt(""), std::nullopt);
  EXPECT_EQ(ParseInt("99999999999999999999"), std::nullopt);
  EXPECT_EQ(ParseFiniteDouble("1e3"), 1000.0);
  EXPECT_EQ(ParseFiniteDouble("nan"), std::nullopt);
  EXPECT_EQ(ParseFiniteDouble("inf"), std::nullopt);
  EXPECT_EQ(ParseFiniteDouble("1e999"), std::nullopt);
}

}  // namespace
}  // namespace nsys
