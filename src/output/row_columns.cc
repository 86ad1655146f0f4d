// SPDX-License-Identifier: MIT
#include "output/row_columns.h"

#include <algorithm>

namespace nsys {

std::vector<ColumnSpec> ColumnsOf(const Skill& skill, const Answer& answer) {
  if (!skill.columns.empty()) {
    return skill.columns;
  }
  std::vector<ColumnSpec> columns;
  for (size_t position = 0; position < answer.keys.size(); ++position) {
    const std::string& key = answer.keys[position];
    const auto is_number = [&](const Object& row) {
      // Rows have all keys, in their order.
      const Value& value = row.entries()[position].second;
      return value.is_null() || value.AsInt() != nullptr || value.AsDouble() != nullptr;
    };
    const bool numbers = std::all_of(answer.rows.begin(), answer.rows.end(), is_number);
    columns.push_back(
        {.key = key, .unit = numbers ? Unit::kId : Unit::kText, .doc = "", .header = key});
  }
  return columns;
}

}  // namespace nsys
