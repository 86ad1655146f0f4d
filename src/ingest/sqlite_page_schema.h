// SPDX-License-Identifier: MIT
// What SQLite says of the tables of a file: where their trees begin, and what their columns are in
// a record.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "base/result.h"
#include "ingest/sqlite_btree.h"
#include "ingest/sqlite_record.h"

namespace nsys {

struct PagedColumn {
  std::string name;
  bool is_rowid = false;
  bool real_affinity = false;
  bool has_default = false;
};

struct PagedTable {
  uint32_t root = 0;
  std::vector<PagedColumn> columns;  // in the order of records
  Refusal refusal = nullptr;         // why it cannot be read by pages

  // Empty when the table has not all of them.
  std::vector<WantedCell> Find(std::span<const WantedColumn> wanted) const;
};

struct PagedSchema {
  uint32_t cookie = 0;
  std::map<std::string, PagedTable, std::less<>> tables;
};

// An error holds SQLite's words.
Result<PagedSchema> LoadPagedSchema(sqlite3* db);

}  // namespace nsys
