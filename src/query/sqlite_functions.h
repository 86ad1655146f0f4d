// SPDX-License-Identifier: MIT
// The functions of views.h in SQLite.
#pragma once

#include <sqlite3.h>

namespace nsys {

// False when SQLite did not take them.
bool RegisterSqliteFunctions(sqlite3* db);

}  // namespace nsys
