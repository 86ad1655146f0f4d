// SPDX-License-Identifier: MIT
#include "query/sqlite_engine.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "query/row_budget.h"
#include "query/sql_text.h"
#include "query/views.h"

namespace nsys {
namespace {

constexpr const char* kReadingWords[] = {"select", "with", "values", "explain", "pragma"};

std::vector<std::string> TableNames(const Schema& schema) {
  std::vector<std::string> names;
  for (const SourceTable& table : schema.tables) {
    names.push_back(table.name);
  }
  return names;
}

std::vector<std::string> ViewNames(const Schema& schema) {
  std::vector<std::string> names;
  for (const ShortView& view : ShortViews(schema, SqlEngine::kSqlite)) {
    names.push_back(view.name);
  }
  return names;
}

// What stands behind `prefix` in `message`, up to a blank: the name that SQLite speaks of.
std::string NameAfter(const std::string& message, std::string_view prefix) {
  const size_t at = message.find(prefix);
  return at == std::string::npos ? "" : message.substr(at + prefix.size());
}

const char* TypeName(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "INTEGER";
    case SQLITE_FLOAT:
      return "REAL";
    case SQLITE_TEXT:
      return "TEXT";
    case SQLITE_BLOB:
      return "BLOB";
    default:
      return "";
  }
}

Value CellOf(sqlite3_stmt* statement, int index) {
  switch (sqlite3_column_type(statement, index)) {
    case SQLITE_INTEGER:
      return static_cast<int64_t>(sqlite3_column_int64(statement, index));
    case SQLITE_FLOAT: {
      const double real = sqlite3_column_double(statement, index);
      return std::isfinite(real) ? Value(real) : Value();
    }
    case SQLITE_TEXT: {
      const auto* text = reinterpret_cast<const char*>(sqlite3_column_text(statement, index));
      const auto length = static_cast<size_t>(sqlite3_column_bytes(statement, index));
      return text == nullptr ? Value() : Value(ToValidUtf8({text, length}));
    }
    case SQLITE_BLOB: {
      const void* bytes = sqlite3_column_blob(statement, index);
      const auto length = static_cast<size_t>(sqlite3_column_bytes(statement, index));
      return bytes == nullptr ? Value("") : Value(HexOf(bytes, length));
    }
    default:
      return {};
  }
}

int BindValue(sqlite3_stmt* statement, int index, const Value& value) {
  if (value.is_null()) {
    return sqlite3_bind_null(statement, index);
  }
  if (const bool* flag = value.AsBool()) {
    return sqlite3_bind_int(statement, index, *flag ? 1 : 0);
  }
  if (const int64_t* integer = value.AsInt()) {
    return sqlite3_bind_int64(statement, index, *integer);
  }
  if (const double* real = value.AsDouble()) {
    return sqlite3_bind_double(statement, index, *real);
  }
  if (const std::string* text = value.AsText()) {
    return sqlite3_bind_text64(statement, index, text->data(), text->size(), SQLITE_TRANSIENT,
                               SQLITE_UTF8);
  }
  return SQLITE_MISMATCH;
}

// Collects rows within the limits.
class RowCollector {
 public:
  RowCollector(sqlite3_stmt* statement, const SqlLimits& limits)
      : statement_(statement), budget_(limits) {
    const int count = sqlite3_column_count(statement);
    for (int i = 0; i < count; ++i) {
      const char* name = sqlite3_column_name(statement, i);
      const char* type = sqlite3_column_decltype(statement, i);
      rows_.columns.push_back({.name = ToValidUtf8(name == nullptr ? "" : name),
                               .type = ToValidUtf8(type == nullptr ? "" : type)});
    }
  }

  // False when no more rows are wanted.
  Result<bool> Add() {
    NSYS_ASSIGN(const RowFate fate, budget_.Next());
    if (fate != RowFate::kKeep) {
      return fate == RowFate::kCount;
    }
    std::vector<Value>& row = rows_.rows.emplace_back();
    row.reserve(rows_.columns.size());
    for (size_t i = 0; i < rows_.columns.size(); ++i) {
      const int index = static_cast<int>(i);
      if (rows_.columns[i].type.empty()) {
        rows_.columns[i].type = TypeName(sqlite3_column_type(statement_, index));
      }
      row.emplace_back(CellOf(statement_, index));
    }
    NSYS_TRY(budget_.Charge(row));
    return true;
  }

  SqlRows Take(bool complete) {
    rows_.total_rows = budget_.Total(complete);
    return std::move(rows_);
  }

 private:
  sqlite3_stmt* statement_;
  RowBudget budget_;
  SqlRows rows_;
};

}  // namespace

SqliteEngine::SqliteEngine(SqliteDatabase db, const Schema& schema, ReadErrorFn read_error)
    : db_(std::move(db)),
      tables_(TableNames(schema)),
      views_(ViewNames(schema)),
      gate_(db_.get(), tables_, views_, stop_),
      read_error_(std::move(read_error)) {}

Result<SqliteStatement> SqliteEngine::Prepare(std::string_view text) {
  if (text.find('\0') != std::string_view::npos) {
    return SqlError("the statement holds a NUL character");
  }
  gate_.Close();
  auto prepared = PrepareGuarded(std::string(text));
  gate_.Open();
  return prepared;
}

