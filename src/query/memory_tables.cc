// SPDX-License-Identifier: MIT
#include "query/memory_tables.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include "base/number.h"
#include "base/text.h"
#include "ingest/sql_quotes.h"
#include "ingest/sqlite_temp.h"
#include "query/sql_text.h"

namespace nsys {
namespace {

// SQLite compares names of columns without case: of two that differ in case alone, the first
// counts.
std::vector<size_t> DistinctColumns(const SourceTable& table) {
  std::vector<size_t> positions;
  std::set<std::string> seen;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    if (seen.insert(LowerAscii(table.columns[i].name)).second) {
      positions.push_back(i);
    }
  }
  return positions;
}

bool HasKey(const SourceTable& table) {
  return std::any_of(table.columns.begin(), table.columns.end(),
                     [](const SourceColumn& column) { return column.primary_key; });
}

std::string CreateSql(const SourceTable& table, bool keyed) {
  std::vector<std::string> parts;
  std::vector<std::string> key;
  for (const size_t i : DistinctColumns(table)) {
    const SourceColumn& column = table.columns[i];
    parts.push_back(fmt::format("{} {}", QuoteName(column.name), column.type));
    if (keyed && column.primary_key) {
      key.push_back(QuoteName(column.name));
    }
  }
  if (!key.empty()) {
    parts.push_back(fmt::format("PRIMARY KEY({})", Join(key, ",")));
  }
  return fmt::format("CREATE TABLE {} ({})", QuoteName(table.name), Join(parts, ","));
}

// How the cells of a column come out of the file. Payloads are bytes under a text's label.
CellType CellTypeOf(const SourceColumn& column) {
  return column.type == "INTEGER" ? CellType::kInteger
         : column.type == "REAL"  ? CellType::kReal
                                  : CellType::kText;
}

bool IsBlob(const SourceColumn& column) {
  return column.type == "BLOB" || column.name == "binaryData";
}

// Binds and inserts the rows of batches.
class Inserter {
 public:
  // `key`: the parameter of a key that SQLite would make up where it is missing, or none.
  Inserter(sqlite3_stmt* insert, std::vector<WantedColumn> wanted, std::vector<bool> blobs,
           std::optional<size_t> key)
      : insert_(insert), wanted_(std::move(wanted)), blobs_(std::move(blobs)), key_(key) {}

  // SQLITE_DONE, or what went wrong.
  int Insert(const Batch& batch) {
    for (size_t row = 0; row < batch.rows; ++row) {
      if (key_ && batch.columns[*key_].valid[row] == 0) {
        return SQLITE_CONSTRAINT;
      }
      for (size_t i = 0; i < wanted_.size(); ++i) {
        Bind(static_cast<int>(i) + 1, batch.columns[i], row, i);
      }
      const int code = sqlite3_step(insert_);
      sqlite3_reset(insert_);
      if (code != SQLITE_DONE) {
        return code;
      }
    }
    return SQLITE_DONE;
  }

 private:
  void Bind(int parameter, const ColumnBatch& column, size_t row, size_t index) {
    if (column.valid[row] == 0) {
      sqlite3_bind_null(insert_, parameter);
    } else if (wanted_[index].type == CellType::kInteger) {
      sqlite3_bind_int64(insert_, parameter, column.integers[row]);
    } else if (wanted_[index].type == CellType::kReal) {
      sqlite3_bind_double(insert_, parameter, column.reals[row]);
    } else {
      const std::string_view text = column.texts[row];
      const char* bytes = text.data() == nullptr ? "" : text.data();
      if (blobs_[index]) {
        sqlite3_bind_blob64(insert_, parameter, bytes, text.size(), SQLITE_STATIC);
      } else {
        sqlite3_bind_text64(insert_, parameter, bytes, text.size(), SQLITE_STATIC, SQLITE_UTF8);
      }
    }
  }

