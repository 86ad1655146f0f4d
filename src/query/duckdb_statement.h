// SPDX-License-Identifier: MIT
// What a statement is, judged by DuckDB's own parser before it is bound: one SELECT, SHOW, DESCRIBE
// or SUMMARIZE, or EXPLAIN of one, that calls no function which looks or reaches outside.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "base/value.h"
#include "ingest/duckdb_session.h"

namespace nsys {

struct DuckdbStatement {
  std::string text;              // with values for parameters, nothing behind the statement
  std::set<std::string> tables;  // names in FROM, in lower case; names that WITH makes among them
};

// `denied`: DeniedFunctions. Parameters stand in the text as literals of their values, since DuckDB
// knows the types of a result only then; with `values` null they stay parameters.
using SqlBindings = std::vector<std::pair<std::string, Value>>;
Result<DuckdbStatement> CheckDuckdbStatement(DuckdbConnection& connection, const DuckdbApi& api,
                                             std::string_view text, const SqlBindings* values,
                                             const std::set<std::string>& denied);

// The functions of this DuckDB that a statement may not call.
Result<std::set<std::string>> DeniedFunctions(DuckdbConnection& connection, const DuckdbApi& api);

// The error behind DuckDB's words, in one line.
Error DuckdbError(std::string message);

}  // namespace nsys
