// SPDX-License-Identifier: MIT
// What a question reads of a capture: tables, columns and rows. The less it asks for, the less time
// and memory it takes.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <utility>

#include "trace/intervals.h"

namespace nsys {

enum class TableId : uint8_t {
  kKernel,
  kMemcpy,
  kMemset,
  kGraphTrace,
  kSync,
  kRuntime,
  kNvtx,
  kStringIds,
  kCudaDevice,
  kGpu,
  kThreadNames,
  kSamples,
  kOverhead,
  kNics,
  kMemoryKinds,
  kSyncTypes,
  kPayloadSchemas,
  kPayloadEntries,
  kOsrt,
  kMemoryUsage,
  kGpuMetrics,
  kGpuMetricNames,
  kProcesses,
  kExportSettings,
  kSessionStart,
};
inline constexpr size_t kTableCount = 25;

// The name of the table in Nsight's schema, e.g. "CUPTI_ACTIVITY_KIND_KERNEL".
std::string_view CanonicalName(TableId table);

// What can be asked of a table. One Column may rest on several columns of the file: kLane reads
// deviceId, contextId, greenContextId, streamId and globalPid.
enum class Column : uint8_t {
  kTime,         // start_ns, end_ns
  kLane,         // where a GPU event ran
  kCorrelation,  // the id that a call and the work it launched share
  kName,         // kernel names; name of an API call; text of an NVTX range
  kThread,       // the thread of an API call or, with its domain, of an NVTX range
  kBytes,
  kKind,     // copy kind, synchronization type, NVTX event type
  kMemory,   // of a copy: what memory it reads and writes
  kPayload,  // of an NVTX range whose text begins with nccl: its binary payload; needs kName
  kWhole,    // every column of a table that is always read as a whole: those from kCudaDevice on
  kShape,    // of a kernel: its grid and block
  kGraph,    // of a kernel, a copy or a traced graph: which graph, and which node of it
  kMangled,  // of a kernel: its mangled name
  kRoute,    // of a copy: devices, contexts and address; of a memset: the value written
  // Of an NVTX row: whether it is open at the end, category, colour and payload value.
  kAttributes,
};
inline constexpr size_t kColumnCount = 15;

class ColumnSet {
 public:
  constexpr ColumnSet() = default;
  constexpr ColumnSet(std::initializer_list<Column> columns) {
    for (const Column column : columns) {
      Add(column);
    }
  }
  constexpr void Add(Column column) { bits_ |= 1U << static_cast<unsigned>(column); }
  constexpr void Add(ColumnSet other) { bits_ |= other.bits_; }
  constexpr bool Has(Column column) const {
    return (bits_ >> static_cast<unsigned>(column) & 1U) != 0;
  }
  constexpr bool empty() const { return bits_ == 0; }
  bool operator==(const ColumnSet&) const = default;

 private:
  uint32_t bits_ = 0;
};

// Which rows of a table are wanted. A reader may give more, never fewer: an analysis that asks for
// some must do without the others, not without their absence.
enum class RowKind : uint8_t {
  kEvery,
  // Of API calls: those that may have launched a kernel of Focus, as they share its correlation id.
  // Of NVTX rows: push-pop ranges in which their thread may have made such a call or that touch
  // Focus::window, and every row that is no push-pop range.
  kLaunches,
  // NVTX rows whose text begins with nccl. When nothing else is wanted of the table and no name in
  // StringIds holds nccl, none at all: then no kernel is one of NCCL.
  kNccl,
  // NVTX rows whose text Focus::text holds for.
  kTexts,
};

// The kinds of rows that are wanted of one table.
class RowKinds {
 public:
  void Add(RowKind kind) { bits_ |= BitOf(kind); }
  void Add(RowKinds other) { bits_ |= other.bits_; }
  bool Has(RowKind kind) const { return (bits_ & BitOf(kind)) != 0; }
  // Whether these rows are wanted, and no others.
  bool Only(RowKind kind) const { return bits_ == BitOf(kind); }
  bool operator==(const RowKinds&) const = default;

 private:
  static uint8_t BitOf(RowKind kind) {
    return static_cast<uint8_t>(1U << static_cast<unsigned>(kind));
  }
  uint8_t bits_ = 0;
};

// What RowKind refers to.
struct Focus {
  bool communication_only = false;  // the kernels are those of communication alone
  std::optional<Span> window = {};  // the kernels are those that touch it
  // Any thread may ask.
  std::function<bool(std::string_view)> text = nullptr;
};

// What a question reads: the columns wanted of each table, and of which rows. Tables without wanted
// columns stay unread.
class Reads {
 public:
  struct Want {
    TableId table;
    ColumnSet columns;
    RowKind rows = RowKind::kEvery;
  };

  Reads() = default;
  Reads(std::initializer_list<Want> wanted) {
    for (const auto& [table, columns, rows] : wanted) {
      Add(table, columns, rows);
    }
  }
  void Add(TableId table, ColumnSet columns, RowKind rows = RowKind::kEvery) {
    columns_[static_cast<size_t>(table)].Add(columns);
    rows_[static_cast<size_t>(table)].Add(rows);
  }
  // The union: what both want.
  void Add(const Reads& other);

  ColumnSet Of(TableId table) const { return columns_[static_cast<size_t>(table)]; }
  RowKinds RowsOf(TableId table) const { return rows_[static_cast<size_t>(table)]; }
  // Whether rows of this kind are wanted of a table, and not all of that table are.
  bool Picks(TableId table, RowKind kind) const {
    return RowsOf(table).Has(kind) && !RowsOf(table).Has(RowKind::kEvery);
  }

  const Focus& focus() const { return focus_; }
  void Narrow(Focus focus) { focus_ = std::move(focus); }

 private:
  bool HasAny(RowKind kind) const;

  std::array<ColumnSet, kTableCount> columns_;
  std::array<RowKinds, kTableCount> rows_;
  Focus focus_;
};

}  // namespace nsys
