// SPDX-License-Identifier: MIT
// SQL over a capture: one read-only statement at a time, under limits, the same answer whatever the
// format of the capture. SQLite's engine is the contract: its syntax and semantics over the
// original table names and the short views (views.h). DuckDB's engine answers heavy questions over
// the same names in its own dialect.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/value.h"

namespace nsys {

enum class SqlEngine { kSqlite, kDuckdb };

// What a statement may use before it is stopped with an error that names the limit.
struct SqlLimits {
  int64_t max_rows = 1'000'000;
  int64_t max_bytes = int64_t{4} << 30;  // of memory, tables that had to be loaded included
  int64_t timeout_ms = 300'000;
  // When set: only so many rows are kept, the others are counted, and reaching max_rows ends the
  // statement without an error.
  std::optional<int64_t> keep_rows = std::nullopt;
};

struct SqlStatement {
  std::string text;  // one statement: SELECT, WITH, VALUES, EXPLAIN or PRAGMA table_info
  // Values of the named parameters `:name`, without the colon. All parameters must be bound.
  std::vector<std::pair<std::string, Value>> bindings;
};

struct SqlColumn {
  std::string name;
  std::string type;  // INTEGER, REAL, TEXT or BLOB as declared or seen first; may be empty
};

struct SqlRows {
  std::vector<SqlColumn> columns;
  std::vector<std::vector<Value>> rows;  // one Value per column; blobs as lower-case hex text
  std::optional<int64_t> total_rows = std::nullopt;  // kept or not; nothing: more than max_rows
};

// A capture opened for SQL. Not thread-safe, apart from Interrupt.
class SqlSession {
 public:
  // Opens the capture at `path`, in any format that OpenCapture knows. The file is opened read-only
  // and nothing is written anywhere; `threads` 0 means one per core.
  static Result<std::unique_ptr<SqlSession>> Open(const std::string& path, SqlEngine engine,
                                                  int threads);
  virtual ~SqlSession() = default;

  // Names of the capture's own tables, in byte order.
  virtual std::vector<std::string> Tables() const = 0;

  // Runs one statement. Errors: ErrorCode::kSql for what the engine or the sandbox refuses, with
  // the engine's words and a hint where the fault is known (a table that the capture lacks, a
  // second statement, a write, a limit). kInterrupted after Interrupt.
  virtual Result<SqlRows> Run(const SqlStatement& statement, const SqlLimits& limits) = 0;

  // Stops the running statement within 100 ms. May be called from any thread, not from a signal
  // handler.
  virtual void Interrupt() = 0;
};

// Checks `text` without a capture: prepares it against empty tables of every name and column that
// Nsight's schema is known to have, and the short views, under the same sandbox. Parameters `:name`
// are allowed. An error of code kSql says what is wrong.
Status CheckSql(std::string_view text, SqlEngine engine);

}  // namespace nsys
