// SPDX-License-Identifier: MIT
#include "output/rows_text.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/json.h"
#include "base/number.h"
#include "base/text.h"
#include "output/row_columns.h"

namespace nsys {
namespace {

std::string Strong(std::string_view text, const TextStyle& style) {
  return style.emphasis == Emphasis::kAnsi ? fmt::format("\x1b[1m{}\x1b[0m", text)
                                           : std::string(text);
}

std::string RealCell(Unit unit, double value) {
  switch (unit) {
    case Unit::kMs:
      return fmt::format("{:.2f} ms", value);
    case Unit::kUs:
      return fmt::format("{:.1f} us", value);
    case Unit::kSeconds:
      return fmt::format("{:.4f} s", value);
    case Unit::kPct:
      return fmt::format("{:.1f} %", value);
    case Unit::kMb:
    case Unit::kGbps:
      return fmt::format("{:.2f}", value);
    case Unit::kKb:
      return fmt::format("{:.1f}", value);
    default:
      return FormatDouble(value);
  }
}

// Integers that count get thousands separators; ids and times stay as they are, to be copied.
std::string PlainCell(const ColumnSpec& column, const Value& value) {
  if (value.is_null()) {
    return "-";
  }
  if (const bool* flag = value.AsBool()) {
    return *flag ? "yes" : "no";
  }
  if (const std::string* text = value.AsText()) {
    return *text;
  }
  if (const double* real = value.AsDouble()) {
    return RealCell(column.unit, *real);
  }
  if (const int64_t* integer = value.AsInt()) {
    if (column.unit == Unit::kPct) {
      return RealCell(column.unit, static_cast<double>(*integer));
    }
    const bool grouped = column.unit == Unit::kCount || column.unit == Unit::kNs;
    return grouped ? FormatCount(*integer) : std::to_string(*integer);
  }
  if (const BigInteger* big = value.AsBigInteger(); big != nullptr && column.unit == Unit::kCount) {
    return GroupDigits(big->digits);
  }
  return ToJson(value, JsonLayout::kOneLine);
}

std::string Cell(const ColumnSpec& column, const Object& row, size_t name_width) {
  const Value* value = row.Find(column.key);
  if (column.render == nullptr && value == nullptr) {
    return "";
  }
  const std::string text =
      column.render != nullptr ? column.render(row) : PlainCell(column, *value);
  // Names are cut, sentences are not.
  return column.unit == Unit::kText ? CutMiddle(Printable(text), name_width) : Printable(text);
}

Align AlignOf(const ColumnSpec& column) {
  const bool words =
      column.unit == Unit::kText || column.unit == Unit::kNested || column.unit == Unit::kFlag;
  return words ? Align::kLeft : Align::kRight;
}

std::string RowsTable(const std::vector<ColumnSpec>& specs, const Answer& answer,
                      size_t name_width) {
  std::vector<const ColumnSpec*> shown;
  for (const ColumnSpec& column : specs) {
    if (!column.header.empty()) {
      shown.push_back(&column);
    }
  }
  std::vector<TextColumn> columns;
  for (const ColumnSpec* column : shown) {
    columns.push_back({Printable(column->header), AlignOf(*column)});
  }
  std::vector<std::vector<std::string>> cells;
  for (const Object& row : answer.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (const ColumnSpec* column : shown) {
      line.push_back(Cell(*column, row, name_width));
    }
  }
  return TextTable(columns, cells);
}

// The table with names as long as the terminal has room for.
std::string FittedTable(const Skill& skill, const Answer& answer, const TextStyle& style) {
  const std::vector<ColumnSpec> specs = ColumnsOf(skill, answer);
  constexpr size_t kUsualNames = 60;
  constexpr size_t kLongestNames = 160;
  constexpr size_t kShortestNames = 24;
  if (!style.line_width) {
    return RowsTable(specs, answer, kUsualNames);
  }
  std::string table;
  for (size_t name_width = kLongestNames; name_width >= kShortestNames; name_width -= 8) {
    table = RowsTable(specs, answer, name_width);
    if (TableWidth(table) <= *style.line_width) {
      break;
    }
  }
  return table;
}

// Each row as lines of a heading and its value.
std::string FieldsText(const Skill& skill, const Answer& answer) {
  constexpr size_t kLongestName = 160;
  size_t width = 0;
  for (const ColumnSpec& column : skill.columns) {
    width = std::max(width, DisplayWidth(column.header));
  }
  std::string text;
  for (const Object& row : answer.rows) {
    text += text.empty() ? "" : "\n";
    for (const ColumnSpec& column : skill.columns) {
      if (column.header.empty() || (column.render == nullptr && row.Find(column.key) == nullptr)) {
        continue;
      }
      const std::string padding(width - DisplayWidth(column.header), ' ');
      text += fmt::format("{}{}  {}\n", column.header, padding, Cell(column, row, kLongestName));
    }
  }
  return text;
}

std::string Body(const Skill& skill, const Answer& answer, const TextStyle& style) {
  if (answer.rows.empty()) {
    return fmt::format("({})\n", skill.empty_text);
  }
  if (skill.report != nullptr) {
    return skill.report(answer);
  }
  return skill.text_form == TextForm::kFields ? FieldsText(skill, answer)
                                              : FittedTable(skill, answer, style);
}

// `error` is a sentence, or an object with a code and a message.
std::string ProblemText(const Skill& skill, const Object& problem) {
  const Value& error = *problem.Find("error");
  const Object* coded = error.AsObject();
  const Value* words = coded == nullptr ? &error : coded->Find("message");
  std::string text = fmt::format("{}: {}\n", skill.title, Printable(*words->AsText()));
  if (const Value* hint = problem.Find("hint")) {
    text += fmt::format("\n{}\n", Printable(*hint->AsText()));
  }
  return text;
}

}  // namespace

std::string TextTable(const std::vector<TextColumn>& columns,
                      const std::vector<std::vector<std::string>>& cells) {
  std::vector<size_t> widths;
  for (size_t c = 0; c < columns.size(); ++c) {
    size_t width = DisplayWidth(columns[c].header);
    for (const auto& line : cells) {
      width = std::max(width, DisplayWidth(line[c]));
    }
    widths.push_back(width);
  }
  std::string out;
  const auto add_line = [&](const auto& text_of) {
    std::string line;
    for (size_t c = 0; c < columns.size(); ++c) {
      const std::string text = text_of(c);
      const std::string padding(widths[c] - std::min(widths[c], DisplayWidth(text)), ' ');
      if (c > 0) {
        line += "  ";
      }
      line += columns[c].align == Align::kRight ? padding + text : text + padding;
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  };
  add_line([&](size_t c) { return columns[c].header; });
  add_line([&](size_t c) { return std::string(widths[c], '-'); });
  for (const auto& line : cells) {
    add_line([&](size_t c) { return line[c]; });
  }
  return out;
}

size_t TableWidth(std::string_view table) {
  // The rule under the header is as wide as the table.
  const size_t rule = table.find('\n') + 1;
  return table.find('\n', rule) - rule;
}

std::string RowsToText(const Skill& skill, const Answer& answer, const TextStyle& style) {
  if (answer.abstention) {
    return fmt::format("{}: not applicable to this profile.\n\n{}\n", skill.title,
                       Printable(answer.abstention->reason));
  }
  if (answer.problem) {
    return ProblemText(skill, *answer.problem);
  }
  std::string text = Strong(skill.title, style) + "\n\n";
  text += Body(skill, answer, style);
  if (!answer.notes.empty()) {
    text += "\n";
  }
  for (const std::string& note : answer.notes) {
    text += Printable(note) + "\n";
  }
  return text;
}

}  // namespace nsys
