// SPDX-License-Identifier: MIT
#include "output/rows_json.h"

#include <algorithm>

namespace nsys {

List RowsToList(const Rows& rows, std::optional<int64_t> max_rows) {
  List list;
  if (rows.abstention) {
    Object row{{"_abstained", true}, {"reason", rows.abstention->reason}};
    for (const auto& [key, value] : rows.abstention->details.entries()) {
      row.Set(key, value);
    }
    list.emplace_back(std::move(row));
  } else if (rows.problem) {
    list.emplace_back(*rows.problem);
  } else {
    const size_t total = rows.rows.size();
    const size_t shown = max_rows ? std::min(total, static_cast<size_t>(*max_rows)) : total;
    list.insert(list.end(), rows.rows.begin(),
                rows.rows.begin() + static_cast<std::ptrdiff_t>(shown));
    list.insert(list.end(), rows.extra_rows.begin(), rows.extra_rows.end());
    if (shown < total) {
      list.emplace_back(
          Object{{"_truncated", true}, {"_total_rows", total}, {"_shown_rows", shown}});
    }
  }
  return list;
}

std::string RowsToJson(const Rows& rows, std::optional<int64_t> max_rows, JsonLayout layout) {
  return ToJson(RowsToList(rows, max_rows), layout) + "\n";
}

std::string ErrorToJson(const Error& error) {
  Object body{{"code", ErrorCodeName(error.code)}, {"message", error.message}};
  for (const auto& [key, detail] : error.details) {
    if (const auto* text = std::get_if<std::string>(&detail)) {
      body.Set(key, *text);
    } else {
      const auto& texts = std::get<std::vector<std::string>>(detail);
      body.Set(key, List(texts.begin(), texts.end()));
    }
  }
  if (!error.hint.empty()) {
    body.Set("hint", error.hint);
  }
  return ToJson(Object{{"error", std::move(body)}}, JsonLayout::kOneLine) + "\n";
}

}  // namespace nsys
