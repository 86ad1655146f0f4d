// SPDX-License-Identifier: MIT
// Results for other programs: one JSON object per line, or comma-separated values.
#pragma once

#include <string>
#include <string_view>

#include "analysis/skill.h"

namespace nsys {

// Every row, and every row about the data, as one line of JSON. An abstention is one line, too.
std::string RowsToJsonLines(const Answer& answer);

// A header and one record per data row (RFC 4180 quoting, \n line ends): the declared columns of
// `skill` that occur in the rows, or all keys where it declares none. Nested cells are JSON; null
// is empty. Rows about the data are left out.
std::string RowsToCsv(const Skill& skill, const Answer& answer);

// One field of such a record: a text, or any value (null, and no value, are empty).
std::string CsvField(std::string_view text);
std::string CsvCell(const Value* value);

}  // namespace nsys
