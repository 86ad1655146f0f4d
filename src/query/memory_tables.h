// SPDX-License-Identifier: MIT
// The tables of a capture as SQLite tables in memory: first without rows, so that statements can be
// prepared, then filled with those columns that a statement reads. Row numbers (rowid) follow the
// order of the file's rows.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/sqlite_connection.h"
#include "ingest/table_source.h"

namespace nsys {

// A database in memory for the tables below.
Result<SqliteDatabase> OpenMemoryDatabase();

class MemoryTables {
 public:
  MemoryTables(sqlite3* db, const std::vector<SourceTable>& tables) : db_(db), tables_(tables) {}

  Status CreateEmpty();

  // Which columns of which tables the prepared text reads, told by the program that SQLite makes of
  // it. A table may occur without columns: then only the number of its rows matters.
  using Columns = std::map<std::string, std::set<size_t>>;  // table: positions of columns
  Result<Columns> ReadBy(const std::string& text) const;

  // Fills what is wanted and not there yet. `stop` ends the loading early: the tables are not to be
  // used then.
  Status Load(const Columns& wanted, const TableSource& source, const std::function<bool()>& stop);

 private:
  Status Execute(const std::string& sql) const;
  Status Create(const SourceTable& table, bool keyed) const;
  Result<bool> Fill(const SourceTable& table, const std::set<size_t>& columns,
                    const TableSource& source, const std::function<bool()>& stop);

  sqlite3* db_;
  const std::vector<SourceTable>& tables_;
  Columns loaded_;
  std::set<std::string> keyless_;  // tables whose key does not hold
};

}  // namespace nsys
