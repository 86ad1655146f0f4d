// SPDX-License-Identifier: MIT
// Words about text: case, search, UTF-8, the nearest of several names. ASCII rules throughout,
// because the texts of a capture come in no declared language.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace nsys {

// ASCII, whatever the locale.
constexpr bool IsDigit(char c) { return c >= '0' && c <= '9'; }
constexpr bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// `text` with A-Z made lower case; other bytes untouched.
std::string LowerAscii(std::string_view text);

// Whether `needle` occurs in `text`, letters A-Z compared without case. An empty needle occurs
// everywhere.
bool ContainsIgnoreCase(std::string_view text, std::string_view needle);

// `bytes` as valid UTF-8: every byte that belongs to no valid sequence becomes U+FFFD.
std::string ToValidUtf8(std::string_view bytes);

// Whether `bytes` is valid UTF-8 (no overlong forms, no surrogates, nothing above U+10FFFF).
bool IsValidUtf8(std::string_view bytes);

// `text` for a terminal: control characters (newline and escape among them) become a blank,
// so that a name from a capture can neither break a table nor talk to the terminal. Bytes that are
// not UTF-8 become U+FFFD, as in ToValidUtf8.
std::string Printable(std::string_view text);

// `text` in at most `width` columns, cut in the middle with `…`; code points count as one column.
std::string CutMiddle(std::string_view text, size_t width);

// `text` broken at blanks into lines of at most `width` columns (longer words stay whole), each
// behind `indent`, each ending in a newline.
std::string Wrapped(std::string_view text, size_t width, std::string_view indent);

// Number of code points of valid UTF-8.
size_t DisplayWidth(std::string_view text);

// The candidate that `word` most likely stands for: the nearest by edit distance (at most 2, and
// less than half of the word), else the only one that begins with it. Ties go to the first.
std::optional<std::string> NearestName(std::string_view word,
                                       std::span<const std::string> candidates);

// A number of things: "1 stream", "2,000 streams". The plural is the noun with an s.
std::string Counted(int64_t count, std::string_view noun);

// Parts joined with `separator`.
std::string Join(std::span<const std::string> parts, std::string_view separator);

// `names` made distinct: a name that came before gets _2, _3, … behind it.
std::vector<std::string> DistinctNames(const std::vector<std::string>& names);

}  // namespace nsys
