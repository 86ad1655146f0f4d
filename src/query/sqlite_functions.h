// SPDX-License-Identifier: MIT
// The functions of views.h in SQLite, and one for the statements of built-in skills.
#pragma once

#include <sqlite3.h>

#include <string_view>

namespace nsys {

// nsys_round(x, n): x rounded to n places (0..9), of the exact value and ties to even, as many
// skills round. SQLite's ROUND rounds ties up, and takes what is close to one for one. Null of what
// is no number.
inline constexpr std::string_view kRoundHalfEven = "nsys_round";

// False when SQLite did not take them.
bool RegisterSqliteFunctions(sqlite3* db);

}  // namespace nsys
