// SPDX-License-Identifier: MIT
// SQLite as an engine for statements of the user: checks, binds and runs one, and turns what SQLite
// says into errors that name the cause.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/sqlite_connection.h"
#include "query/sql_session.h"
#include "query/sqlite_sandbox.h"

namespace nsys {

class SqliteEngine {
 public:
  // `db` holds the tables of `schema`, and the short views. `read_error` explains damage of the
  // file behind it.
  using ReadErrorFn = std::function<Error(sqlite3* db)>;
  SqliteEngine(SqliteDatabase db, const Schema& schema, ReadErrorFn read_error);

  sqlite3* db() const { return db_.get(); }
  StopSign& stop() { return stop_; }

  // The one statement in `text`, prepared inside the sandbox.
  Result<SqliteStatement> Prepare(std::string_view text);

  // Binds the parameters of a prepared statement.
  Status Bind(sqlite3_stmt* statement, const SqlStatement& given) const;

  // Runs it to the end, inside the sandbox.
  Result<SqlRows> Fetch(sqlite3_stmt* statement, const SqlLimits& limits);

  // The error behind SQLite's result `code`.
  Error Explain(int code, const SqlLimits& limits) const;

 private:
  Result<SqliteStatement> PrepareGuarded(const std::string& text);
  std::string HintFor(const std::string& message) const;

  SqliteDatabase db_;
  std::vector<std::string> tables_;
  std::vector<std::string> views_;
  StopSign stop_;
  SqliteGate gate_;
  ReadErrorFn read_error_;
};

// The statement that SHOW TABLES and DESCRIBE stand for; any other text as it is.
std::string TranslateForSqlite(std::string_view text);

}  // namespace nsys
