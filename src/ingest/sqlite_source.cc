// SPDX-License-Identifier: MIT
#include "ingest/sqlite_source.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <sqlite3.h>

#include "ingest/row_hint.h"
#include "ingest/sql_quotes.h"
#include "ingest/sqlite_connection.h"

namespace nsys {
namespace {

constexpr size_t kBatchRows = 4096;
// A batch ends early when its texts reach this, so that values of megabytes do not pile up.
constexpr size_t kBatchTextBytes = size_t{1} << 20;

// One column of a batch under construction. Texts are kept as offsets, since the arena may move.
struct ColumnBuffer {
  CellType type = CellType::kInteger;
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<size_t> text_ends;
  std::vector<std::string_view> texts;
  std::vector<uint8_t> valid;
  std::vector<ForeignCell> foreign;
};

std::string_view NameOfType(int type) {
  switch (type) {
    case SQLITE_INTEGER:
      return "integer";
    case SQLITE_FLOAT:
      return "real";
    case SQLITE_TEXT:
      return "text";
    default:
      return "blob";
  }
}

// Rows on their way from SQLite to the sink; every buffer is reused from batch to batch.
class BatchBuilder {
 public:
  explicit BatchBuilder(std::span<const WantedColumn> wanted) : columns_(wanted.size()) {
    for (size_t i = 0; i < wanted.size(); ++i) {
      ColumnBuffer& column = columns_[i];
      column.type = wanted[i].type;
      column.valid.resize(kBatchRows);
      if (column.type == CellType::kInteger) {
        column.integers.resize(kBatchRows);
      } else if (column.type == CellType::kReal) {
        column.reals.resize(kBatchRows);
      } else {
        column.text_ends.resize(kBatchRows);
        column.texts.resize(kBatchRows);
      }
    }
    views_.resize(wanted.size());
    arenas_.resize(wanted.size());
  }

  bool full() const { return rows_ == kBatchRows || text_bytes_ >= kBatchTextBytes; }

  // False when SQLite ran out of memory.
  bool AddRow(sqlite3_stmt* statement) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      const int index = static_cast<int>(i);
      if (columns_[i].type == CellType::kInteger) {
        AddInteger(statement, index, columns_[i]);
      } else if (columns_[i].type == CellType::kReal) {
        AddReal(statement, index, columns_[i]);
      } else if (!AddText(statement, index, columns_[i], arenas_[i])) {
        return false;
      }
    }
    ++rows_;
    return true;
  }

  // False when the sink wants no more.
  bool Flush(const BatchSink& sink) {
    if (rows_ == 0) {
      return true;
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      ColumnBuffer& column = columns_[i];
      views_[i] = {.integers = {},
                   .texts = {},
                   .valid = {column.valid.data(), rows_},
                   .foreign = column.foreign};
      if (column.type == CellType::kInteger) {
        views_[i].integers = {column.integers.data(), rows_};
        continue;
      }
      if (column.type == CellType::kReal) {
        views_[i].reals = {column.reals.data(), rows_};
        continue;
      }
      size_t begin = 0;
      for (size_t row = 0; row < rows_; ++row) {
        const size_t end = column.text_ends[row];
        column.texts[row] = std::string_view(arenas_[i]).substr(begin, end - begin);
        begin = end;
      }
      views_[i].texts = {column.texts.data(), rows_};
    }
    const bool more = sink({.rows = rows_, .columns = views_});
    rows_ = 0;
    text_bytes_ = 0;
    for (std::string& arena : arenas_) {
      arena.clear();
    }
    for (ColumnBuffer& column : columns_) {
      column.foreign.clear();
    }
    return more;
  }

