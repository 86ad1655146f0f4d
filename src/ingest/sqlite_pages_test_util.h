// SPDX-License-Identifier: MIT
// For the tests of the page reader: what a reader gives of a table as one line, to be compared with
// what SQLite gives.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/ingest_test_util.h"
#include "ingest/sqlite_pages.h"

namespace nsys::ingest_test {

// Rows, and per column: NULLs, sums, and a number that depends on every byte and its place.
class TableDigest {
 public:
  explicit TableDigest(size_t columns) : columns_(columns) {}

  void Add(const Batch& batch) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      Add(batch.columns[i], batch.rows, columns_[i]);
    }
    rows_ += batch.rows;
  }

  std::string ToString() const {
    std::string out = fmt::format("{} rows", rows_);
    for (const Column& column : columns_) {
      out += fmt::format("\n {} NULL, sums {} {}, {} bytes, {:016x}{}", column.nulls,
                         column.integers, column.reals, column.bytes, column.mixed, column.foreign);
    }
    return out;
  }

 private:
  struct Column {
    uint64_t nulls = 0;
    uint64_t integers = 0;
    double reals = 0;
    uint64_t bytes = 0;
    uint64_t mixed = 0xCBF29CE484222325U;
    std::string foreign;  // rows and types
  };

  static void Mix(uint64_t value, Column& to) { to.mixed = (to.mixed ^ value) * 0x100000001B3U; }

  void Add(const ColumnBatch& cells, size_t rows, Column& to) const {
    for (const ForeignCell& cell : cells.foreign) {
      to.foreign += fmt::format(" {}:{}", rows_ + cell.row, cell.type);
    }
    for (size_t row = 0; row < rows; ++row) {
      to.nulls += cells.valid[row] == 0 ? 1 : 0;
      Mix(cells.valid[row], to);
      if (!cells.integers.empty()) {
        to.integers += static_cast<uint64_t>(cells.integers[row]);
        Mix(static_cast<uint64_t>(cells.integers[row]), to);
      } else if (!cells.reals.empty()) {
        to.reals += cells.reals[row];
        Mix(std::bit_cast<uint64_t>(cells.reals[row]), to);
      } else {
        const std::string_view text = cells.texts[row];
        to.bytes += text.size();
        Mix(text.size(), to);
        for (const char byte : text) {
          Mix(static_cast<unsigned char>(byte), to);
        }
      }
    }
  }

  uint64_t rows_ = 0;
  std::vector<Column> columns_;
};

inline Result<std::string> DigestOf(const TableSource& source, const std::string& table,
                                    const std::vector<WantedColumn>& wanted) {
  TableDigest digest(wanted.size());
  NSYS_TRY(source.Read(table, wanted, [&](const Batch& batch) { digest.Add(batch); }));
  return digest.ToString();
}

// The columns of `table` together, each as every type, and then one by one: of wide tables some.
inline std::vector<std::vector<WantedColumn>> WaysToRead(const SourceTable& table) {
  constexpr CellType kTypes[] = {CellType::kInteger, CellType::kReal, CellType::kText};
  std::vector<std::vector<WantedColumn>> ways(1);
  const size_t step = 1 + table.columns.size() / 8;
  for (size_t i = 0; i < table.columns.size(); ++i) {
    for (const CellType type : kTypes) {
      ways.front().push_back({table.columns[i].name, type});
    }
    if (i % step == 0) {
      ways.push_back({{table.columns[i].name, kTypes[i / step % 3]}});
    }
  }
  return ways;
}

// Expects that both sources give the same for `table`, errors included.
inline void ExpectSameTable(const TableSource& source, const TableSource& sqlite,
                            const SourceTable& table) {
  for (const auto& way : WaysToRead(table)) {
    const Result<std::string> ours = DigestOf(source, table.name, way);
    const Result<std::string> theirs = DigestOf(sqlite, table.name, way);
    ASSERT_EQ(ours.ok(), theirs.ok())
        << table.name << "." << way.front().name << ": "
        << (ours.ok() ? theirs.error().message : ours.error().message);
    if (ours.ok()) {
      ASSERT_EQ(ours.value(), theirs.value()) << table.name << "." << way.front().name;
    }
  }
}

// Expects that `reader` gives every table of the file as SQLite does.
inline void ExpectAsSqlite(const std::string& path, SqliteReader reader, int threads = 1) {
  const auto sqlite = OpenSqliteAs(path, SqliteReader::kSqlite, 1);
  ASSERT_TRUE(sqlite.ok()) << sqlite.error().message;
  const auto source = OpenSqliteAs(path, reader, threads);
  ASSERT_TRUE(source.ok()) << source.error().message;
  for (const SourceTable& table : sqlite.value()->tables()) {
    ExpectSameTable(*source.value(), *sqlite.value(), table);
  }
}

}  // namespace nsys::ingest_test
