// SPDX-License-Identifier: MIT
#include "ingest/sqlite_page_schema.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/text.h"
#include "ingest/sqlite_connection.h"

namespace nsys {
namespace {

// The key of a rowid table that is not its rowid has an index of its own.
constexpr const char* kColumnsSql = R"(
SELECT m.name, m.rootpage, l.wr, l.type,
  (SELECT COUNT(*) FROM pragma_index_list(m.name) WHERE origin = 'pk'),
  (SELECT COUNT(*) FROM pragma_table_xinfo(m.name) WHERE pk > 0),
  x.name, x.type, x.pk, x.hidden, x.dflt_value IS NOT NULL
FROM sqlite_master m, pragma_table_list(m.name) l, pragma_table_xinfo(m.name) x
WHERE m.type = 'table' AND m.rootpage <> 0 AND l.schema = 'main'
ORDER BY m.rowid, x.cid)";

enum Cell {
  kTable,
  kRoot,
  kWithoutRowid,
  kTableType,
  kKeyIndexes,
  kKeys,
  kName,
  kType,
  kKey,
  kHidden,
  kDefault
};

std::string TextAt(sqlite3_stmt* statement, int cell) {
  const void* text = sqlite3_column_text(statement, cell);
  const auto bytes = static_cast<size_t>(sqlite3_column_bytes(statement, cell));
  return text == nullptr ? std::string() : std::string(static_cast<const char*>(text), bytes);
}

// How SQLite tells which columns store reals: by words within the declared type.
bool HasRealAffinity(std::string_view type) {
  constexpr std::string_view kOthers[] = {"int", "char", "clob", "text", "blob"};
  constexpr std::string_view kReals[] = {"real", "floa", "doub"};
  const auto names = [&](std::string_view word) { return ContainsIgnoreCase(type, word); };
  return std::none_of(std::begin(kOthers), std::end(kOthers), names) &&
         std::any_of(std::begin(kReals), std::end(kReals), names);
}

bool IsInteger(std::string_view type) {
  constexpr std::string_view kInteger = "integer";
  return type.size() == kInteger.size() && ContainsIgnoreCase(type, kInteger);
}

void AddColumn(sqlite3_stmt* row, PagedTable& table) {
  const auto number = [&](Cell cell) { return sqlite3_column_int64(row, cell); };
  if (number(kWithoutRowid) != 0) {
    table.refusal = "it is WITHOUT ROWID";
  } else if (TextAt(row, kTableType) != "table" && TextAt(row, kTableType) != "shadow") {
    table.refusal = "it is virtual";
  } else if (number(kHidden) != 0) {
    table.refusal = "it has generated columns";
  }
  const std::string type = TextAt(row, kType);
  table.columns.push_back({.name = TextAt(row, kName),
                           .is_rowid = number(kKey) == 1 && number(kKeys) == 1 &&
                                       number(kKeyIndexes) == 0 && IsInteger(type),
                           .real_affinity = HasRealAffinity(type),
                           .has_default = number(kDefault) != 0});
}

Result<int64_t> NumberOf(sqlite3* db, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &raw, nullptr);
  const SqliteStatement statement(raw);
  if (raw == nullptr || sqlite3_step(raw) != SQLITE_ROW) {
    return Error{.code = ErrorCode::kProfile, .message = sqlite3_errmsg(db), .hint = ""};
  }
  return sqlite3_column_int64(raw, 0);
}

}  // namespace

std::vector<WantedCell> PagedTable::Find(std::span<const WantedColumn> wanted) const {
  std::vector<WantedCell> cells;
  for (const WantedColumn& column : wanted) {
    const auto at = std::find_if(columns.begin(), columns.end(), [&](const PagedColumn& candidate) {
      return candidate.name == column.name;
    });
    if (at == columns.end()) {
      return {};
    }
    cells.push_back({.column = static_cast<uint32_t>(at - columns.begin()),
                     .type = column.type,
                     .is_rowid = at->is_rowid,
                     .real_affinity = at->real_affinity,
                     .has_default = at->has_default});
  }
  return cells;
}

Result<PagedSchema> LoadPagedSchema(sqlite3* db) {
  PagedSchema schema;
  NSYS_ASSIGN(const int64_t cookie, NumberOf(db, "PRAGMA schema_version"));
  schema.cookie = static_cast<uint32_t>(cookie);
  sqlite3_stmt* raw = nullptr;
  sqlite3_prepare_v2(db, kColumnsSql, -1, &raw, nullptr);
  const SqliteStatement statement(raw);
  int step = raw == nullptr ? SQLITE_ERROR : SQLITE_ROW;
  while (step == SQLITE_ROW && (step = sqlite3_step(raw)) == SQLITE_ROW) {
    PagedTable& table = schema.tables[TextAt(raw, kTable)];
    const int64_t root = sqlite3_column_int64(raw, kRoot);
    const bool possible = root > 0 && root <= std::numeric_limits<uint32_t>::max();
    table.root = possible ? static_cast<uint32_t>(root) : 0;
    AddColumn(raw, table);
  }
  if (step != SQLITE_DONE) {
    return Error{.code = ErrorCode::kProfile, .message = sqlite3_errmsg(db), .hint = ""};
  }
  return schema;
}

}  // namespace nsys
