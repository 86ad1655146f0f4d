// SPDX-License-Identifier: MIT
// Results as JSON: the array of rows that agents and scripts read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/skill.h"
#include "base/json.h"
#include "base/result.h"

namespace nsys {

// The rows of `answer` as a list. With `max_rows`, at most that many data rows, all rows about the
// data, and a last row {"_truncated", "_total_rows", "_shown_rows"} that counts data rows. An
// abstention is one row {"_abstained": true, "reason", …}.
List RowsToList(const Answer& answer, std::optional<int64_t> max_rows);

// That list as JSON text with a final newline.
std::string RowsToJson(const Answer& answer, std::optional<int64_t> max_rows,
                       JsonLayout layout = JsonLayout::kIndented);

// {"code", "message", …, "hint"}.
Object ErrorObject(const Error& error);

// {"error": {"code", "message", …, "hint"}} on one line with a final newline.
std::string ErrorToJson(const Error& error);

}  // namespace nsys
