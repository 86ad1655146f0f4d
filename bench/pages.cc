// SPDX-License-Identifier: MIT
// bench-pages CAPTURE: what reading the hot tables by pages costs beside plain sqlite3_step over
// the same columns, which touches every cell and keeps none. `scan` sums the cells up, `keep` has
// all columns in memory at the end. CPU seconds, opening included, in turns.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/core.h>

#include "cpu_clock.h"
#include "hot_tables.h"
#include "ingest/schema_probe.h"
#include "ingest/sqlite_pages.h"

namespace nsys::bench {
namespace {

constexpr int kRounds = 3;

struct TableRead {
  std::string name;
  std::vector<WantedColumn> columns;
  uint64_t rows = 0;
  uint64_t text_bytes = 0;
};

std::unique_ptr<TableSource> Open(const std::string& path, int threads) {
  auto source = OpenSqliteAs(path, SqliteReader::kPages, threads);
  if (!source.ok()) {
    Die(source.error().message);
  }
  return std::move(source).value();
}

TableRead ReadOf(const SourceTable& table, const HotTable& hot) {
  TableRead read{.name = table.name, .columns = {}, .rows = 0, .text_bytes = 0};
  for (const char* name : hot.sources) {
    if (table.Find(name) != nullptr) {
      const bool text = std::string_view(name) == "text";
      read.columns.push_back({name, text ? CellType::kText : CellType::kInteger});
    }
  }
  return read;
}

template <typename Sink>
void ReadAll(const std::string& path, int threads, const std::vector<TableRead>& reads,
             const Sink& sink) {
  const auto source = Open(path, threads);
  for (const TableRead& read : reads) {
    const Status status = source->Read(read.name, read.columns, sink(read));
    if (!status.ok()) {
      Die(status.error().message);
    }
  }
}

uint64_t Scan(const std::string& path, int threads, const std::vector<TableRead>& reads) {
  uint64_t sum = 0;
  ReadAll(path, threads, reads, [&](const TableRead&) {
    return [&](const Batch& batch) {
      for (const ColumnBatch& column : batch.columns) {
        for (const int64_t number : column.integers) {
          sum += static_cast<uint64_t>(number);
        }
        for (const std::string_view text : column.texts) {
          sum += text.size() + (text.empty() ? 0 : static_cast<uint8_t>(text.front()));
        }
      }
    };
  });
  return sum;
}

struct KeptColumn {
  std::vector<int64_t> integers;
  std::vector<uint8_t> valid;
  std::string texts;
  std::vector<size_t> text_ends;
};

size_t KeepAll(const std::string& path, int threads, const std::vector<TableRead>& reads) {
  std::vector<std::vector<KeptColumn>> tables;
  ReadAll(path, threads, reads, [&](const TableRead& read) {
    tables.emplace_back(read.columns.size());
    for (size_t i = 0; i < read.columns.size(); ++i) {
      KeptColumn& column = tables.back()[i];
      column.valid.reserve(read.rows);
      if (read.columns[i].type == CellType::kText) {
        column.text_ends.reserve(read.rows);
        column.texts.reserve(read.text_bytes);
      } else {
        column.integers.reserve(read.rows);
      }
    }
    return [&kept = tables.back()](const Batch& batch) {
      for (size_t i = 0; i < kept.size(); ++i) {
        const ColumnBatch& from = batch.columns[i];
        KeptColumn& to = kept[i];
        to.integers.insert(to.integers.end(), from.integers.begin(), from.integers.end());
        to.valid.insert(to.valid.end(), from.valid.begin(), from.valid.end());
        for (const std::string_view text : from.texts) {
          to.texts += text;
          to.text_ends.push_back(to.texts.size());
        }
      }
    };
  });
  Keep(tables);
  return tables.size();
}

// How much there is to keep, so that columns are made in their size.
void Count(const std::string& path, TableRead& read) {
  ReadAll(path, 1, {read}, [&](const TableRead&) {
    return [&](const Batch& batch) {
      read.rows += batch.rows;
      for (const ColumnBatch& column : batch.columns) {
        for (const std::string_view text : column.texts) {
          read.text_bytes += text.size();
        }
      }
    };
  });
}

void Report(const std::string& path, const char* label, const std::vector<TableRead>& reads,
            const std::vector<std::string>& queries) {
  uint64_t rows = 0;
  for (const TableRead& read : reads) {
    rows += read.rows;
  }
  const auto step = [&] { Keep(Step(path, queries)); };
  const Pair scan = InTurns(kRounds, [&] { Keep(Scan(path, 1, reads)); }, step);
  const Pair keep = InTurns(kRounds, [&] { KeepAll(path, 1, reads); }, step);
  const double two = CpuSecondsOf([&] { Keep(Scan(path, 2, reads)); });
  fmt::print("{:<8}  {:>9}  {:>8.3f}  {:>5.1f}x  {:>8.3f}  {:>5.1f}x  {:>8.3f}  {:>12.3f}\n", label,
             rows, scan.ours, scan.limit / scan.ours, keep.ours, keep.limit / keep.ours, two,
             scan.limit);
}

int Main(const std::string& path) {
  const auto source = Open(path, 1);
  const Schema schema = ProbeSchema(*source);
  std::vector<TableRead> all;
  std::vector<std::string> all_queries;
  fmt::print("{:<8}  {:>9}  {:>8}  {:>6}  {:>8}  {:>6}  {:>8}  {:>12}\n", "table", "rows", "scan s",
             "less", "keep s", "less", "2 thr. s", "sqlite3_step");
  for (const HotTable& hot : HotTables()) {
    const SourceTable* table = schema.Find(hot.table);
    const std::string query = Select(schema, hot);
    if (table == nullptr || query.empty()) {
      continue;
    }
    all.push_back(ReadOf(*table, hot));
    Count(path, all.back());
    all_queries.push_back(query);
    Report(path, hot.label, {all.back()}, {query});
  }
  Report(path, "all", all, all_queries);
  return 0;
}

}  // namespace
}  // namespace nsys::bench

int main(int argc, char** argv) {
  if (argc != 2) {
    fmt::print(stderr, "usage: bench-pages CAPTURE.sqlite\n");
    return 2;
  }
  return nsys::bench::Main(argv[1]);
}
