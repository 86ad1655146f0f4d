// SPDX-License-Identifier: MIT
// bench-load CAPTURE: what loading the hot tables costs beside plain sqlite3_step over the same
// columns, which reads every cell and keeps nothing. CPU seconds, one thread, in turns.
#include <sqlite3.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/core.h>

#include "cpu_clock.h"
#include "ingest/capture.h"
#include "ingest/load.h"

namespace nsys::bench {
namespace {

constexpr int kRounds = 3;

struct HotTable {
  const char* label;
  TableId table;
  ColumnSet columns;                 // what LoadTrace is asked for
  std::vector<const char*> sources;  // the columns of the file that this rests on
};

const std::vector<HotTable>& HotTables() {
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

[[noreturn]] void Die(const std::string& why) {
  fmt::print(stderr, "bench-load: {}\n", why);
  std::exit(1);
}

size_t RowsOf(const Trace& trace, TableId table) {
  if (table == TableId::kKernel) {
    return trace.kernels.size();
  }
  return table == TableId::kRuntime ? trace.calls.size() : trace.nvtx.size();
}

// Everything a command does to get at `reads`: opening the capture included.
Trace Load(const std::string& path, const Reads& reads) {
  auto source = OpenCapture(path, 1);
  if (!source.ok()) {
    Die(source.error().message);
  }
  auto trace = LoadTrace(*source.value(), reads, {.threads = 1, .progress = {}});
  if (!trace.ok()) {
    Die(trace.error().message);
  }
  return std::move(trace).value();
}

// SELECT of those of `sources` that the table has, or nothing when there is no such table.
std::string Select(const Schema& schema, const HotTable& hot) {
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
uint64_t Step(const std::string& path, const std::vector<std::string>& queries) {
  sqlite3* db = nullptr;
  const std::string uri = "file:" + path + "?mode=ro&immutable=1";
  if (sqlite3_open_v2(uri.c_str(), &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, nullptr) !=
      SQLITE_OK) {
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

void Report(const char* label, size_t rows, const Pair& cpu) {
  fmt::print("{:<8}  {:>11}  {:>10.3f}  {:>12.3f}  {:>15.2f}x\n", label, rows, cpu.ours, cpu.limit,
             cpu.limit / cpu.ours);
}

int Main(const std::string& path) {
  const Trace probe = Load(path, {});
  const std::string strings = "SELECT id, value FROM StringIds";
  Reads all_reads;
  std::vector<std::string> all_queries = {strings};
  size_t all_rows = 0;
  fmt::print("{:<8}  {:>11}  {:>10}  {:>12}  {:>16}\n", "table", "rows", "load CPU s",
             "sqlite CPU s", "load is faster by");
  for (const HotTable& hot : HotTables()) {
    const std::string query = Select(probe.schema, hot);
    if (query.empty()) {
      continue;
    }
    const Reads reads = {{hot.table, hot.columns}};
    size_t rows = 0;
    const Pair cpu = InTurns(
        kRounds, [&] { rows = RowsOf(Load(path, reads), hot.table); },
        [&] { Keep(Step(path, {strings, query})); });
    Report(hot.label, rows, cpu);
    all_reads.Add(reads);
    all_queries.push_back(query);
    all_rows += rows;
  }
  const Pair cpu = InTurns(
      kRounds, [&] { Keep(Load(path, all_reads)); }, [&] { Keep(Step(path, all_queries)); });
  Report("all", all_rows, cpu);
  return 0;
}

}  // namespace
}  // namespace nsys::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench-load CAPTURE.sqlite\n");
    return 2;
  }
  return nsys::bench::Main(argv[1]);
}
