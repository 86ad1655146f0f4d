// SPDX-License-Identifier: MIT
#include "base/number.h"

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include <fmt/core.h>

namespace nsys {
namespace {

double PowerOfTen(int exponent) {
  static constexpr std::array<double, 10> kPowers = {1,   1e1, 1e2, 1e3, 1e4,
                                                     1e5, 1e6, 1e7, 1e8, 1e9};
  return kPowers[static_cast<size_t>(exponent)];
}

}  // namespace

double RoundHalfAway(double value, int decimals) {
  const double scale = PowerOfTen(decimals);
  const double scaled = value * scale;
  return std::isfinite(scaled) ? std::round(scaled) / scale : value;
}

double RoundHalfEven(double value, int decimals) {
  if (!std::isfinite(value)) {
    return value;
  }
  // The decimal printer rounds the exact binary value, which is what "correctly rounded" means.
  std::array<char, 400> text;
  const auto printed = std::to_chars(text.data(), text.data() + text.size(), value,
                                     std::chars_format::fixed, decimals);
  double rounded = value;
  std::from_chars(text.data(), printed.ptr, rounded);
  return rounded == 0 ? 0.0 : rounded;
}

double Round(double value, int decimals, Rounding rounding) {
  return rounding == Rounding::kHalfAway ? RoundHalfAway(value, decimals)
                                         : RoundHalfEven(value, decimals);
}

double NsToMs(int64_t ns, int decimals, Rounding rounding) {
  return Round(static_cast<double>(ns) / 1e6, decimals, rounding);
}

double NsToUs(int64_t ns, int decimals, Rounding rounding) {
  return Round(static_cast<double>(ns) / 1e3, decimals, rounding);
}

double BytesToMb(int64_t bytes, int decimals, Rounding rounding) {
  return Round(static_cast<double>(bytes) / 1e6, decimals, rounding);
}

std::optional<double> Percent(int64_t part, int64_t whole, int decimals, Rounding rounding) {
  if (whole == 0) {
    return std::nullopt;
  }
  return Round(100.0 * static_cast<double>(part) / static_cast<double>(whole), decimals, rounding);
}

double Ratio(int64_t numerator, int64_t denominator) {
  return denominator == 0 ? 0 : static_cast<double>(numerator) / static_cast<double>(denominator);
}

double MeanMs(int64_t total_ns, int64_t count, int decimals, Rounding rounding) {
  return Round(Ratio(total_ns, count) / 1e6, decimals, rounding);
}

double MeanUs(int64_t total_ns, int64_t count, int decimals, Rounding rounding) {
  return Round(Ratio(total_ns, count) / 1e3, decimals, rounding);
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();
  return a > kLargest - b ? kLargest : a + b;
}

std::string FormatDouble(double value) {
  std::array<char, 32> buffer;
  const double magnitude = std::fabs(value);
  const bool fixed = magnitude == 0 || (magnitude >= 1e-4 && magnitude < 1e16);
  const auto format = fixed ? std::chars_format::fixed : std::chars_format::scientific;
  const auto printed = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format);
  std::string text(buffer.data(), printed.ptr);
  if (fixed && text.find('.') == std::string::npos) {
    text += ".0";
  }
  return text;
}

std::string FormatCount(int64_t value) { return GroupDigits(std::to_string(value)); }

std::string GroupDigits(std::string digits) {
  const size_t sign = digits.starts_with('-') ? 1 : 0;
  for (size_t i = digits.size(); i > sign + 3;) {
    i -= 3;
    digits.insert(i, ",");
  }
  return digits;
}

std::string FormatDuration(int64_t ns) {
  const double magnitude = std::fabs(static_cast<double>(ns));
  if (magnitude < 1e3) {
    return std::to_string(ns) + " ns";
  }
  if (magnitude < 1e6) {
    return fmt::format("{:.2f} us", static_cast<double>(ns) / 1e3);
  }
  if (magnitude < 1e9) {
    return fmt::format("{:.2f} ms", static_cast<double>(ns) / 1e6);
  }
  return fmt::format("{:.2f} s", static_cast<double>(ns) / 1e9);
}

std::string FormatBytes(int64_t bytes) {
  if (bytes < 1024) {
    return fmt::format("{} B", bytes);
  }
  constexpr std::string_view kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  double amount = static_cast<double>(bytes) / 1024;
  for (; amount >= 1024 && unit + 1 < std::size(kUnits); ++unit) {
    amount /= 1024;
  }
  return fmt::format("{:.2f} {}", amount, kUnits[unit]);
}

std::optional<int64_t> ParseInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return value;
}

std::optional<double> ParseFiniteDouble(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
  }
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size()) {
    return std::nullopt;
  }
  return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

}  // namespace nsys
