// SPDX-License-Identifier: MIT
#include "ingest/row_hint.h"

#include <fmt/format.h>

#include "base/text.h"

namespace nsys {

std::string ConditionOf(const RowHint& hint) {
  constexpr size_t kMostIds = 1000;
  if (hint.ids.size() > kMostIds || hint.prefix.empty()) {
    return "";
  }
  std::vector<std::string> parts;
  if (!hint.text.empty()) {
    std::string after = hint.prefix;  // the first text behind all that begin with the prefix
    ++after.back();
    parts.push_back(
        fmt::format(R"(("{0}" >= '{1}' AND "{0}" < '{2}'))", hint.text, hint.prefix, after));
  }
  if (!hint.text_id.empty() && !hint.ids.empty()) {
    std::vector<std::string> ids;
    for (const int64_t id : hint.ids) {
      ids.push_back(std::to_string(id));
    }
    parts.push_back(fmt::format(R"("{}" IN ({}))", hint.text_id, Join(ids, ",")));
  }
  return parts.empty() ? "" : fmt::format(" WHERE {}", Join(parts, " OR "));
}

}  // namespace nsys
