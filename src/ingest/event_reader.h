// SPDX-License-Identifier: MIT
// Reads the rows of one table of timed events: asks for the source columns that exist, drops rows
// without sensible times and counts them.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <new>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/cells.h"
#include "ingest/foreign_cells.h"
#include "ingest/launch_rows.h"
#include "ingest/load.h"
#include "ingest/string_ids.h"
#include "ingest/table_source.h"
#include "trace/trace.h"

namespace nsys {

// What all tables share while they are read. Only `pool` changes, under `pool_mutex`, and `notes`,
// under `notes_mutex`.
struct LoadContext {
  const TableSource& source;
  const Schema& schema;
  const StringIds& strings;
  const LoadOptions& options;
  const Reads& reads;
  StringPool& pool;
  LaunchRows& launches;
  std::mutex pool_mutex = {};
  std::atomic<int64_t> rows_read = 0;
  std::mutex notes_mutex = {};
  std::map<TableId, std::vector<std::string>> notes = {};  // about the cells of small tables

  // What decides the order of rows that start and end at the same times, before their place in the
  // file does.
  std::span<const int64_t> TiesOf(const std::vector<int64_t>& correlation) const {
    return options.for_drawing ? std::span<const int64_t>(correlation) : std::span<const int64_t>();
  }
};

// Whether a row without an end is kept, as one that ends when it starts.
enum class OpenEnd { kDrop, kKeep };

class EventReader {
 public:
  EventReader(LoadContext& context, TableId table);
  // Of a table of moments, whose time is in the first of the columns `times` that it has.
  EventReader(LoadContext& context, TableId table, std::span<const std::string_view> times);

  SourceColumnIndex Integer(std::string_view name) { return Want(name, CellType::kInteger); }
  SourceColumnIndex Real(std::string_view name) { return Want(name, CellType::kReal); }
  SourceColumnIndex Text(std::string_view name) { return Want(name, CellType::kText); }

  // Of the times; kAbsent where the table lacks them.
  SourceColumnIndex start() const { return start_; }
  SourceColumnIndex end() const { return end_; }

  // Passes over the rows that do not touch LoadOptions::window.
  void SkipOutsideWindow() { window_ = context_.options.window; }

  // Whether the file has no end for the row.
  bool IsOpen(const Cells& cells) const { return !cells.Integer(end_).has_value(); }

  // Takes back the times of the row that was added last.
  static void TakeBack(Events& events);

  // Rows that do not match may be left out; columns that the table lacks are taken out of it.
  void Hint(RowHint hint);

  // Passes over the rows for which `wanted(cells)` does not hold.
  void SkipUnless(std::function<bool(const Cells&)> wanted) { only_ = std::move(wanted); }

  // Appends the times of each good row to `events` and calls `row(cells)` for it.
  template <typename Table, typename Row>
  Status Read(OpenEnd open_end, Table& events, const Row& row) {
    return Stream(events, [&](const Batch& batch) {
      for (size_t i = 0; i < batch.rows; ++i) {
        const Cells cells(batch, i);
        if (AddTimes(cells, open_end, events)) {
          row(cells);
        }
      }
    });
  }

  // The same column by column, as large tables want it: appends the times of the good rows of each
  // batch and calls `take(batch, rows)` for them.
  template <typename Table, typename Take>
  Status ReadColumns(OpenEnd open_end, Table& events, const Take& take) {
    return Stream(events,
                  [&](const Batch& batch) { take(batch, AddTimesOf(batch, open_end, events)); });
  }

  // Number of rows kept though they end before they start.
  int64_t Clamped() const { return clamped_; }

  // Number of rows left out.
  int64_t LeftOut() const;

  // What was left out, one sentence per reason.
  std::vector<std::string> Warnings() const;

 private:
  template <typename Table, typename Take>
  Status Stream(Table& events, const Take& take) {
    if (!HasTimes()) {
      return {};
    }
    const auto sink = [&](const Batch& batch) {
      take(batch);
      Reserve(batch, events);
      foreign_.Count(batch);
      Progress(batch.rows);
    };
    NSYS_TRY(hint_ ? context_.source.ReadHinted(table_->name, wanted_, *hint_, sink)
                   : context_.source.Read(table_->name, wanted_, sink));
    return foreign_.Check(context_.source, table_->name, wanted_);
  }

  // Makes room for all rows when the first ones tell which columns there are, so that no column is
  // copied while it grows. Once: the number is a guess, and another one for every batch. For the
  // same reason a lack of memory for it means nothing yet.
  template <typename Table>
  void Reserve(const Batch& batch, Table& events) {
    if (window_ || has_room_ || events.start_ns.empty()) {
      return;
    }
    has_room_ = true;
    const auto reserve = [&](auto& column) {
      if (!column.empty()) {
        column.reserve(batch.rows_in_all);
      }
    };
    try {
      std::apply([&](auto&... columns) { (reserve(columns), ...); }, events.columns());
    } catch (const std::bad_alloc&) {
      return;
    }
  }

  SourceColumnIndex Want(std::string_view name, CellType type);
  bool HasTimes();
  bool AddTimes(const Cells& cells, OpenEnd open_end, Events& events);
  Rows AddTimesOf(const Batch& batch, OpenEnd open_end, Events& events);
  bool AddAllTimes(const Batch& batch, OpenEnd open_end, Events& events);
  void Append(int64_t start, int64_t end, Events& events);
  void Progress(size_t rows);

  LoadContext& context_;
  const SourceTable* table_;
  std::vector<WantedColumn> wanted_;
  std::optional<RowHint> hint_;
  bool moments_;
  ForeignCells foreign_;  // the times are required; they are wanted first
  SourceColumnIndex start_;
  SourceColumnIndex end_;
  std::optional<Span> window_;
  bool has_room_ = false;
  std::function<bool(const Cells&)> only_;
  std::vector<uint32_t> all_rows_;  // 0, 1, 2 …
  // Of the batch at hand:
  std::vector<uint32_t> kept_;
  std::vector<int64_t> ends_;
  int64_t without_start_ = 0;
  int64_t without_end_ = 0;
  int64_t reversed_ = 0;
  int64_t clamped_ = 0;
  int64_t out_of_range_ = 0;
  int64_t total_ns_ = 0;  // of the rows kept
};

}  // namespace nsys
