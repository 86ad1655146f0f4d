// SPDX-License-Identifier: MIT
#include "perfetto/proto_writer.h"

#include <string>

#include <gtest/gtest.h>

namespace nsys::perfetto {
namespace {

std::string Hex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const char byte : bytes) {
    text += kDigits[static_cast<uint8_t>(byte) >> 4];
    text += kDigits[static_cast<uint8_t>(byte) & 15];
  }
  return text;
}

std::string VarintHex(uint64_t value) {
  ProtoBuffer buffer;
  buffer.Reserve(ProtoBuffer::kFieldBytes);
  buffer.Varint(value);
  EXPECT_EQ(buffer.size(), VarintSize(value));
  return Hex(buffer.view());
}

TEST(ProtoWriter, Varints) {
  EXPECT_EQ(VarintHex(0), "00");
  EXPECT_EQ(VarintHex(1), "01");
  EXPECT_EQ(VarintHex(127), "7f");
  EXPECT_EQ(VarintHex(128), "8001");
  EXPECT_EQ(VarintHex(300), "ac02");
  EXPECT_EQ(VarintHex(16383), "ff7f");
  EXPECT_EQ(VarintHex(16384), "808001");
  EXPECT_EQ(VarintHex(UINT64_MAX), "ffffffffffffffffff01");
}

TEST(ProtoWriter, Fields) {
  ProtoBuffer buffer;
  buffer.Reserve(200);
  buffer.Uint(1, 150);
  buffer.Int(4, -1);
  buffer.Fixed64(47, 0x0102030405060708);
  buffer.Double(5, 1.0);
  buffer.Text(2, "abc");
  EXPECT_EQ(Hex(buffer.view()),
            "089601"
            "20ffffffffffffffffff01"
            "f9020807060504030201"
            "29000000000000f03f"
            "1203616263");
}

// Lengths of one, two and three bytes, and the bytes behind them where they belong.
TEST(ProtoWriter, PartsOfAnyLength) {
  for (const size_t length : {0, 1, 127, 128, 129, 16383, 16384, 20000}) {
    std::string text(length, 'x');
    for (size_t i = 0; i < length; ++i) {
      text[i] = static_cast<char>(i * 7);
    }
    ProtoBuffer by_parts;
    by_parts.Reserve(length + 50);
    by_parts.Uint(3, 5);
    const size_t part = by_parts.BeginPart(2);
    by_parts.Bytes(text);
    by_parts.EndPart(part);
    by_parts.Uint(3, 6);
    ProtoBuffer at_once;
    at_once.Reserve(length + 50);
    at_once.Uint(3, 5);
    at_once.Text(2, text);
    at_once.Uint(3, 6);
    EXPECT_EQ(by_parts.view(), at_once.view()) << length;
  }
}

TEST(ProtoWriter, GrowsAndKeeps) {
  ProtoBuffer buffer;
  std::string expected;
  for (int i = 0; i < 1000; ++i) {
    buffer.Reserve(3);
    buffer.Bytes("abc");
    expected += "abc";
  }
  EXPECT_EQ(buffer.view(), expected);
  buffer.Clear();
  EXPECT_TRUE(buffer.empty());
}

}  // namespace
}  // namespace nsys::perfetto