 private:
  void AddInteger(sqlite3_stmt* statement, int index, ColumnBuffer& column) const {
    int64_t value = 0;
    bool valid = true;
    const int type = sqlite3_column_type(statement, index);
    switch (type) {
      case SQLITE_INTEGER:
        value = sqlite3_column_int64(statement, index);
        break;
      case SQLITE_FLOAT: {
        const double real = sqlite3_column_double(statement, index);
        valid = real >= -0x1p63 && real < 0x1p63 && std::trunc(real) == real;
        if (valid) {
          value = static_cast<int64_t>(real);
        }
        break;
      }
      default:
        valid = false;
    }
    if (!valid) {
      NoteInvalid(type, column);
    }
    column.integers[rows_] = value;
    column.valid[rows_] = valid ? 1 : 0;
  }

  void AddReal(sqlite3_stmt* statement, int index, ColumnBuffer& column) const {
    const int type = sqlite3_column_type(statement, index);
    const bool valid = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
    if (!valid) {
      NoteInvalid(type, column);
    }
    column.reals[rows_] = valid ? sqlite3_column_double(statement, index) : 0.0;
    column.valid[rows_] = valid ? 1 : 0;
  }

  bool AddText(sqlite3_stmt* statement, int index, ColumnBuffer& column, std::string& arena) {
    const int type = sqlite3_column_type(statement, index);
    const bool valid = type == SQLITE_TEXT || type == SQLITE_BLOB;
    if (valid) {
      const void* bytes = type == SQLITE_TEXT ? sqlite3_column_text(statement, index)
                                              : sqlite3_column_blob(statement, index);
      const auto length = static_cast<size_t>(sqlite3_column_bytes(statement, index));
      if (bytes == nullptr && length > 0) {
        return false;
      }
      if (length > 0) {
        arena.append(static_cast<const char*>(bytes), length);
      }
      text_bytes_ += length;
    } else {
      NoteInvalid(type, column);
    }
    column.text_ends[rows_] = arena.size();
    column.valid[rows_] = valid ? 1 : 0;
    return true;
  }

  // A cell that has no value of its column's type.
  void NoteInvalid(int type, ColumnBuffer& column) const {
    if (type != SQLITE_NULL) {
      column.foreign.push_back({.row = rows_, .type = NameOfType(type)});
    }
  }

  std::vector<ColumnBuffer> columns_;
  std::vector<ColumnBatch> views_;
  std::vector<std::string> arenas_;
  size_t rows_ = 0;
  size_t text_bytes_ = 0;
};

class SqliteSource final : public TableSource {
 public:
  SqliteSource(SqliteFile file, std::string reason)
      : file_(std::move(file)), reason_(std::move(reason)) {}

  Status LoadTables();
  const std::vector<SourceTable>& tables() const override { return tables_; }
  SourceLocation location() const override {
    return {.form = SourceForm::kSqliteFile, .path = file_.path()};
  }
  InputFiles inputs() const override { return file_.inputs(); }
  std::string reader() const override {
    return reason_.empty() ? "read by SQLite" : "read by SQLite: " + reason_;
  }
  Status Read(std::string_view table, std::span<const WantedColumn> columns,
              const BatchSink& sink) const override {
    return ReadWhere(table, columns, "", sink);
  }
  Status ReadHinted(std::string_view table, std::span<const WantedColumn> columns,
                    const RowHint& hint, const BatchSink& sink) const override {
    return ReadWhere(table, columns, ConditionOf(hint), sink);
  }

 private:
  Status ReadWhere(std::string_view table, std::span<const WantedColumn> columns,
                   const std::string& condition, const BatchSink& sink) const;
  Result<SqliteStatement> Prepare(sqlite3* db, const std::string& sql,
                                  std::string_view table) const;
  Status LoadColumns(sqlite3* db, SourceTable& table) const;

  SqliteFile file_;
  std::string reason_;
  std::vector<SourceTable> tables_;
};

Result<SqliteStatement> SqliteSource::Prepare(sqlite3* db, const std::string& sql,
                                              std::string_view table) const {
  sqlite3_stmt* raw = nullptr;
  const int prepared =
      sqlite3_prepare_v2(db, sql.data(), static_cast<int>(sql.size()), &raw, nullptr);
  SqliteStatement statement(raw);
  if (prepared != SQLITE_OK) {
    return file_.ReadError(table, db);
  }
  return statement;
}

