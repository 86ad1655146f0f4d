// SPDX-License-Identifier: MIT
// Columns that tables of GPU work share, for their loaders.
#pragma once

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "base/text.h"
#include "ingest/table_loaders.h"

namespace nsys {

// A number that has 32 bits in every version of the schema; anything else reads as 0, "unknown".
inline int32_t KindOf(std::optional<int64_t> cell) {
  using Limits = std::numeric_limits<int32_t>;
  const bool fits = cell && *cell >= Limits::min() && *cell <= Limits::max();
  return fits ? static_cast<int32_t>(*cell) : 0;
}

inline int32_t MemoryKindOf(std::optional<int64_t> cell) {
  return cell ? KindOf(cell) : kNoMemoryKind;
}

// The columns that all GPU tables have in common.
class GpuColumns {
 public:
  GpuColumns(EventReader& reader, ColumnSet wanted, GpuEvents& to, TableFindings& findings)
      : to_(to),
        findings_(findings),
        lane_(wanted.Has(Column::kLane)),
        correlated_(wanted.Has(Column::kCorrelation)) {
    if (lane_) {
      device_ = reader.Integer("deviceId");
      context_ = reader.Integer("contextId");
      green_context_ = reader.Integer("greenContextId");
      stream_ = reader.Integer("streamId");
      global_pid_ = reader.Integer("globalPid");
    }
    if (correlated_) {
      correlation_ = reader.Integer("correlationId");
    }
  }

  void Add(const Cells& cells) {
    const auto row = static_cast<uint32_t>(cells.row());
    Add(cells.batch(), {&row, 1});
  }

  void Add(const Batch& batch, Rows rows) {
    if (lane_) {
      AddLanes(batch, rows);
    }
    if (correlated_) {
      AppendIntegers(batch, correlation_, rows, kNoCorrelation, to_.correlation);
    }
  }

 private:
  void AddLanes(const Batch& batch, Rows rows) {
    const SameCells same(batch, {device_, context_, green_context_, stream_, global_pid_});
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i > 0 && same(rows[i - 1], rows[i])) {
        to_.lane.push_back(to_.lane.back());
        continue;
      }
      const Cells cells(batch, rows[i]);
      Lane lane{.device = cells.Integer(device_),
                .stream = cells.Integer(stream_),
                .global_pid = cells.Integer(global_pid_),
                .context = cells.Integer(context_),
                .green_context = cells.Integer(green_context_)};
      if (lane.green_context == 0) {
        lane.green_context.reset();
      }
      to_.lane.push_back(LaneId{findings_.lanes.Number(lane)});
    }
  }

  GpuEvents& to_;
  TableFindings& findings_;
  bool lane_;
  bool correlated_;
  SourceColumnIndex device_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex context_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex green_context_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex stream_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex global_pid_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex correlation_ = SourceColumnIndex::kAbsent;
};

// Sizes of copies and the like: what is missing or impossible counts as 0, and is told.
class ByteSizes {
 public:
  explicit ByteSizes(TableId table) : table_(table) {}

  int64_t Checked(std::optional<int64_t> bytes) {
    const bool possible = bytes && *bytes >= 0 && *bytes <= kLargestSum - total_;
    if (!possible) {
      ++unusable_;
      return 0;
    }
    total_ += *bytes;
    return *bytes;
  }

  void Warn(std::vector<std::string>& warnings) const {
    if (unusable_ > 0) {
      warnings.push_back(fmt::format("{}: {} without a usable size; counted as 0 bytes",
                                     CanonicalName(table_), Counted(unusable_, "row")));
    }
  }

 private:
  static constexpr int64_t kLargestSum = int64_t{1} << 62;  // so that sums cannot overflow
  TableId table_;
  int64_t total_ = 0;
  int64_t unusable_ = 0;
};

}  // namespace nsys