Result<SqliteStatement> SqliteEngine::PrepareGuarded(const std::string& text) {
  constexpr size_t kMostBytes = size_t{1} << 20;
  if (text.size() >= kMostBytes) {
    return SqlError("the statement is longer than 1 MB");
  }
  const std::vector<SqlToken> tokens = SqlTokens(text, SqlEngine::kSqlite);
  if (tokens.empty() || tokens.front().text == ";") {
    return SqlError("there is no statement, only blanks or comments", "for example: SELECT 1");
  }
  const bool reads = std::any_of(std::begin(kReadingWords), std::end(kReadingWords),
                                 [&](const char* word) { return IsWord(tokens.front(), word); });
  const auto not_allowed = [&] {
    return SqlError(fmt::format("not allowed: {}", Printable(tokens.front().text)),
                    std::string(kSqliteReads));
  };
  sqlite3_stmt* raw = nullptr;
  const char* rest = nullptr;
  const int length = static_cast<int>(text.size());
  const int code = sqlite3_prepare_v3(db_.get(), text.c_str(), length, 0, &raw, &rest);
  SqliteStatement statement(raw);
  if (code != SQLITE_OK) {
    return !reads && gate_.refused() ? not_allowed() : Explain(code, {});
  }
  for (const SqlToken& token : SqlTokens(rest, SqlEngine::kSqlite)) {
    if (token.text != ";") {
      return SqlError(fmt::format("more than one statement: a second one begins at '{}'",
                                  CutMiddle(Printable(token.text), 40)),
                      "run one statement at a time");
    }
  }
  if (!reads || statement == nullptr || sqlite3_stmt_readonly(statement.get()) == 0) {
    return not_allowed();
  }
  return statement;
}

Status SqliteEngine::Bind(sqlite3_stmt* statement, const SqlStatement& given) const {
  const int count = sqlite3_bind_parameter_count(statement);
  for (int index = 1; index <= count; ++index) {
    const char* name = sqlite3_bind_parameter_name(statement, index);
    if (name == nullptr || *name == '?') {
      return SqlError("parameters without a name (?) cannot be given a value",
                      "write :name, and give its value by that name");
    }
    const auto at = std::find_if(given.bindings.begin(), given.bindings.end(),
                                 [&](const auto& binding) { return binding.first == name + 1; });
    if (at == given.bindings.end()) {
      return SqlError(fmt::format("the parameter {} has no value", Printable(name)),
                      fmt::format("give it one: -p {}=VALUE", Printable(name + 1)));
    }
    if (BindValue(statement, index, at->second) != SQLITE_OK) {
      return SqlError(fmt::format("the value of {} cannot be bound", Printable(name)),
                      "parameters are numbers or texts");
    }
  }
  return {};
}

Result<SqlRows> SqliteEngine::Fetch(sqlite3_stmt* statement, const SqlLimits& limits) {
  RowCollector rows(statement, limits);
  gate_.Close();
  int code = SQLITE_ROW;
  bool more = true;
  std::optional<Error> failure;
  while (more && (code = sqlite3_step(statement)) == SQLITE_ROW) {
    Result<bool> added = rows.Add();
    if (!added.ok()) {
      failure = std::move(added).TakeError();
      break;
    }
    more = added.value();
  }
  if (!failure && more && code != SQLITE_DONE) {
    failure = Explain(code, limits);
  }
  gate_.Open();
  sqlite3_reset(statement);
  if (failure) {
    return *std::move(failure);
  }
  return rows.Take(code == SQLITE_DONE);
}

Error SqliteEngine::Explain(int code, const SqlLimits& limits) const {
  const std::string message = Printable(sqlite3_errmsg(db_.get()));
  if (stop_.reason() != StopReason::kNone) {
    return StoppedError(stop_.reason(), limits);
  }
  // Temporary files are memory, too.
  const bool no_memory = (code & 0xFF) == SQLITE_NOMEM || (code & 0xFF) == SQLITE_FULL ||
                         sqlite3_extended_errcode(db_.get()) == SQLITE_IOERR_NOMEM;
  if (no_memory) {
    return MemoryError(limits, "aggregate, add a LIMIT, use --engine duckdb, or allow more memory");
  }
  switch (code & 0xFF) {
    case SQLITE_IOERR:
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_FORMAT:
    case SQLITE_BUSY:
      return read_error_(db_.get());
    default:
      break;
  }
  if (gate_.refused()) {
    return *gate_.refused();
  }
  return SqlError(message, HintFor(message));
}

std::string SqliteEngine::HintFor(const std::string& message) const {
  if (const std::string table = NameAfter(message, "no such table: "); !table.empty()) {
    std::vector<std::string> names = views_;
    names.insert(names.end(), tables_.begin(), tables_.end());
    if (const auto nearest = NearestName(table, names)) {
      return fmt::format("did you mean {}?", *nearest);
    }
    return IsShortViewName(table) ? "the capture lacks the table of this view; SHOW TABLES lists "
                                    "what it has"
                                  : "SHOW TABLES lists what the capture has";
  }
  if (const std::string column = NameAfter(message, "no such column: "); !column.empty()) {
    return "DESCRIBE <table> lists the columns of a table; texts stand in single quotes";
  }
  return "";
}

std::string TranslateForSqlite(std::string_view text) {
  const auto question = ParseCatalogQuestion(text, SqlEngine::kSqlite);
  if (!question) {
    return std::string(text);
  }
  if (!question->described) {
    return "SELECT name FROM sqlite_master WHERE type IN ('table','view') "
           "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\' UNION ALL "
           "SELECT name FROM sqlite_temp_master WHERE type = 'view' ORDER BY name";
  }
  std::string quoted;
  for (const char c : *question->described) {
    quoted += c == '\'' ? std::string("''") : std::string(1, c);
  }
  return fmt::format("SELECT name AS column_name, type AS column_type FROM pragma_table_info('{}')",
                     quoted);
}

}  // namespace nsys
