// SPDX-License-Identifier: MIT
// The SQLite form of a capture, read by pages: the schema comes from SQLite, the rows straight from
// the mapped file. What cannot be read so, SQLite reads.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ingest/table_source.h"

namespace nsys {

enum class SqliteReader {
  kAuto,    // pages, and SQLite for what cannot be read so
  kPages,   // an error for what cannot be read by pages
  kSqlite,  // SQLite alone
};

// Opens `path`, which is known to begin like an SQLite file. The rows depend on neither `reader`
// nor `threads`.
Result<std::unique_ptr<TableSource>> OpenSqliteAs(const std::string& path, SqliteReader reader,
                                                  int threads);

}  // namespace nsys
