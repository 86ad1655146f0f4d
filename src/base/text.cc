// SPDX-License-Identifier: MIT
#include "base/text.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <set>

#include "base/number.h"

#include <fmt/core.h>

namespace nsys {
namespace {

char LowerByte(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Length of the valid UTF-8 sequence at the front of `bytes`, 0 when there is none.
size_t SequenceLength(std::string_view bytes) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  const uint8_t lead = byte(0);
  if (lead < 0x80) {
    return 1;
  }
  const size_t length = lead >= 0xF0 && lead <= 0xF4  ? 4
                        : lead >= 0xE0 && lead < 0xF0 ? 3
                        : lead >= 0xC2 && lead < 0xE0 ? 2
                                                      : 0;
  if (length == 0 || bytes.size() < length) {
    return 0;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0) != 0x80) {
      return 0;
    }
  }
  const uint8_t second = byte(1);
  const bool overlong = (lead == 0xE0 && second < 0xA0) || (lead == 0xF0 && second < 0x90);
  const bool surrogate = lead == 0xED && second >= 0xA0;
  const bool beyond = lead == 0xF4 && second >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

// Length of ASCII at the front of `bytes`: all of it when there is nothing else.
size_t AsciiPrefix(std::string_view bytes) {
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  constexpr size_t kWord = sizeof(uint64_t);
  const auto is_ascii = [&](size_t at) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, kWord);
    return (word & kHighBits) == 0;
  };
  size_t at = 0;
  while (at + kWord <= bytes.size() && is_ascii(at)) {
    at += kWord;
  }
  if (at >= kWord && bytes.size() - at < kWord && is_ascii(bytes.size() - kWord)) {
    return bytes.size();  // the last word overlaps the one before
  }
  while (at < bytes.size() && static_cast<uint8_t>(bytes[at]) < 0x80) {
    ++at;
  }
  return at;
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) {
    row[j] = j;
  }
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t substituted = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substituted});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string LowerAscii(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), LowerByte);
  return lower;
}

bool ContainsIgnoreCase(std::string_view text, std::string_view needle) {
  const auto equal = [](char a, char b) { return LowerByte(a) == LowerByte(b); };
  return std::search(text.begin(), text.end(), needle.begin(), needle.end(), equal) != text.end() ||
         needle.empty();
}

bool IsValidUtf8(std::string_view bytes) {
  for (;;) {
    bytes.remove_prefix(AsciiPrefix(bytes));
    if (bytes.empty()) {
      return true;
    }
    const size_t length = SequenceLength(bytes);
    if (length == 0) {
      return false;
    }
    bytes.remove_prefix(length);
  }
}

std::string ToValidUtf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  while (!bytes.empty()) {
    const size_t length = SequenceLength(bytes);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      bytes.remove_prefix(1);
      continue;
    }
    out += bytes.substr(0, length);
    bytes.remove_prefix(length);
  }
  return out;
}

std::string Printable(std::string_view text) {
  std::string out = ToValidUtf8(text);
  for (size_t i = 0; i < out.size(); ++i) {
    const auto byte = static_cast<uint8_t>(out[i]);
    if (byte < 0x20 || byte == 0x7F) {
      out[i] = ' ';
    }
    // U+0080..U+009F are control characters too; some terminals obey them.
    if (byte == 0xC2 && i + 1 < out.size() && static_cast<uint8_t>(out[i + 1]) < 0xA0) {
      out.replace(i, 2, " ");
    }
  }
  return out;
}

std::string Wrapped(std::string_view text, size_t width, std::string_view indent) {
  std::string out;
  std::string line;
  const auto end_line = [&] {
    out.append(indent).append(line).append("\n");
    line.clear();
  };
  for (size_t at = 0; at < text.size();) {
    const size_t begin = std::min(text.find_first_not_of(' ', at), text.size());
    const size_t end = std::min(text.find(' ', begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (!line.empty() && DisplayWidth(line) + 1 + DisplayWidth(word) > width) {
      end_line();
    }
    line.append(line.empty() || word.empty() ? "" : " ").append(word);
    at = end;
  }
  if (!line.empty()) {
    end_line();
  }
  return out;
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(
      text.begin(), text.end(), [](char c) { return (static_cast<uint8_t>(c) & 0xC0) != 0x80; }));
}

std::string CutMiddle(std::string_view text, size_t width) {
  const size_t length = DisplayWidth(text);
  if (length <= width || width < 3) {
    return std::string(text);
  }
  const size_t head = width / 2;
  const size_t tail = width - head - 1;
  std::string out;
  size_t column = 0;
  for (const char c : text) {
    const bool starts = (static_cast<uint8_t>(c) & 0xC0) != 0x80;
    if (starts) {
      ++column;  // 1-based column of the code point at hand
    }
    if (starts && column == head + 1) {
      out += "…";
    }
    if (column <= head || column > length - tail) {
      out += c;
    }
  }
  return out;
}

std::optional<std::string> NearestName(std::string_view word,
                                       std::span<const std::string> candidates) {
  std::optional<std::string> best;
  size_t best_distance = 3;
  for (const std::string& candidate : candidates) {
    const size_t distance = EditDistance(LowerAscii(word), LowerAscii(candidate));
    if (distance < best_distance && distance * 2 < std::max<size_t>(word.size(), 2)) {
      best = candidate;
      best_distance = distance;
    }
  }
  if (best || word.size() < 2) {
    return best;
  }
  for (const std::string& candidate : candidates) {
    if (!candidate.starts_with(word)) {
      continue;
    }
    if (best) {
      return std::nullopt;  // two candidates begin with it: no guess
    }
    best = candidate;
  }
  return best;
}

std::string Counted(int64_t count, std::string_view noun) {
  return FormatCount(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

std::string Join(std::span<const std::string> parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) {
      out += separator;
    }
    out += part;
  }
  return out;
}

std::vector<std::string> DistinctNames(const std::vector<std::string>& names) {
  std::set<std::string> taken(names.begin(), names.end());
  std::set<std::string> used;
  std::vector<std::string> distinct;
  for (const std::string& name : names) {
    std::string candidate = name;
    for (int n = 2; used.contains(candidate) || (candidate != name && taken.contains(candidate));
         ++n) {
      candidate = fmt::format("{}_{}", name, n);
    }
    used.insert(candidate);
    distinct.push_back(candidate);
  }
  return distinct;
}

}  // namespace nsys
