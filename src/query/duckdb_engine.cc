// SPDX-License-Identifier: MIT
#include "query/duckdb_engine.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/duckdb_session.h"
#include "ingest/schema_probe.h"
#include "query/duckdb_cells.h"
#include "query/duckdb_functions.h"
#include "query/duckdb_statement.h"
#include "query/duckdb_tables.h"
#include "query/known_schema.h"
#include "query/row_budget.h"
#include "query/sql_text.h"
#include "query/sqlite_sandbox.h"

namespace nsys {
namespace {

// A database for statements of the user: confined to the capture, and theirs to read alone.
struct Sandbox {
  int64_t max_bytes = 0;
  std::unique_ptr<DuckdbDatabase> database;
  std::unique_ptr<DuckdbTables> tables;
  std::unique_ptr<DuckdbConnection> connection;
  std::set<std::string> denied;

  const DuckdbApi& api() const { return database->api(); }
};

Result<Sandbox> OpenSandbox(const Schema& schema, const TableSource* source, int threads,
                            int64_t max_bytes) {
  Sandbox sandbox{.max_bytes = max_bytes};
  NSYS_ASSIGN(sandbox.database, DuckdbDatabase::Open(threads, max_bytes));
  sandbox.connection = std::make_unique<DuckdbConnection>(*sandbox.database);
  NSYS_TRY(RegisterDuckdbFunctions(*sandbox.connection, sandbox.api()));
  NSYS_ASSIGN(sandbox.denied, DeniedFunctions(*sandbox.connection, sandbox.api()));
  sandbox.tables = std::make_unique<DuckdbTables>(*sandbox.database, schema, source);
  NSYS_TRY(sandbox.tables->Confine());
  return sandbox;
}

// While it lives, interrupts the connection as soon as the stop sign says so, again and again: a
// statement that begins just then forgets an interruption.
class Watcher {
 public:
  Watcher(const DuckdbApi& api, duckdb_connection connection, StopSign& stop)
      : thread_([&api, connection, &stop, this] {
          std::unique_lock lock(mutex_);
          while (!done_) {
            changed_.wait_for(lock, std::chrono::milliseconds(10));
            if (!done_ && stop.Check() != StopReason::kNone) {
              api.interrupt(connection);
            }
          }
        }) {}
  ~Watcher() {
    {
      const std::scoped_lock lock(mutex_);
      done_ = true;
    }
    changed_.notify_all();
    thread_.join();
  }
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool done_ = false;
  std::thread thread_;  // last: it uses the others
};

// A prepared statement and what it gives.
class Prepared {
 public:
  explicit Prepared(const DuckdbApi& api) : api_(api) {}
  ~Prepared() { api_.destroy_prepare(&statement_); }
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  Status Prepare(DuckdbConnection& connection, const std::string& text) {
    api_.destroy_prepare(&statement_);
    if (api_.prepare(connection.handle(), text.c_str(), &statement_) != DuckDBSuccess) {
      const char* words = statement_ == nullptr ? nullptr : api_.prepare_error(statement_);
      return DuckdbError(words == nullptr ? "the statement could not be prepared" : words);
    }
    const duckdb_statement_type type = api_.prepared_statement_type(statement_);
    if (type != DUCKDB_STATEMENT_TYPE_SELECT && type != DUCKDB_STATEMENT_TYPE_EXPLAIN) {
      return SqlError("not allowed: the statement does more than read");
    }
    return {};
  }

  duckdb_prepared_statement handle() const { return statement_; }
  size_t columns() const { return api_.prepared_statement_column_count(statement_); }
  duckdb_type type(size_t column) const {
    return api_.prepared_statement_column_type(statement_, column);
  }
  std::string name(size_t column) const {
    const char* raw = api_.prepared_statement_column_name(statement_, column);
    const std::string name = raw == nullptr ? "" : raw;
    api_.free(const_cast<char*>(raw));
    return name;
  }

 private:
  const DuckdbApi& api_;
  duckdb_prepared_statement statement_ = nullptr;
};

// `text` with its columns of other types cast to texts; nothing when there are none.
std::optional<std::string> CastStatement(const std::string& text, const Prepared& prepared) {
  std::vector<std::string> names;
  std::vector<std::string> columns;
  bool casts = false;
  for (size_t i = 0; i < prepared.columns(); ++i) {
    names.push_back(fmt::format("c{}", i));
    const bool plain = IsPlainType(prepared.type(i));
    columns.push_back(plain ? names.back() : fmt::format("CAST({} AS VARCHAR)", names.back()));
    casts = casts || !plain;
  }
  if (!casts) {
    return std::nullopt;
  }
  return fmt::format("SELECT {} FROM (\n{}\n) AS q({})", Join(columns, ","), text,
                     Join(names, ","));
}

class DuckdbSqlSession final : public SqlSession {
 public:
  DuckdbSqlSession(std::unique_ptr<TableSource> source, int threads)
      : source_(std::move(source)), schema_(ProbeSchema(*source_)), threads_(threads) {}
  ~DuckdbSqlSession() override { sandbox_.reset(); }

