// SPDX-License-Identifier: MIT
// Reads the rows of one table of timed events: asks for the source columns that exist, drops rows
// without sensible times and counts them.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/load.h"
#include "ingest/string_ids.h"
#include "ingest/table_source.h"
#include "trace/trace.h"

namespace nsys {

// What all tables share while they are read. Only `pool` changes, under `pool_mutex`.
struct LoadContext {
  const TableSource& source;
  const Schema& schema;
  const StringIds& strings;
  const ProgressSink& progress;
  StringPool& pool;
  std::mutex pool_mutex = {};
  std::atomic<int64_t> rows_read = 0;
};

// A source column that was asked for; one that the table lacks reads as nothing in every row.
enum class SourceColumnIndex : uint32_t { kAbsent = 0xFFFFFFFF };

// One row of a batch.
class Cells {
 public:
  Cells(const Batch& batch, size_t row) : batch_(batch), row_(row) {}

  std::optional<int64_t> Integer(SourceColumnIndex column) const {
    if (column == SourceColumnIndex::kAbsent) {
      return std::nullopt;
    }
    const ColumnBatch& cells = batch_.columns[static_cast<size_t>(column)];
    if (cells.valid[row_] == 0) {
      return std::nullopt;
    }
    return cells.integers[row_];
  }

  std::optional<std::string_view> Text(SourceColumnIndex column) const {
    if (column == SourceColumnIndex::kAbsent) {
      return std::nullopt;
    }
    const ColumnBatch& cells = batch_.columns[static_cast<size_t>(column)];
    if (cells.valid[row_] == 0) {
      return std::nullopt;
    }
    return cells.texts[row_];
  }

 private:
  const Batch& batch_;
  size_t row_;
};

// Whether a row without an end is kept, as one that ends when it starts.
enum class OpenEnd { kDrop, kKeep };

class EventReader {
 public:
  EventReader(LoadContext& context, TableId table);

  SourceColumnIndex Integer(std::string_view name) { return Want(name, CellType::kInteger); }
  SourceColumnIndex Text(std::string_view name) { return Want(name, CellType::kText); }

  // Rows that do not match may be left out; columns that the table lacks are taken out of it.
  void Hint(RowHint hint);

  // Appends the times of each good row to `events` and calls `row(cells)` for it.
  template <typename Row>
  Status Read(OpenEnd open_end, Events& events, const Row& row) {
    if (!HasTimes()) {
      return {};
    }
    const auto take = [&](const Batch& batch) {
      for (size_t i = 0; i < batch.rows; ++i) {
        const Cells cells(batch, i);
        if (AddTimes(cells, open_end, events)) {
          row(cells);
        }
      }
      Progress(batch.rows);
    };
    return hint_ ? context_.source.ReadHinted(table_->name, wanted_, *hint_, take)
                 : context_.source.Read(table_->name, wanted_, take);
  }

  // Number of rows left out.
  int64_t LeftOut() const;

  // What was left out, one sentence per reason.
  std::vector<std::string> Warnings() const;

 private:
  SourceColumnIndex Want(std::string_view name, CellType type);
  bool HasTimes();
  bool AddTimes(const Cells& cells, OpenEnd open_end, Events& events);
  void Progress(size_t rows);

  LoadContext& context_;
  const SourceTable* table_;
  std::vector<WantedColumn> wanted_;
  std::optional<RowHint> hint_;
  SourceColumnIndex start_;
  SourceColumnIndex end_;
  int64_t without_start_ = 0;
  int64_t without_end_ = 0;
  int64_t reversed_ = 0;
  int64_t out_of_range_ = 0;
  int64_t total_ns_ = 0;  // of the rows kept
};

}  // namespace nsys
