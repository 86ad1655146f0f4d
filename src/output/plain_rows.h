// SPDX-License-Identifier: MIT
// Rows that no skill declares, such as the result of a statement, as text, JSON and CSV.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/value.h"

namespace nsys {

struct PlainRows {
  std::vector<std::string> columns;
  std::vector<std::vector<Value>> rows;  // one value per column
  bool left_out = false;  // whether there are more rows, and how many in all if somebody counted
  std::optional<int64_t> total_rows = std::nullopt;
};

// An aligned table whose texts are cut so that it fits into `width` columns, where that is
// possible; numbers to the right. "(no rows)" below the header when there are none.
std::string PlainRowsToText(const PlainRows& rows, std::optional<size_t> width);

// A list of objects, and a last one {"_truncated", "_total_rows", "_shown_rows"} when rows were
// left out; ends in a newline.
std::string PlainRowsToJson(const PlainRows& rows, JsonLayout layout);

// The same, one object a line.
std::string PlainRowsToJsonLines(const PlainRows& rows);

// A header and one record per row (RFC 4180 quoting, \n line ends); null is empty.
std::string PlainRowsToCsv(const PlainRows& rows);

}  // namespace nsys