  std::vector<std::string> Tables() const override {
    std::vector<std::string> names;
    for (const SourceTable& table : schema_.tables) {
      names.push_back(table.name);
    }
    return names;
  }

  Result<SqlRows> Run(const SqlStatement& statement, const SqlLimits& limits) override {
    stop_.Start(limits.timeout_ms);
    Result<SqlRows> rows = RunStoppable(statement, limits);
    const StopReason reason = stop_.reason();
    stop_.Clear();
    NSYS_TRY(source_->inputs().CheckUnchanged());
    if (!rows.ok() && reason != StopReason::kNone) {
      return StoppedError(reason, limits);
    }
    return rows;
  }

  void Interrupt() override { stop_.Interrupt(); }

 private:
  Result<SqlRows> RunStoppable(const SqlStatement& statement, const SqlLimits& limits);
  Result<SqlRows> RunOn(const DuckdbStatement& checked, const SqlLimits& limits);
  Result<SqlRows> Fetch(const Prepared& prepared, const std::vector<duckdb_type>& declared,
                        SqlRows rows, const SqlLimits& limits);
  Error Explained(Error error, const SqlLimits& limits) const;
  std::set<std::string> Wanted(const DuckdbStatement& checked, std::string_view text) const;
  SqlRows TableNames() const;

  bool Stopped() { return stop_.Check() != StopReason::kNone; }

