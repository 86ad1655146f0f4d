// SPDX-License-Identifier: MIT
#include "base/text_writer.h"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>

#include "base/number.h"

namespace nsys {
namespace {

constexpr size_t kFirstRoom = 512;
constexpr size_t kLongestNumber = 24;

// "00" "01" … "99" in a row.
constexpr auto kTwoDigits = [] {
  std::array<char, 200> digits{};
  for (size_t i = 0; i < 100; ++i) {
    digits[2 * i] = static_cast<char>('0' + i / 10);
    digits[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return digits;
}();

constexpr auto kPowersOfTen = [] {
  std::array<uint64_t, 20> powers{};
  powers[0] = 0;  // so that 0 has one digit
  for (size_t i = 1; i < 20; ++i) {
    powers[i] = i == 1 ? 10 : 10 * powers[i - 1];
  }
  return powers;
}();

unsigned DigitCount(uint64_t value) {
  // log10 from log2: 1233/4096 is a little more than log10(2).
  const auto bits = static_cast<unsigned>(std::bit_width(value | 1));
  const unsigned guess = bits * 1233 >> 12;
  return guess + (value >= kPowersOfTen[guess] ? 1 : 0);
}

void PutPair(char* at, uint32_t pair) { std::memcpy(at, &kTwoDigits[2 * size_t{pair}], 2); }

// Eight digits, whose divisions do not wait for each other.
void PutEight(char* at, uint32_t value) {
  const uint32_t high = value / 10000;
  const uint32_t low = value % 10000;
  PutPair(at, high / 100);
  PutPair(at + 2, high % 100);
  PutPair(at + 4, low / 100);
  PutPair(at + 6, low % 100);
}

// Writes the decimal digits of `value` at `at` and returns the place behind them.
char* WriteDigits(char* at, uint64_t value) {
  constexpr uint64_t kEight = 100'000'000;
  char* const end = at + DigitCount(value);
  char* place = end;
  while (value >= kEight) {
    place -= 8;
    PutEight(place, static_cast<uint32_t>(value % kEight));
    value /= kEight;
  }
  auto rest = static_cast<uint32_t>(value);
  while (rest >= 100) {
    place -= 2;
    PutPair(place, rest % 100);
    rest /= 100;
  }
  if (rest >= 10) {
    PutPair(place - 2, rest);
  } else {
    place[-1] = static_cast<char>('0' + rest);
  }
  return end;
}

uint64_t Magnitude(int64_t value) {
  return value < 0 ? 0 - static_cast<uint64_t>(value) : static_cast<uint64_t>(value);
}

// For each byte: 0 when it stands for itself, 1 for \u00xx, else the letter behind the backslash.
constexpr auto kEscapes = [] {
  std::array<char, 256> escapes{};
  for (size_t i = 0; i < 0x20; ++i) {
    escapes[i] = 1;
  }
  escapes['"'] = '"';
  escapes['\\'] = '\\';
  escapes['\b'] = 'b';
  escapes['\f'] = 'f';
  escapes['\n'] = 'n';
  escapes['\r'] = 'r';
  escapes['\t'] = 't';
  return escapes;
}();

char EscapeOf(char c) { return kEscapes[static_cast<uint8_t>(c)]; }

// Whether any of eight bytes needs an escape (bit tricks: a byte less than 0x20, equal to a quote
// or to a backslash). Bytes from 0x80 on never count.
bool AnyEscape(uint64_t bytes) {
  constexpr uint64_t kOnes = 0x0101010101010101;
  constexpr uint64_t kHighs = 0x8080808080808080;
  const auto less = [](uint64_t x, uint64_t n) { return (x - kOnes * n) & ~x & kHighs; };
  return (less(bytes, 0x20) | less(bytes ^ (kOnes * '"'), 1) | less(bytes ^ (kOnes * '\\'), 1)) !=
         0;
}

}  // namespace

TextWriter::TextWriter(std::string& out, size_t begin) : out_(out) {
  if (out_.size() < begin + kFirstRoom) {
    out_.resize(begin + kFirstRoom);
  }
  at_ = out_.data() + begin;
  end_ = out_.data() + out_.size();
}

void TextWriter::Grow(size_t bytes) {
  const size_t used = size();
  out_.resize(std::max(2 * out_.size(), used + bytes));
  at_ = out_.data() + used;
  end_ = out_.data() + out_.size();
}

void TextWriter::PutUnsigned(uint64_t value) {
  Need(kLongestNumber);
  at_ = WriteDigits(at_, value);
}

void TextWriter::PutInteger(int64_t value) {
  Need(kLongestNumber);
  if (value < 0) {
    *at_++ = '-';
  }
  at_ = WriteDigits(at_, Magnitude(value));
}

void TextWriter::PutMicroseconds(int64_t ns) {
  Need(kLongestNumber);
  if (ns < 0) {
    *at_++ = '-';
  }
  const uint64_t magnitude = Magnitude(ns);
  at_ = WriteDigits(at_, magnitude / 1000);
  const auto rest = static_cast<uint32_t>(magnitude % 1000);
  at_[0] = '.';
  at_[1] = static_cast<char>('0' + rest / 100);
  PutPair(at_ + 2, rest % 100);
  at_ += rest % 10 != 0 ? 4 : (rest % 100 != 0 ? 3 : 2);
}

void TextWriter::PutDouble(double value) {
  const std::string text = FormatDouble(value);
  Put(std::string_view(text));
}

void TextWriter::PutEscaped(std::string_view text) {
  if (!NeedsEscape(text)) {
    Put(text);
    return;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  for (const char c : text) {
    const char escape = EscapeOf(c);
    if (escape == 0) {
      Put(c);
      continue;
    }
    Put('\\');
    if (escape != 1) {
      Put(escape);
      continue;
    }
    Put("u00");
    Put(kHex[static_cast<uint8_t>(c) >> 4]);
    Put(kHex[static_cast<uint8_t>(c) & 0xF]);
  }
}

bool NeedsEscape(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data() + i, 8);
    if (AnyEscape(bytes)) {
      return true;
    }
  }
  return std::any_of(text.begin() + static_cast<std::ptrdiff_t>(i), text.end(),
                     [](char c) { return EscapeOf(c) != 0; });
}

}  // namespace nsys
