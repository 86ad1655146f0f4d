// SPDX-License-Identifier: MIT
// Lines of Markdown: which of them are headings, and which open or close a fence.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nsys {

struct Line {
  int number = 0;  // from 1
  std::string_view text;
};
std::vector<Line> SplitLines(std::string_view text);

// `text` without blanks and tabs around it.
std::string_view TrimBlanks(std::string_view text);

// The words of all lines with one blank between.
std::string OneParagraph(const std::vector<Line>& lines);

// `text` without what would make a line that holds it alone a heading or a fence.
std::string PlainText(std::string_view text);

// A line that opens or closes a fence: its marks, and the words behind them.
struct Fence {
  char mark = '`';
  size_t length = 0;
  std::string_view info;
  bool Closes(const Fence& open) const {
    return mark == open.mark && length >= open.length && info.empty();
  }
};
std::optional<Fence> FenceOn(std::string_view line);

// The text of a heading of that level: "# name".
std::optional<std::string_view> HeadingOn(std::string_view line, size_t level);

}  // namespace nsys
