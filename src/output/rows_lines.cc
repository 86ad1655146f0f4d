// SPDX-License-Identifier: MIT
#include "output/rows_lines.h"

#include <algorithm>

#include "base/json.h"
#include "base/text.h"
#include "output/row_columns.h"
#include "output/rows_json.h"

namespace nsys {
std::string CsvField(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) {
    return ToValidUtf8(text);
  }
  std::string quoted = "\"";
  for (const char c : ToValidUtf8(text)) {
    if (c == '"') {
      quoted += '"';
    }
    quoted += c;
  }
  return quoted + '"';
}

std::string CsvCell(const Value* value) {
  if (value == nullptr || value->is_null()) {
    return "";
  }
  if (const std::string* text = value->AsText()) {
    return CsvField(*text);
  }
  return CsvField(ToJson(*value, JsonLayout::kOneLine));
}

std::string RowsToJsonLines(const Answer& answer) {
  std::string text;
  for (const Value& row : RowsToList(answer, std::nullopt)) {
    text += ToJson(row, JsonLayout::kOneLine) + "\n";
  }
  return text;
}

std::string RowsToCsv(const Skill& skill, const Answer& answer) {
  std::vector<std::string_view> keys;
  for (const ColumnSpec& column : ColumnsOf(skill, answer)) {
    const auto has = [&](const Object& row) { return row.Find(column.key) != nullptr; };
    if (answer.rows.empty() || std::any_of(answer.rows.begin(), answer.rows.end(), has)) {
      keys.push_back(column.key);
    }
  }
  std::string text;
  for (const std::string_view key : keys) {
    text += (key == keys.front() ? "" : ",") + CsvField(key);
  }
  text += "\n";
  for (const Object& row : answer.rows) {
    for (const std::string_view key : keys) {
      text += (key == keys.front() ? "" : ",") + CsvCell(row.Find(key));
    }
    text += "\n";
  }
  return text;
}

}  // namespace nsys
