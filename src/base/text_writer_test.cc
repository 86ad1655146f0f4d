// SPDX-License-Identifier: MIT
#include "base/text_writer.h"

#include <cstdint>
#include <limits>
#include <string>

#include <gtest/gtest.h>

namespace nsys {
namespace {

template <typename Put>
std::string Written(const Put& put) {
  std::string out = "<";
  {
    TextWriter writer(out);
    put(writer);
  }
  return out.substr(1);
}

std::string Micros(int64_t ns) {
  return Written([&](TextWriter& out) { out.PutMicroseconds(ns); });
}
std::string Quoted(std::string_view text) {
  return Written([&](TextWriter& out) { out.PutQuoted(text); });
}

TEST(TextWriterTest, IntegersAreThoseOfTheStandardLibrary) {
  for (int64_t value = 1; value < std::numeric_limits<int64_t>::max() / 10; value *= 10) {
    for (const int64_t near : {value - 1, value, value + 1, 9 * value, -value, 1 - value}) {
      EXPECT_EQ(Written([&](TextWriter& out) { out.PutInteger(near); }), std::to_string(near));
    }
  }
  EXPECT_EQ(Written([](TextWriter& out) { out.PutInteger(std::numeric_limits<int64_t>::min()); }),
            "-9223372036854775808");
  EXPECT_EQ(Written([](TextWriter& out) { out.PutUnsigned(std::numeric_limits<uint64_t>::max()); }),
            "18446744073709551615");
}

TEST(TextWriterTest, MicrosecondsKeepEveryNanosecond) {
  EXPECT_EQ(Micros(0), "0.0");
  EXPECT_EQ(Micros(1), "0.001");
  EXPECT_EQ(Micros(10), "0.01");
  EXPECT_EQ(Micros(100), "0.1");
  EXPECT_EQ(Micros(110), "0.11");
  EXPECT_EQ(Micros(12000), "12.0");
  EXPECT_EQ(Micros(1721505), "1721.505");
  EXPECT_EQ(Micros(-1), "-0.001");
  EXPECT_EQ(Micros(-2500), "-2.5");
  EXPECT_EQ(Micros(std::numeric_limits<int64_t>::min()), "-9223372036854775.808");
  EXPECT_EQ(Micros(std::numeric_limits<int64_t>::max()), "9223372036854775.807");
}

TEST(TextWriterTest, DoublesAreShortest) {
  const auto text = [](double value) {
    return Written([&](TextWriter& out) { out.PutDouble(value); });
  };
  EXPECT_EQ(text(0), "0.0");
  EXPECT_EQ(text(1516.7205408869752), "1516.7205408869752");
  EXPECT_EQ(text(0.000003), "3e-06");
}

TEST(TextWriterTest, StringsAreEscapedAtEveryPlace) {
  EXPECT_EQ(Quoted(""), "\"\"");
  EXPECT_EQ(Quoted("a/b\x7f \xc3\xa9\xf0\x9f\x98\x80"), "\"a/b\x7f \xc3\xa9\xf0\x9f\x98\x80\"");
  EXPECT_EQ(Quoted("\"\\\b\f\n\r\t"), R"("\"\\\b\f\n\r\t")");
  EXPECT_EQ(Quoted(std::string_view("\0\x01\x1f", 3)), R"("\u0000\u0001\u001f")");
  for (size_t at = 0; at < 20; ++at) {
    std::string text(20, 'a');
    EXPECT_FALSE(NeedsEscape(text));
    for (const char c : {'"', '\\', '\n', '\x1f', '\0'}) {
      text[at] = c;
      EXPECT_TRUE(NeedsEscape(text)) << at << " " << static_cast<int>(c);
    }
    for (const char c : {' ', '!', '#', '[', ']', '\x7f', '\x80', '\xa2', '\xdc', '\xff'}) {
      text[at] = c;
      EXPECT_FALSE(NeedsEscape(text)) << at << " " << static_cast<int>(c);
    }
  }
}

TEST(TextWriterTest, TextsOfEveryLengthAreWrittenWhole) {
  std::string letters;
  for (int i = 0; i < 70; ++i) {
    letters.push_back(static_cast<char>('0' + i));
  }
  std::string wanted;
  std::string out;
  {
    TextWriter writer(out);
    for (size_t length = 0; length <= letters.size(); ++length) {
      writer.Put(std::string_view(letters).substr(0, length));
      wanted += letters.substr(0, length);
    }
  }
  EXPECT_EQ(out, wanted);
}

TEST(TextWriterTest, GrowsAndKeepsWhatItHolds) {
  std::string expected;
  const std::string out = Written([&](TextWriter& writer) {
    for (int i = 0; i < 10000; ++i) {
      writer.Put("constant");
      writer.Put(',');
      writer.PutInteger(i);
      writer.Put(std::string_view(expected).substr(0, 40));
      expected += "constant," + std::to_string(i) + expected.substr(0, 40);
    }
    EXPECT_EQ(writer.size(), expected.size() + 1);
  });
  EXPECT_EQ(out, expected);
}

TEST(TextWriterTest, OverBeginsAnew) {
  std::string storage = "something old";
  for (const std::string_view text : {"a", "longer than that", "b"}) {
    TextWriter writer = TextWriter::Over(storage);
    writer.Put(text);
    EXPECT_EQ(writer.view(), text);
    writer.KeepRoom();
  }
  EXPECT_GE(storage.size(), 16U);
  {
    TextWriter::Over(storage).Put("end");
  }
  EXPECT_EQ(storage, "end");
}

}  // namespace
}  // namespace nsys
