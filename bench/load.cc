// SPDX-License-Identifier: MIT
// bench-load CAPTURE: what loading the hot tables costs beside plain sqlite3_step over the same
// columns, which reads every cell and keeps nothing. CPU seconds, one thread, in turns.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/core.h>

#include "cpu_clock.h"
#include "hot_tables.h"
#include "ingest/capture.h"
#include "ingest/load.h"

namespace nsys::bench {
namespace {

constexpr int kRounds = 3;

size_t RowsOf(const Trace& trace, TableId table) {
  if (table == TableId::kKernel) {
    return trace.kernels.size();
  }
  return table == TableId::kRuntime ? trace.calls.size() : trace.nvtx.size();
}

// Bytes of the rows of all columns; texts lie apart.
template <typename Table>
size_t ColumnBytes(Table& table) {
  const auto bytes = [](const auto& column) { return column.size() * sizeof(column[0]); };
  return std::apply([&](const auto&... columns) { return (bytes(columns) + ...); },
                    table.columns());
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
  Trace trace = Load(path, all_reads);
  const size_t bytes =
      ColumnBytes(trace.kernels) + ColumnBytes(trace.calls) + ColumnBytes(trace.nvtx);
  fmt::print("columns: {:.1f} bytes per event; {} distinct texts apart\n",
             static_cast<double>(bytes) / static_cast<double>(std::max<size_t>(all_rows, 1)),
             trace.strings.size());
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
