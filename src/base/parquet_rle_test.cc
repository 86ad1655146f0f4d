// SPDX-License-Identifier: MIT
#include "base/parquet_rle.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace nsys {
namespace {

TEST(ParquetRle, RunsAndLiteralsAsInTheFormat) {
  const auto encoded = [](const std::vector<uint32_t>& values, int width) {
    std::string out;
    AppendRle(out, std::span<const uint32_t>(values), width);
    return out;
  };
  EXPECT_EQ(encoded({}, 3), "");
  EXPECT_EQ(encoded(std::vector<uint32_t>(9, 1), 1), std::string("\x12\x01", 2));
  // The example of the format's description: 0 to 7 of three bits each.
  EXPECT_EQ(encoded({0, 1, 2, 3, 4, 5, 6, 7}, 3), std::string("\x03\x88\xC6\xFA", 4));
  // Three literals fill up to eight with the run behind them; the rest of the run is one.
  std::vector<uint32_t> mixed = {1, 0, 1};
  mixed.resize(3 + 5 + 8, 1);
  EXPECT_EQ(encoded(mixed, 1), std::string("\x03\xFD\x10\x01", 4));
  // Two bytes of value from nine bits on.
  EXPECT_EQ(encoded(std::vector<uint32_t>(8, 0x1FE), 9), std::string("\x10\xFE\x01", 3));
}

}  // namespace
}  // namespace nsys
