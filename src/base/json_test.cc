// SPDX-License-Identifier: MIT
#include "base/json.h"

#include <limits>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(Json, KeepsKeyOrderAndTypes) {
  const Object row{{"z", 1},    {"a", 2.0},          {"n", nullptr},
                   {"t", true}, {"l", List{1, "x"}}, {"e", List{}}};
  EXPECT_EQ(ToJson(row, JsonLayout::kOneLine),
            R"({"z": 1, "a": 2.0, "n": null, "t": true, "l": [1, "x"], "e": []})");
  EXPECT_EQ(ToJson(List{Object{{"k", 1}}}, JsonLayout::kIndented), "[\n  {\n    \"k\": 1\n  }\n]");
  EXPECT_EQ(ToJson(List{}, JsonLayout::kIndented), "[]");
}

TEST(Json, WritesLargeIntegersBare) {
  const Object row{{"n", BigInteger{"80478532707576346312704"}}};
  EXPECT_EQ(ToJson(row, JsonLayout::kOneLine), R"({"n": 80478532707576346312704})");
}

TEST(Json, EscapesEverythingOutsideAscii) {
  EXPECT_EQ(ToJson(Value("q\"b\\n\n\x01"), JsonLayout::kOneLine), R"("q\"b\\n\n\u0001")");
  EXPECT_EQ(ToJson(Value("é€😀"), JsonLayout::kOneLine), R"("\u00e9\u20ac\ud83d\ude00")");
  EXPECT_EQ(ToJson(Value("\xFF"), JsonLayout::kOneLine), R"("\ufffd")");
  EXPECT_EQ(ToJson(Value(std::string("a\0b", 3)), JsonLayout::kOneLine), R"("a\u0000b")");
}

TEST(Json, NeverWritesNanOrInfinity) {
  EXPECT_EQ(ToJson(Value(std::numeric_limits<double>::quiet_NaN()), JsonLayout::kOneLine), "null");
  EXPECT_EQ(ToJson(Value(-std::numeric_limits<double>::infinity()), JsonLayout::kOneLine), "null");
}

}  // namespace
}  // namespace nsys