  std::unique_ptr<TableSource> source_;
  Schema schema_;
  int threads_;
  StopSign stop_;
  std::optional<Sandbox> sandbox_;
};

// All names when the statement asks for the catalog, else those it reads.
std::set<std::string> DuckdbSqlSession::Wanted(const DuckdbStatement& checked,
                                               std::string_view text) const {
  static constexpr std::string_view kCatalogs[] = {
      "tables",        "columns",        "views",        "sqlite_master", "sqlite_schema",
      "duckdb_tables", "duckdb_columns", "duckdb_views", "\"tables\""};
  const std::optional<CatalogQuestion> question = ParseCatalogQuestion(text, SqlEngine::kDuckdb);
  const bool all = std::any_of(std::begin(kCatalogs), std::end(kCatalogs),
                               [&](std::string_view name) {
                                 return checked.tables.contains(std::string(name));
                               }) ||
                   (question && !question->described);
  if (!all) {
    return checked.tables;
  }
  std::set<std::string> names;
  for (const std::string& name : sandbox_->tables->Names()) {
    names.insert(LowerAscii(name));
  }
  return names;
}

SqlRows DuckdbSqlSession::TableNames() const {
  SqlRows rows;
  rows.columns.push_back({.name = "name", .type = "TEXT"});
  for (const std::string& name : sandbox_->tables->Names()) {
    rows.rows.push_back({Value(name)});
  }
  rows.total_rows = static_cast<int64_t>(rows.rows.size());
  return rows;
}

Result<SqlRows> DuckdbSqlSession::RunStoppable(const SqlStatement& statement,
                                               const SqlLimits& limits) {
  if (!sandbox_ || sandbox_->max_bytes != limits.max_bytes) {
    sandbox_.reset();
    NSYS_ASSIGN(sandbox_, OpenSandbox(schema_, source_.get(), threads_, limits.max_bytes));
  }
  const auto question = ParseCatalogQuestion(statement.text, SqlEngine::kDuckdb);
  if (question && !question->described) {
    return TableNames();
  }
  NSYS_ASSIGN(const DuckdbStatement checked,
              CheckDuckdbStatement(*sandbox_->connection, sandbox_->api(), statement.text,
                                   &statement.bindings, sandbox_->denied));
  const auto stop = [this] { return Stopped(); };
  if (Status made = sandbox_->tables->Make(Wanted(checked, statement.text), stop); !made.ok()) {
    Error error = Explained(std::move(made).TakeError(), limits);
    sandbox_.reset();  // half a table must not answer later
    return error;
  }
  if (Stopped()) {
    sandbox_.reset();
    return SqlError("stopped");
  }
  Result<SqlRows> rows = RunOn(checked, limits);
  const bool mislabelled =
      !rows.ok() && rows.error().message.find("Invalid string encoding") != std::string::npos;
  if (!mislabelled) {
    return rows;
  }
  // Bytes that are no UTF-8 in a column that claims to be text: only our own reader takes them.
  NSYS_TRY(sandbox_->tables->LoadInPlaceTables(stop));
  rows = RunOn(checked, limits);
  if (Stopped()) {
    sandbox_.reset();
  }
  return rows;
}

Result<SqlRows> DuckdbSqlSession::RunOn(const DuckdbStatement& checked, const SqlLimits& limits) {
  DuckdbConnection& connection = *sandbox_->connection;
  const Watcher watcher(sandbox_->api(), connection.handle(), stop_);
  Prepared prepared(sandbox_->api());
  if (Status status = prepared.Prepare(connection, checked.text); !status.ok()) {
    return Explained(std::move(status).TakeError(), limits);
  }
  SqlRows rows;
  std::vector<duckdb_type> declared;
  for (size_t i = 0; i < prepared.columns(); ++i) {
    declared.push_back(prepared.type(i));
    rows.columns.push_back(
        {.name = ToValidUtf8(prepared.name(i)), .type = ResultTypeName(declared.back())});
  }
  if (const auto cast = CastStatement(checked.text, prepared)) {
    if (Status status = prepared.Prepare(connection, *cast); !status.ok()) {
      return Explained(std::move(status).TakeError(), limits);
    }
  }
  return Fetch(prepared, declared, std::move(rows), limits);
}

Result<SqlRows> DuckdbSqlSession::Fetch(const Prepared& prepared,
                                        const std::vector<duckdb_type>& declared, SqlRows rows,
                                        const SqlLimits& limits) {
  RowBudget budget(limits);
  std::optional<Error> failure;
  bool complete = true;
  const std::string problem = sandbox_->connection->StreamPrepared(
      prepared.handle(), [&](duckdb_result& result, duckdb_data_chunk chunk) {
        const DuckdbApi& api = sandbox_->api();
        const size_t count = api.data_chunk_get_size(chunk);
        for (size_t row = 0; row < count; ++row) {
          Result<RowFate> fate = budget.Next();
          if (!fate.ok()) {
            failure = std::move(fate).TakeError();
            return false;
          }
          if (fate.value() == RowFate::kEnd) {
            complete = false;
            return false;
          }
          if (fate.value() == RowFate::kCount) {
            continue;
          }
          std::vector<Value>& cells = rows.rows.emplace_back();
          cells.reserve(declared.size());
          for (size_t i = 0; i < declared.size(); ++i) {
            cells.push_back(CellOf(api, api.data_chunk_get_vector(chunk, i),
                                   api.column_type(&result, i), declared[i], row));
          }
          if (Status paid = budget.Charge(cells); !paid.ok()) {
            failure = std::move(paid).TakeError();
            return false;
          }
        }
        return !Stopped();
      });
  if (failure) {
    return *std::move(failure);
  }
  if (Stopped()) {
    return SqlError("stopped");
  }
  if (!problem.empty()) {
    return Explained(DuckdbError(problem), limits);
  }
  rows.total_rows = budget.Total(complete);
  return rows;
}

Error DuckdbSqlSession::Explained(Error error, const SqlLimits& limits) const {
  if (error.code != ErrorCode::kSql) {
    return error;
  }
  if (error.message.find("Out of Memory") != std::string::npos ||
      error.message.find("failed to allocate") != std::string::npos ||
      error.message.find("could not allocate") != std::string::npos) {
    return MemoryError(limits, "aggregate, add a LIMIT, or allow more memory");
  }
  constexpr std::string_view kMissing = "Table with name ";
  if (const size_t at = error.message.find(kMissing); at != std::string::npos) {
    const size_t begin = at + kMissing.size();
    const std::string name = error.message.substr(begin, error.message.find(' ', begin) - begin);
    const std::vector<std::string> names = sandbox_->tables->Names();
    const auto nearest = NearestName(name, names);
    error.message = "no such table: " + name;
    error.hint = nearest ? fmt::format("did you mean {}?", *nearest)
                         : "SHOW TABLES lists what the capture has";
  }
  return error;
}

}  // namespace

Result<std::unique_ptr<SqlSession>> OpenDuckdbSession(std::unique_ptr<TableSource> source,
                                                      int threads) {
  return std::unique_ptr<SqlSession>(
      std::make_unique<DuckdbSqlSession>(std::move(source), threads));
}

Status CheckDuckdbSql(std::string_view text) {
  constexpr int64_t kBytes = int64_t{256} << 20;
  const Schema schema = KnownSchema();
  NSYS_ASSIGN(Sandbox sandbox, OpenSandbox(schema, nullptr, 1, kBytes));
  const auto question = ParseCatalogQuestion(text, SqlEngine::kDuckdb);
  if (question && !question->described) {
    return {};
  }
  NSYS_ASSIGN(
      const DuckdbStatement checked,
      CheckDuckdbStatement(*sandbox.connection, sandbox.api(), text, nullptr, sandbox.denied));
  NSYS_TRY(sandbox.tables->Make(checked.tables, [] { return false; }));
  Prepared prepared(sandbox.api());
  return prepared.Prepare(*sandbox.connection, checked.text);
}

}  // namespace nsys