  sqlite3_stmt* insert_;
  std::vector<WantedColumn> wanted_;
  std::vector<bool> blobs_;
  std::optional<size_t> key_;
};

Error NoMemory(const SourceTable& table, int64_t rows) {
  return SqlError(fmt::format("the table {} does not fit into the memory limit: {} of its rows "
                              "were read so far",
                              Printable(table.name), FormatCount(rows)),
                  "use --engine duckdb, which reads Parquet in place, or allow more memory");
}

const char* ColumnText(sqlite3_stmt* statement, int index) {
  const unsigned char* text = sqlite3_column_text(statement, index);
  return text == nullptr ? "" : reinterpret_cast<const char*>(text);
}

}  // namespace

Result<SqliteDatabase> OpenMemoryDatabase() {
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_MEMORY |
                    SQLITE_OPEN_PRIVATECACHE | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(":memory:", &raw, flags, MemoryTempVfs("unix"));
  SqliteDatabase db(raw);
  const int set = opened != SQLITE_OK
                      ? opened
                      : sqlite3_exec(raw, "PRAGMA journal_mode=OFF; PRAGMA secure_delete=OFF",
                                     nullptr, nullptr, nullptr);
  if (set != SQLITE_OK) {
    return SqlError("SQLite could not start");
  }
  return db;
}

