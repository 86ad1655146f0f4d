// SPDX-License-Identifier: MIT
#include "query/sqlite_session.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/schema_probe.h"
#include "query/known_schema.h"
#include "query/memory_tables.h"
#include "query/sql_text.h"
#include "query/sqlite_engine.h"
#include "query/views.h"

namespace nsys {
namespace {

Error NoFile(sqlite3* db) {
  return SqlError(fmt::format("SQLite failed: {}", Printable(sqlite3_errmsg(db))));
}

// An error when DESCRIBE names something that is not there; PRAGMA table_info would give no rows.
Status CheckDescribed(std::string_view text, const Schema& schema) {
  const auto question = ParseCatalogQuestion(text, SqlEngine::kSqlite);
  if (!question || !question->described) {
    return {};
  }
  std::vector<std::string> names;
  for (const SourceTable& table : schema.tables) {
    names.push_back(table.name);
  }
  for (const ShortView& view : ShortViews(schema, SqlEngine::kSqlite)) {
    names.push_back(view.name);
  }
  const std::string wanted = LowerAscii(*question->described);
  if (std::any_of(names.begin(), names.end(),
                  [&](const std::string& name) { return LowerAscii(name) == wanted; })) {
    return {};
  }
  const auto nearest = NearestName(*question->described, names);
  return SqlError(fmt::format("no such table: {}", Printable(*question->described)),
                  nearest ? fmt::format("did you mean {}?", *nearest)
                          : "SHOW TABLES lists what the capture has");
}

class SqliteSession final : public SqlSession {
 public:
  // `memory` is null when the engine works on the capture's own file.
  SqliteSession(std::unique_ptr<TableSource> source, Schema schema, SqliteDatabase db,
                SqliteEngine::ReadErrorFn read_error, bool in_memory)
      : source_(std::move(source)),
        schema_(std::move(schema)),
        engine_(std::move(db), schema_, std::move(read_error)) {
    if (in_memory) {
      memory_.emplace(engine_.db(), schema_.tables);
    }
  }

  Status Start() {
    if (memory_) {
      NSYS_TRY(memory_->CreateEmpty());
    }
    NSYS_TRY(PrepareConnection(engine_.db()));
    return CreateShortViews(engine_.db(), schema_);
  }

  std::vector<std::string> Tables() const override {
    std::vector<std::string> names;
    for (const SourceTable& table : schema_.tables) {
      names.push_back(table.name);
    }
    return names;
  }

  Result<SqlRows> Run(const SqlStatement& statement, const SqlLimits& limits) override {
    engine_.stop().Start(limits.timeout_ms);
    const int64_t before = sqlite3_memory_used();
    const SqliteMemoryLimit memory_limit(limits.max_bytes, own_bytes_);
    Result<SqlRows> rows = RunLimited(statement, limits);
    own_bytes_ = std::max<int64_t>(0, own_bytes_ + sqlite3_memory_used() - before);
    engine_.stop().Clear();
    NSYS_TRY(source_->inputs().CheckUnchanged());
    return rows;
  }

  void Interrupt() override {
    engine_.stop().Interrupt();
    sqlite3_interrupt(engine_.db());
  }

 private:
  Result<SqlRows> RunLimited(const SqlStatement& statement, const SqlLimits& limits) {
    NSYS_TRY(CheckDescribed(statement.text, schema_));
    const std::string text = TranslateForSqlite(statement.text);
    NSYS_ASSIGN(SqliteStatement prepared, engine_.Prepare(text));
    if (memory_ && sqlite3_stmt_isexplain(prepared.get()) == 0) {
      prepared.reset();  // loading may replace tables
      NSYS_TRY(LoadFor(text, limits));
      NSYS_ASSIGN(prepared, engine_.Prepare(text));
    }
    NSYS_TRY(engine_.Bind(prepared.get(), statement));
    return engine_.Fetch(prepared.get(), limits);
  }

  Status LoadFor(const std::string& text, const SqlLimits& limits) {
    NSYS_ASSIGN(const MemoryTables::Columns columns, memory_->ReadBy(text));
    const auto stop = [this] { return engine_.stop().Check() != StopReason::kNone; };
    NSYS_TRY(memory_->Load(columns, *source_, stop));
    return stop() ? Status(StoppedError(engine_.stop().reason(), limits)) : Status();
  }

  std::unique_ptr<TableSource> source_;
  Schema schema_;
  SqliteEngine engine_;
  std::optional<MemoryTables> memory_;
  int64_t own_bytes_ = 0;  // of tables that stay loaded
};

}  // namespace

Result<std::unique_ptr<SqlSession>> OpenSqliteSession(std::unique_ptr<TableSource> source) {
  const SourceLocation location = source->location();
  const bool in_place = location.form == SourceForm::kSqliteFile;
  Schema schema = ProbeSchema(*source);
  SqliteDatabase db;
  SqliteEngine::ReadErrorFn read_error = NoFile;
  if (in_place) {
    NSYS_ASSIGN(const SqliteFile file, SqliteFile::Open(location.path));
    NSYS_ASSIGN(db, file.Connect(true));
    read_error = [file](sqlite3* failed) { return file.ReadError("", failed); };
  } else {
    NSYS_ASSIGN(db, OpenMemoryDatabase());
  }
  auto session = std::make_unique<SqliteSession>(std::move(source), std::move(schema),
                                                 std::move(db), std::move(read_error), !in_place);
  NSYS_TRY(session->Start());
  return std::unique_ptr<SqlSession>(std::move(session));
}

Status CheckSqliteSql(std::string_view text) {
  const Schema schema = KnownSchema();
  NSYS_TRY(CheckDescribed(text, schema));
  NSYS_ASSIGN(SqliteDatabase db, OpenMemoryDatabase());
  NSYS_TRY(MemoryTables(db.get(), schema.tables).CreateEmpty());
  NSYS_TRY(PrepareConnection(db.get()));
  NSYS_TRY(CreateShortViews(db.get(), schema));
  SqliteEngine engine(std::move(db), schema, NoFile);
  engine.stop().Start(SqlLimits().timeout_ms);
  NSYS_TRY(engine.Prepare(TranslateForSqlite(text)));
  return {};
}

}  // namespace nsys
