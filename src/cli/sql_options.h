// SPDX-License-Identifier: MIT
// nsys-ai sql: its options and what they ask for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "query/sql_session.h"

namespace CLI {
class App;
}

namespace nsys {

enum class SqlFormat { kTable, kJson, kJsonLines, kCsv, kParquet };

struct SqlRequest {
  std::string profile;
  SqlStatement statement;
  SqlFormat format = SqlFormat::kTable;
  SqlEngine engine = SqlEngine::kSqlite;
  SqlLimits limits;  // with keep_rows
  JsonLayout layout = JsonLayout::kIndented;
  std::string output;  // a file; empty: standard output
  int threads = 0;     // 0: as many as the machine has
};

// Words as typed.
struct SqlOptions {
  std::string profile;
  std::optional<std::string> statement;
  std::optional<std::string> file;
  std::string format = "table";
  std::string engine = "sqlite";
  std::vector<std::string> params;
  std::optional<std::string> max_rows;
  std::optional<std::string> timeout;
  std::optional<std::string> memory;
  std::optional<std::string> output;
  std::optional<std::string> threads;
  bool compact = false;
};

// Declares the command on `app` and gives it; `options` are filled when it is parsed.
CLI::App* AddSqlCommand(CLI::App& app, SqlOptions& options);

// The request, with the statement read from standard input or a file when asked for.
Result<SqlRequest> ToSqlRequest(const SqlOptions& options);

}  // namespace nsys
