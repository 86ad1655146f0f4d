// SPDX-License-Identifier: MIT
// Results for people: an aligned table with units, long names cut in the middle, and the notes of
// the skill below it. Emphasis only where the caller says that a terminal shows it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/skill.h"

namespace nsys {

enum class Emphasis { kPlain, kAnsi };

struct TextStyle {
  Emphasis emphasis = Emphasis::kPlain;
  // Columns of the terminal: names are cut so that tables fit, where they can. Nothing: names of at
  // most 60.
  std::optional<size_t> line_width;
};

// The text form of the `answer` of `skill`, ending in a newline.
std::string RowsToText(const Skill& skill, const Answer& answer, const TextStyle& style);

// Left- and right-aligned columns with a rule under the header; cells hold one line each.
enum class Align { kLeft, kRight };
struct TextColumn {
  std::string header;
  Align align = Align::kLeft;
};
std::string TextTable(const std::vector<TextColumn>& columns,
                      const std::vector<std::vector<std::string>>& cells);

// The columns that such a table takes.
size_t TableWidth(std::string_view table);

}  // namespace nsys
