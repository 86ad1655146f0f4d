// SPDX-License-Identifier: MIT
#include "query/duckdb_statement.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "base/number.h"
#include "base/os_error.h"
#include "base/text.h"
#include "ingest/parquet_cells.h"
#include "ingest/sql_quotes.h"
#include "query/sql_text.h"

namespace nsys {
namespace {

constexpr std::string_view kAllowed =
    "a capture is only read: SELECT, WITH, VALUES, EXPLAIN, DESCRIBE, SHOW TABLES";

// Functions that give tables and only compute. All others open files, run text as a statement, or
// change or show the state of the engine.
constexpr std::string_view kTableFunctions[] = {
    "generate_series", "range", "unnest", "repeat", "repeat_row", "json_each", "json_tree"};

// Functions that give one value and do more than compute.
constexpr std::string_view kDeniedScalars[] = {
    "current_setting", "currval",   "getenv", "getvariable", "nextval",      "pg_sleep",
    "setseed",         "write_log", "sleep",  "sleep_ms",    "current_query"};

// Catalogs that speak of the engine rather than of the capture.
constexpr std::string_view kDeniedCatalogs[] = {"pg_settings", "duckdb_logs", "duckdb_settings",
                                                "pragma_database_list", "duckdb_databases"};

// The single text that `sql` gives.
Result<std::string> OneText(DuckdbConnection& connection, const DuckdbApi& api,
                            const std::string& sql) {
  const WantedColumn wanted[] = {{.name = "text", .type = CellType::kText}};
  ChunkConverter converter(api, wanted);
  std::string text;
  const std::string problem =
      connection.Stream(sql, [&](duckdb_result& result, duckdb_data_chunk chunk) {
        const Batch batch = converter.Convert(result, chunk, 0);
        for (size_t row = 0; row < batch.rows; ++row) {
          text = batch.columns[0].texts[row];
        }
        return true;
      });
  if (!problem.empty()) {
    return DuckdbError(problem);
  }
  return text;
}

// The texts behind every `"key":"` of a JSON document, in lower case. Inside a text of the document
// such a key has escaped quotes, so it is never taken for one.
std::vector<std::string> TextsOf(std::string_view json, std::string_view key) {
  std::vector<std::string> texts;
  const std::string mark = fmt::format("\"{}\":\"", key);
  for (size_t at = json.find(mark); at != std::string_view::npos; at = json.find(mark, at)) {
    at += mark.size();
    std::string& text = texts.emplace_back();
    for (; at < json.size() && json[at] != '"'; ++at) {
      at += json[at] == '\\' ? 1 : 0;
      text += at < json.size() ? json[at] : '\0';
    }
    text = LowerAscii(text);
  }
  return texts;
}

// The position of the statement that EXPLAIN [ANALYZE] [(options)] explains, or 0.
size_t ExplainedAt(const std::vector<SqlToken>& tokens) {
  const auto is = [&](size_t i, std::string_view word) {
    return i < tokens.size() && IsWord(tokens[i], word);
  };
  if (!is(0, "explain")) {
    return 0;
  }
  size_t at = is(1, "analyze") ? 2 : 1;
  const bool options = at < tokens.size() && tokens[at].text == "(" &&
                       (is(at + 1, "format") || is(at + 1, "analyze"));
  while (options && at < tokens.size() && tokens[at].text != ")") {
    ++at;
  }
  return options ? at + 1 : at;
}

Result<std::string> Literal(std::string_view name, const SqlBindings& values) {
  const auto at = std::find_if(values.begin(), values.end(),
                               [&](const auto& binding) { return binding.first == name; });
  if (at == values.end()) {
    return SqlError(fmt::format("the parameter :{} has no value", Printable(name)),
                    fmt::format("give it one: -p {}=VALUE", Printable(name)));
  }
  const Value& value = at->second;
  if (const std::string* text = value.AsText()) {
    return QuoteText(*text);
  }
  if (const int64_t* integer = value.AsInt()) {
    return fmt::format("CAST('{}' AS BIGINT)", *integer);
  }
  if (const double* real = value.AsDouble(); real != nullptr && std::isfinite(*real)) {
    return fmt::format("CAST('{}' AS DOUBLE)", FormatDouble(*real));
  }
  if (const bool* flag = value.AsBool()) {
    return std::string(*flag ? "TRUE" : "FALSE");
  }
  if (value.is_null()) {
    return std::string("NULL");
  }
  return SqlError(fmt::format("the value of :{} cannot be bound", Printable(name)),
                  "parameters are numbers or texts");
}

// The text of `tokens` from `first` on, with what stands between them.
Result<std::string> TextFrom(const std::vector<SqlToken>& tokens, size_t first,
                             const SqlBindings* values) {
  std::string joined;
  const char* at = first < tokens.size() ? tokens[first].text.data() : nullptr;
  for (size_t i = first; i < tokens.size(); ++i) {
    const std::string_view token = tokens[i].text;
    joined.append(at, token.data());
    if (tokens[i].kind != SqlTokenKind::kParameter) {
      joined += token;
    } else if (values == nullptr) {
      joined += "$" + std::string(token.substr(1));
    } else {
      NSYS_ASSIGN(const std::string literal, Literal(token.substr(1), *values));
      joined += literal;
    }
    at = token.data() + token.size();
  }
  return joined;
}

Error NotAllowed(std::string_view what) {
  return SqlError(fmt::format("not allowed: {}", Printable(what)), std::string(kAllowed));
}

// How many statements DuckDB finds in `text`, or what it says of a text that it cannot parse.
Result<int64_t> StatementCount(DuckdbConnection& connection, const DuckdbApi& api,
                               const std::string& text) {
  duckdb_extracted_statements statements = nullptr;
  const auto count =
      static_cast<int64_t>(api.extract_statements(connection.handle(), text.c_str(), &statements));
  const char* words = api.extract_statements_error(statements);
  const std::string problem = words == nullptr ? "" : words;
  api.destroy_extracted(&statements);
  return problem.empty() ? Result<int64_t>(count) : Result<int64_t>(DuckdbError(problem));
}

}  // namespace

Result<DuckdbStatement> CheckDuckdbStatement(DuckdbConnection& connection, const DuckdbApi& api,
                                             std::string_view text, const SqlBindings* values,
                                             const std::set<std::string>& denied) {
  std::vector<SqlToken> tokens = SqlTokens(text, SqlEngine::kDuckdb);
  while (!tokens.empty() && tokens.back().text == ";") {
    tokens.pop_back();
  }
  if (tokens.empty()) {
    return SqlError("there is no statement, only blanks or comments", "for example: SELECT 1");
  }
  const size_t explained_at = ExplainedAt(tokens);
  NSYS_ASSIGN(const std::string whole, TextFrom(tokens, 0, values));
  NSYS_ASSIGN(const std::string inner, TextFrom(tokens, explained_at, values));
  if (whole.find('\0') != std::string::npos || !IsValidUtf8(whole)) {
    return SqlError("the statement is not valid UTF-8 text");
  }
  NSYS_ASSIGN(const int64_t count, StatementCount(connection, api, whole));
  if (count != 1) {
    return SqlError("more than one statement", "run one statement at a time");
  }
  NSYS_ASSIGN(
      const std::string tree,
      OneText(connection, api, fmt::format("SELECT json_serialize_sql({})", QuoteText(inner))));
  if (!tree.starts_with("{\"error\":false")) {
    return NotAllowed(explained_at < tokens.size() ? tokens[explained_at].text : tokens[0].text);
  }
  for (const std::string& function : TextsOf(tree, "function_name")) {
    if (denied.contains(function)) {
      return NotAllowed("the function " + function);
    }
  }
  DuckdbStatement statement{.text = whole, .tables = {}};
  for (const std::string& table : TextsOf(tree, "table_name")) {
    if (std::find(std::begin(kDeniedCatalogs), std::end(kDeniedCatalogs), table) !=
        std::end(kDeniedCatalogs)) {
      return NotAllowed("reading " + table);
    }
    statement.tables.insert(table);
  }
  return statement;
}

Result<std::set<std::string>> DeniedFunctions(DuckdbConnection& connection, const DuckdbApi& api) {
  NSYS_ASSIGN(const std::string names,
              OneText(connection, api,
                      "SELECT string_agg(DISTINCT lower(function_name), ' ') FROM "
                      "duckdb_functions() WHERE function_type IN ('table', 'table_macro', "
                      "'pragma')"));
  std::set<std::string> denied(std::begin(kDeniedScalars), std::end(kDeniedScalars));
  for (size_t at = 0; at < names.size();) {
    const size_t end = std::min(names.find(' ', at), names.size());
    denied.insert(names.substr(at, end - at));
    at = end + 1;
  }
  // Functions of one value that carry the name of one that gives a table.
  for (const std::string_view name : {"histogram", "version"}) {
    denied.erase(std::string(name));
  }
  for (const std::string_view name : kTableFunctions) {
    denied.erase(std::string(name));
  }
  return denied;
}

Error DuckdbError(std::string message) {
  // The excerpt of the statement below the first line is left out.
  const size_t line = message.find("\n\nLINE");
  message = message.substr(0, line);
  std::replace(message.begin(), message.end(), '\n', ' ');
  if (const size_t at = message.find("Error: "); at < 40) {
    message.erase(0, at + 7);
  }
  return SqlError(Printable(ToValidUtf8(message)),
                  TellsOfOutOfFiles(message) ? OutOfFilesHint() : "");
}

}  // namespace nsys