Status MemoryTables::Execute(const std::string& sql) const {
  if (sqlite3_exec(db_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) {
    return SqlError(
        fmt::format("the tables could not be made: {}", Printable(sqlite3_errmsg(db_))));
  }
  return {};
}

Status MemoryTables::Create(const SourceTable& table, bool keyed) const {
  return table.columns.empty() ? Status() : Execute(CreateSql(table, keyed));
}

Status MemoryTables::CreateEmpty() {
  NSYS_TRY(Execute("BEGIN"));
  for (const SourceTable& table : tables_) {
    NSYS_TRY(Create(table, HasKey(table)));
  }
  return Execute("COMMIT");
}

Result<MemoryTables::Columns> MemoryTables::ReadBy(const std::string& text) const {
  std::map<int, const SourceTable*> trees;  // tables, and indices of them, by root page
  const auto run = [&](const std::string& sql, const auto& row) -> Status {
    sqlite3_stmt* raw = nullptr;
    int code = sqlite3_prepare_v2(db_, sql.c_str(), -1, &raw, nullptr);
    const SqliteStatement statement(raw);
    while (code == SQLITE_OK && (code = sqlite3_step(raw)) == SQLITE_ROW) {
      row(raw);
      code = SQLITE_OK;
    }
    return code == SQLITE_DONE ? Status() : SqlError(Printable(sqlite3_errmsg(db_)));
  };
  NSYS_TRY(run("SELECT rootpage, tbl_name FROM sqlite_master", [&](sqlite3_stmt* row) {
    const std::string_view name = ColumnText(row, 1);
    const auto at = std::find_if(tables_.begin(), tables_.end(),
                                 [&](const SourceTable& table) { return table.name == name; });
    if (at != tables_.end()) {
      trees[sqlite3_column_int(row, 0)] = &*at;
    }
  }));
  // The program names a table by its root page when it opens a cursor, and a column by the cursor
  // and its position. A cursor number may be opened several times.
  std::map<int, std::set<const SourceTable*>> cursors;
  std::map<int, std::set<size_t>> positions;
  std::set<int> whole;
  NSYS_TRY(run("EXPLAIN " + text, [&](sqlite3_stmt* row) {
    const std::string_view operation = ColumnText(row, 1);
    const int first = sqlite3_column_int(row, 2);
    const int second = sqlite3_column_int(row, 3);
    const bool in_main = sqlite3_column_int(row, 4) == 0;
    if (operation == "OpenRead" || operation == "ReopenIdx") {
      if (const auto tree = trees.find(second); in_main && tree != trees.end()) {
        cursors[first].insert(tree->second);
      }
    } else if (operation == "Column") {
      positions[first].insert(static_cast<size_t>(second));
    } else if (operation == "RowData") {
      whole.insert(first);
    }
  }));
  Columns read;
  for (const auto& [cursor, tables] : cursors) {
    for (const SourceTable* table : tables) {
      const std::vector<size_t> distinct = DistinctColumns(*table);
      std::set<size_t>& columns = read[table->name];
      for (size_t i = 0; i < distinct.size(); ++i) {
        // The key orders the rows, and indices are made of it.
        if (table->columns[distinct[i]].primary_key || positions[cursor].contains(i) ||
            whole.contains(cursor)) {
          columns.insert(distinct[i]);
        }
      }
    }
  }
  return read;
}

Status MemoryTables::Load(const Columns& wanted, const TableSource& source,
                          const std::function<bool()>& stop) {
  for (const auto& [name, columns] : wanted) {
    const auto at = std::find_if(tables_.begin(), tables_.end(),
                                 [&](const SourceTable& table) { return table.name == name; });
    const auto before = loaded_.find(name);
    const bool there =
        before != loaded_.end() &&
        std::includes(before->second.begin(), before->second.end(), columns.begin(), columns.end());
    if (at == tables_.end() || there) {
      continue;
    }
    std::set<size_t> all = columns;
    if (before != loaded_.end()) {
      all.insert(before->second.begin(), before->second.end());
      loaded_.erase(before);
    }
    NSYS_TRY(Execute(fmt::format("DELETE FROM {}", QuoteName(name))));
    NSYS_ASSIGN(const bool keys_hold, Fill(*at, all, source, stop));
    if (!keys_hold && !stop()) {
      // Keys that repeat or are missing: no key then, as the file has none either.
      NSYS_TRY(Execute(fmt::format("DROP TABLE {}", QuoteName(name))));
      NSYS_TRY(Create(*at, false));
      keyless_.insert(name);
      NSYS_TRY(Fill(*at, all, source, stop));
    }
    if (!stop()) {
      loaded_[name] = all;
    }
  }
  return {};
}

// False when a row was refused because of its key; the table is empty then.
Result<bool> MemoryTables::Fill(const SourceTable& table, const std::set<size_t>& columns,
                                const TableSource& source, const std::function<bool()>& stop) {
  std::set<size_t> filled = columns;
  if (filled.empty()) {
    filled.insert(0);  // one column tells the number of rows
  }
  std::vector<WantedColumn> wanted;
  std::vector<bool> blobs;
  std::vector<std::string> names;
  std::optional<size_t> key;
  for (const size_t i : filled) {
    const SourceColumn& column = table.columns[i];
    if (column.primary_key && !keyless_.contains(table.name)) {
      key = wanted.size();
    }
    wanted.push_back({.name = column.name, .type = CellTypeOf(column)});
    blobs.push_back(IsBlob(column));
    names.push_back(QuoteName(column.name));
  }
  std::string marks = "?";
  for (size_t i = 1; i < names.size(); ++i) {
    marks += ",?";
  }
  const std::string sql = fmt::format("INSERT INTO {} ({}) VALUES ({})", QuoteName(table.name),
                                      Join(names, ","), marks);
  sqlite3_stmt* raw = nullptr;
  if (sqlite3_prepare_v2(db_, sql.c_str(), -1, &raw, nullptr) != SQLITE_OK) {
    return SqlError(Printable(sqlite3_errmsg(db_)));
  }
  const SqliteStatement insert(raw);
  Inserter inserter(raw, wanted, blobs, key);
  int code = SQLITE_DONE;
  int64_t rows = 0;
  NSYS_TRY(Execute("BEGIN"));
  const Status read = source.Read(table.name, wanted, [&](const Batch& batch) {
    code = inserter.Insert(batch);
    rows += static_cast<int64_t>(batch.rows);
    return code == SQLITE_DONE && !stop();
  });
  const bool complete = read.ok() && code == SQLITE_DONE;
  if (complete && Execute("COMMIT").ok()) {
    return true;
  }
  sqlite3_exec(db_, "ROLLBACK", nullptr, nullptr, nullptr);
  sqlite3_exec(db_, fmt::format("DELETE FROM {}", QuoteName(table.name)).c_str(), nullptr, nullptr,
               nullptr);
  NSYS_TRY(read);
  if ((code & 0xFF) == SQLITE_CONSTRAINT || (code & 0xFF) == SQLITE_MISMATCH) {
    return false;
  }
  return NoMemory(table, rows);
}

}  // namespace nsys
