// SPDX-License-Identifier: MIT
// The hot tables of a capture for the benchmarks of readers, and plain sqlite3_step over them.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "ingest/table_source.h"
#include "trace/trace.h"

namespace nsys::bench {

struct HotTable {
  const char* label;
  TableId table;
  ColumnSet columns;                 // what LoadTrace is asked for
  std::vector<const char*> sources;  // the columns of the file that this rests on
};

inline const std::vector<HotTable>& HotTables() {
  static const std::vector<HotTable> tables = {
      {"kernels",
       TableId::kKernel,
       {Column::kTime, Column::kLane, Column::kName},
       {"start", "end", "deviceId", "contextId", "greenContextId", "streamId", "globalPid",
        "shortName", "demangledName"}},
      {"calls",
       TableId::kRuntime,
       {Column::kTime, Column::kThread, Column::kCorrelation, Column::kName},
       {"start", "end", "globalTid", "correlationId", "nameId"}},
      {"NVTX",
       TableId::kNvtx,
       {Column::kTime, Column::kThread, Column::kName, Column::kKind},
       {"start", "end", "globalTid", "domainId", "text", "textId", "eventType"}},
  };
  return tables;
}

[[noreturn]] inline void Die(const std::string& why) {
  fmt::print(stderr, "benchmark: {}\n", why);
  std::exit(1);
}

// SELECT of those of `sources` that the table has, or nothing when there is no such table.
inline std::string Select(const Schema& schema, const HotTable& hot) {
  const SourceTable* table = schema.Find(hot.table);
  std::string columns;
  for (const char* name : hot.sources) {
    if (table == nullptr || table->Find(name) == nullptr) {
      continue;
    }
    columns += fmt::format("{}\"{}\"", columns.empty() ? "" : ",", name);
  }
  if (columns.empty()) {
    return {};
  }
  return fmt::format("SELECT {} FROM \"{}\" NOT INDEXED", columns, table->name);
}

// Steps through the rows and touches every cell.
inline uint64_t Step(const std::string& path, const std::vector<std::string>& queries) {
  sqlite3* db = nullptr;
  const std::string uri = "file:" + path + "?mode=ro&immutable=1";
  if (sqlite3_open_v2(uri.c_str(), &db,
                      SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX,
                      nullptr) != SQLITE_OK) {
    Die(sqlite3_errmsg(db));
  }
  sqlite3_exec(db, "PRAGMA mmap_size=1099511627776", nullptr, nullptr, nullptr);
  uint64_t sum = 0;
  for (const std::string& query : queries) {
    sqlite3_stmt* statement = nullptr;
    if (sqlite3_prepare_v2(db, query.c_str(), -1, &statement, nullptr) != SQLITE_OK) {
      Die(sqlite3_errmsg(db));
    }
    const int columns = sqlite3_column_count(statement);
    while (sqlite3_step(statement) == SQLITE_ROW) {
      for (int i = 0; i < columns; ++i) {
        if (sqlite3_column_type(statement, i) == SQLITE_TEXT) {
          sqlite3_column_text(statement, i);
          sum += static_cast<uint64_t>(sqlite3_column_bytes(statement, i));
        } else {
          sum += static_cast<uint64_t>(sqlite3_column_int64(statement, i));
        }
      }
    }
    sqlite3_finalize(statement);
  }
  sqlite3_close(db);
  return sum;
}

}  // namespace nsys::bench
