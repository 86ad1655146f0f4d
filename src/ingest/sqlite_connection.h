// SPDX-License-Identifier: MIT
// A capture's SQLite file, opened in ways that create nothing beside it: as immutable when it
// stands alone, with a private index when there is a write-ahead log too. Owners of SQLite's
// handles.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "base/result.h"
#include "ingest/input_files.h"

namespace nsys {

struct CloseSqlite {
  void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
};
using SqliteDatabase = std::unique_ptr<sqlite3, CloseSqlite>;

struct FinalizeSqlite {
  void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
};
using SqliteStatement = std::unique_ptr<sqlite3_stmt, FinalizeSqlite>;

class SqliteFile {
 public:
  // An error when the file is truncated or in the middle of a transaction.
  static Result<SqliteFile> Open(const std::string& path);

  const std::string& path() const { return path_; }
  // The file, and the log that lies beside it.
  const InputFiles& inputs() const { return inputs_; }
  // Where `path` leads when symbolic links are followed.
  const std::string& target() const { return target_; }
  // Whether a write-ahead log lies beside it.
  bool has_log() const { return has_log_; }

  // A read-only connection for one thread at a time; several may be open at once. One `for_queries`
  // may need temporary files, and keeps them in memory.
  Result<SqliteDatabase> Connect(bool for_queries = false) const;

  // What went wrong last on `db`, a connection to this file, while reading `table` (or something
  // else, when empty).
  Error ReadError(std::string_view table, sqlite3* db) const;

 private:
  SqliteFile(std::string path, std::string target, bool has_log, InputFiles inputs)
      : path_(std::move(path)),
        target_(std::move(target)),
        has_log_(has_log),
        inputs_(std::move(inputs)) {}

  std::string path_;    // as given, for messages
  std::string target_;  // without symbolic links
  bool has_log_;
  InputFiles inputs_;
};

}  // namespace nsys
