// SPDX-License-Identifier: MIT
// Any bytes as an SQLite file, read by pages and by SQLite: both give the same rows of every table,
// or neither reads it to the end.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-sqlite_pages -max_len=65536 CORPUS_FOLDER
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "ingest/sqlite_pages.h"
#include "input_file.h"

namespace {

using nsys::CellType;

// Everything that a reader gives of a table, or nothing when it fails.
std::string RowsOf(const nsys::TableSource& source, const nsys::SourceTable& table) {
  std::vector<nsys::WantedColumn> wanted;
  for (const nsys::SourceColumn& column : table.columns) {
    for (const CellType type : {CellType::kInteger, CellType::kReal, CellType::kText}) {
      wanted.push_back({column.name, type});
    }
  }
  if (wanted.empty()) {
    return {};
  }
  constexpr size_t kMostBytes = size_t{1} << 22;
  std::string out = "rows";
  const auto append = [&](const auto& value) {
    out.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  std::string foreign;
  size_t rows = 0;
  const nsys::Status status = source.Read(table.name, wanted, [&](const nsys::Batch& batch) {
    for (size_t row = 0; row < batch.rows && out.size() < kMostBytes; ++row) {
      for (const nsys::ColumnBatch& column : batch.columns) {
        append(column.valid[row]);
        if (!column.integers.empty()) {
          append(column.integers[row]);
        } else if (!column.reals.empty()) {
          append(column.reals[row]);
        } else {
          append(column.texts[row].size());
          out.append(column.texts[row]);
        }
      }
    }
    for (size_t i = 0; i < batch.columns.size() && foreign.size() < kMostBytes; ++i) {
      for (const nsys::ForeignCell& cell : batch.columns[i].foreign) {
        foreign += fmt::format("{}:{}:{} ", rows + cell.row, i, cell.type);
      }
    }
    rows += batch.rows;
  });
  return status.ok() ? out + foreign : std::string();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nsys::InputFile file;
  const std::string& path = file.Hold(data, size);
  const auto sqlite = nsys::OpenSqliteAs(path, nsys::SqliteReader::kSqlite, 1);
  const auto pages = nsys::OpenSqliteAs(path, nsys::SqliteReader::kAuto, 1);
  if (sqlite.ok() != pages.ok()) {
    std::abort();
  }
  if (!sqlite.ok()) {
    return 0;
  }
  for (const nsys::SourceTable& table : sqlite.value()->tables()) {
    if (RowsOf(*sqlite.value(), table) != RowsOf(*pages.value(), table)) {
      std::abort();
    }
  }
  return 0;
}
