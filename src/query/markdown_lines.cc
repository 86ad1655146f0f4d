// SPDX-License-Identifier: MIT
#include "query/markdown_lines.h"

#include <algorithm>

#include "base/text.h"

namespace nsys {

std::vector<Line> SplitLines(std::string_view text) {
  std::vector<Line> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    while (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    lines.push_back({.number = static_cast<int>(lines.size()) + 1, .text = line});
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string_view TrimBlanks(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  const size_t last = text.find_last_not_of(" \t");
  return first == std::string_view::npos ? std::string_view()
                                         : text.substr(first, last + 1 - first);
}

std::string OneParagraph(const std::vector<Line>& lines) {
  std::string paragraph;
  for (const Line& line : lines) {
    for (const char c : Printable(line.text)) {
      if (c != ' ' || (!paragraph.empty() && paragraph.back() != ' ')) {
        paragraph += c;
      }
    }
    if (!paragraph.empty() && paragraph.back() != ' ') {
      paragraph += ' ';
    }
  }
  return std::string(TrimBlanks(paragraph));
}

std::optional<Fence> FenceOn(std::string_view line) {
  const size_t indent = std::min(line.find_first_not_of(' '), line.size());
  line.remove_prefix(indent);
  if (indent > 3 || line.empty() || (line.front() != '`' && line.front() != '~')) {
    return std::nullopt;
  }
  const size_t length = std::min(line.find_first_not_of(line.front()), line.size());
  const std::string_view info = TrimBlanks(line.substr(length));
  const bool inline_code = line.front() == '`' && info.find('`') != std::string_view::npos;
  return length < 3 || inline_code
             ? std::nullopt
             : std::optional(Fence{.mark = line.front(), .length = length, .info = info});
}

std::optional<std::string_view> HeadingOn(std::string_view line, size_t level) {
  const std::string marks(level, '#');
  if (!line.starts_with(marks) || (line.size() > level && line[level] != ' ')) {
    return std::nullopt;
  }
  return TrimBlanks(line.substr(level));
}

std::string PlainText(std::string_view text) {
  text = TrimBlanks(text);
  while (FenceOn(text) || HeadingOn(text, 1) || HeadingOn(text, 2)) {
    text = TrimBlanks(text.substr(1));
  }
  return std::string(text);
}

}  // namespace nsys