std::string ColumnText(sqlite3_stmt* statement, int index) {
  const unsigned char* text = sqlite3_column_text(statement, index);
  const auto length = static_cast<size_t>(sqlite3_column_bytes(statement, index));
  return text == nullptr ? std::string() : std::string(reinterpret_cast<const char*>(text), length);
}

Status SqliteSource::LoadTables() {
  NSYS_ASSIGN(const SqliteDatabase db, file_.Connect());
  // Virtual tables have no root page; their modules are not at hand, so they do not count.
  NSYS_ASSIGN(const SqliteStatement statement,
              Prepare(db.get(),
                      "SELECT name FROM sqlite_master WHERE type='table' AND rootpage<>0 "
                      "AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'",
                      ""));
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement.get())) == SQLITE_ROW) {
    tables_.push_back({.name = ColumnText(statement.get(), 0), .columns = {}});
  }
  if (step != SQLITE_DONE) {
    return file_.ReadError("", db.get());
  }
  std::sort(tables_.begin(), tables_.end(),
            [](const SourceTable& a, const SourceTable& b) { return a.name < b.name; });
  for (SourceTable& table : tables_) {
    NSYS_TRY(LoadColumns(db.get(), table));
  }
  return {};
}

Status SqliteSource::LoadColumns(sqlite3* db, SourceTable& table) const {
  NSYS_ASSIGN(
      const SqliteStatement statement,
      Prepare(db, fmt::format("PRAGMA table_xinfo({})", QuoteName(table.name)), table.name));
  constexpr int kName = 1, kType = 2, kKey = 5, kHidden = 6;
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement.get())) == SQLITE_ROW) {
    if (sqlite3_column_int(statement.get(), kHidden) != 0) {
      continue;
    }
    table.columns.push_back({.name = ColumnText(statement.get(), kName),
                             .type = ColumnText(statement.get(), kType),
                             .primary_key = sqlite3_column_int(statement.get(), kKey) > 0});
  }
  if (step != SQLITE_DONE) {
    return file_.ReadError(table.name, db);
  }
  return {};
}

Status SqliteSource::ReadWhere(std::string_view table, std::span<const WantedColumn> columns,
                               const std::string& condition, const BatchSink& sink) const {
  NSYS_ASSIGN(const SqliteDatabase db, file_.Connect());
  std::string sql = "SELECT ";
  for (const WantedColumn& column : columns) {
    if (&column != columns.data()) {
      sql += ',';
    }
    sql += QuoteName(column.name);
  }
  // Without ORDER BY, as a plain scan delivers the rows by rowid already; NOT INDEXED keeps it so
  // when someone added a covering index.
  sql += fmt::format(" FROM {} NOT INDEXED{}", QuoteName(table), condition);
  NSYS_ASSIGN(const SqliteStatement statement, Prepare(db.get(), sql, table));
  BatchBuilder batch(columns);
  int step = SQLITE_ROW;
  while ((step = sqlite3_step(statement.get())) == SQLITE_ROW) {
    if (!batch.AddRow(statement.get())) {
      return file_.ReadError(table, db.get());
    }
    if (batch.full() && !batch.Flush(sink)) {
      return {};
    }
  }
  if (step != SQLITE_DONE) {
    return file_.ReadError(table, db.get());
  }
  batch.Flush(sink);
  return {};
}

}  // namespace

Result<std::unique_ptr<TableSource>> OpenSqlite(const std::string& path, std::string reason) {
  NSYS_ASSIGN(SqliteFile file, SqliteFile::Open(path));
  auto source = std::make_unique<SqliteSource>(std::move(file), std::move(reason));
  NSYS_TRY(source->LoadTables());
  return std::unique_ptr<TableSource>(std::move(source));
}

}  // namespace nsys
