// SPDX-License-Identifier: MIT
// Rounding and printing of numbers. Two roundings exist because users compare our output with the
// reference's: figures that it computes in SQL round half away from zero after scaling, the others
// round the exact double to nearest, ties to even. They differ only on ties in the last digit.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace nsys {

enum class Rounding { kHalfAway, kHalfEven };

// `value` rounded to `decimals` places (0..9).
double RoundHalfAway(double value, int decimals);
double RoundHalfEven(double value, int decimals);
double Round(double value, int decimals, Rounding rounding);

// Nanoseconds as rounded milliseconds or microseconds; bytes as rounded megabytes (10^6).
double NsToMs(int64_t ns, int decimals, Rounding rounding = Rounding::kHalfEven);
double NsToUs(int64_t ns, int decimals, Rounding rounding = Rounding::kHalfEven);
double BytesToMb(int64_t bytes, int decimals, Rounding rounding = Rounding::kHalfEven);

// 100 · part / whole, rounded; nothing when `whole` is 0.
std::optional<double> Percent(int64_t part, int64_t whole, int decimals,
                              Rounding rounding = Rounding::kHalfEven);

// numerator / denominator, 0 when the denominator is 0.
double Ratio(int64_t numerator, int64_t denominator);

// The mean of `count` durations that add up to `total_ns`, rounded; 0 when there are none.
double MeanMs(int64_t total_ns, int64_t count, int decimals,
              Rounding rounding = Rounding::kHalfEven);
double MeanUs(int64_t total_ns, int64_t count, int decimals,
              Rounding rounding = Rounding::kHalfEven);

// a + b, which are not negative, or the largest number where the sum does not fit: for sums of
// figures that each fit, but of which a hostile capture may hold any number.
int64_t SaturatingAdd(int64_t a, int64_t b);

// The shortest decimal text that reads back as `value`, always with a decimal point or an exponent
// (0.0, 3e-06, 1e+20). `value` must be finite.
std::string FormatDouble(double value);

// `value` with thousands separators: 1234567 -> "1,234,567".
std::string FormatCount(int64_t value);
// The same for the decimal digits of a number of any size, with or without a minus.
std::string GroupDigits(std::string digits);

// `ns` in the unit that reads best, always two decimals: "12 ns", "2.30 us", "31.12 ms", "1.25 s".
std::string FormatDuration(int64_t ns);

// `bytes`, which is not negative, in the unit of 2^10 that reads best: "512 B", "1.50 MiB".
std::string FormatBytes(int64_t bytes);

// The whole of `text` as a base-10 integer, or nothing. Values out of range give nothing.
std::optional<int64_t> ParseInt(std::string_view text);

// The whole of `text` as a finite decimal number, or nothing.
std::optional<double> ParseFiniteDouble(std::string_view text);

}  // namespace nsys
