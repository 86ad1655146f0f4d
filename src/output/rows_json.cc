// SPDX-License-Identifier: MIT
#include "output/rows_json.h"

#include <algorithm>

namespace nsys {

List RowsToList(const Answer& answer, std::optional<int64_t> max_rows) {
  List list;
  if (answer.abstention) {
    Object row{{"_abstained", true}, {"reason", answer.abstention->reason}};
    for (const auto& [key, value] : answer.abstention->details.entries()) {
      row.Set(key, value);
    }
    list.emplace_back(std::move(row));
  } else if (answer.problem) {
    list.emplace_back(*answer.problem);
  } else {
    const size_t total = answer.rows.size();
    const size_t shown = max_rows ? std::min(total, static_cast<size_t>(*max_rows)) : total;
    list.insert(list.end(), answer.about_before.begin(), answer.about_before.end());
    list.insert(list.end(), answer.rows.begin(),
                answer.rows.begin() + static_cast<std::ptrdiff_t>(shown));
    list.insert(list.end(), answer.about.begin(), answer.about.end());
    if (shown < total) {
      list.emplace_back(
          Object{{"_truncated", true}, {"_total_rows", total}, {"_shown_rows", shown}});
    }
  }
  return list;
}

std::string RowsToJson(const Answer& answer, std::optional<int64_t> max_rows, JsonLayout layout) {
  return ToJson(RowsToList(answer, max_rows), layout) + "\n";
}

Object ErrorObject(const Error& error) {
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
  return body;
}

std::string ErrorToJson(const Error& error) {
  return ToJson(Object{{"error", ErrorObject(error)}}, JsonLayout::kOneLine) + "\n";
}

}  // namespace nsys
