// SPDX-License-Identifier: MIT
// What can be told of an SQLite file, and of the files beside it, before SQLite opens it.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nsys {

// Whether a write-ahead log with something in it lies beside the file.
enum class LogBeside { kNo, kYes };

// An error when the file is shorter than its header says or has a hot rollback journal beside it.
// `path` is for messages; `target` is where it leads when symbolic links are followed.
Result<LogBeside> CheckSqliteFiles(const std::string& path, const std::string& target);

// The error for a file, or a table of it, that SQLite finds damaged.
Error DamagedSqlite(const std::string& path, std::string_view table, std::string_view detail);

}  // namespace nsys
