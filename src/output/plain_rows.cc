// SPDX-License-Identifier: MIT
#include "output/plain_rows.h"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.h"
#include "output/rows_lines.h"
#include "output/rows_text.h"

namespace nsys {
namespace {

bool IsNumber(const Value& value) {
  return value.AsInt() != nullptr || value.AsDouble() != nullptr;
}

std::string TextCell(const Value& value) {
  if (value.is_null()) {
    return "NULL";
  }
  if (const std::string* text = value.AsText()) {
    return *text;
  }
  return ToJson(value, JsonLayout::kOneLine);
}

std::string TableOf(const PlainRows& rows, size_t text_width) {
  std::vector<TextColumn> columns;
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    const bool numbers = std::any_of(rows.rows.begin(), rows.rows.end(),
                                     [&](const auto& row) { return IsNumber(row[i]); }) &&
                         std::all_of(rows.rows.begin(), rows.rows.end(), [&](const auto& row) {
                           return IsNumber(row[i]) || row[i].is_null();
                         });
    columns.push_back({CutMiddle(Printable(rows.columns[i]), text_width),
                       numbers ? Align::kRight : Align::kLeft});
  }
  std::vector<std::vector<std::string>> cells;
  for (const std::vector<Value>& row : rows.rows) {
    std::vector<std::string>& line = cells.emplace_back();
    for (const Value& value : row) {
      line.push_back(CutMiddle(Printable(TextCell(value)), text_width));
    }
  }
  return TextTable(columns, cells);
}

// Hands over each row as an object, then the one about rows left out.
template <typename Sink>
void EachObject(const PlainRows& rows, const Sink& sink) {
  const std::vector<std::string> names = DistinctNames(rows.columns);
  for (const std::vector<Value>& row : rows.rows) {
    Object object;
    for (size_t i = 0; i < names.size(); ++i) {
      object.Set(names[i], row[i]);
    }
    sink(Value(std::move(object)));
  }
  if (rows.left_out) {
    sink(Value(Object{{"_truncated", true},
                      {"_total_rows", rows.total_rows},
                      {"_shown_rows", rows.rows.size()}}));
  }
}

}  // namespace

std::string PlainRowsToText(const PlainRows& rows, std::optional<size_t> width) {
  constexpr size_t kUsualText = 60;
  constexpr size_t kLongestText = 160;
  constexpr size_t kShortestText = 16;
  std::string table;
  for (size_t text_width = width ? kLongestText : kUsualText; text_width >= kShortestText;
       text_width -= 12) {
    table = TableOf(rows, text_width);
    if (!width || TableWidth(table) <= *width) {
      break;
    }
  }
  return table + (rows.rows.empty() ? "(no rows)\n" : "");
}

std::string PlainRowsToJson(const PlainRows& rows, JsonLayout layout) {
  const bool indented = layout == JsonLayout::kIndented;
  std::string text;
  EachObject(rows, [&](const Value& object) {
    text += text.empty() ? (indented ? "[\n  " : "[") : (indented ? ",\n  " : ", ");
    for (const char c : ToJson(object, layout)) {
      text += c;
      if (c == '\n') {
        text += "  ";  // line breaks inside texts are escaped
      }
    }
  });
  return text.empty() ? "[]\n" : text + (indented ? "\n]\n" : "]\n");
}

std::string PlainRowsToJsonLines(const PlainRows& rows) {
  std::string text;
  EachObject(rows,
             [&](const Value& object) { text += ToJson(object, JsonLayout::kOneLine) + "\n"; });
  return text;
}

std::string PlainRowsToCsv(const PlainRows& rows) {
  std::string text;
  for (size_t i = 0; i < rows.columns.size(); ++i) {
    text += (i == 0 ? "" : ",") + CsvField(rows.columns[i]);
  }
  text += "\n";
  for (const std::vector<Value>& row : rows.rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      text += (i == 0 ? "" : ",") + CsvCell(&row[i]);
    }
    text += "\n";
  }
  return text;
}

}  // namespace nsys
