// SPDX-License-Identifier: MIT
// The tables of a trace as columns: one vector per column, one row per event, sorted by
// (start, end, row of the source). Times are signed nanoseconds on the capture's clock.
// A column that was not asked for is empty; a table that the capture lacks has no rows.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/ids.h"
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
  // Time, thread, name and kind of the NVTX rows whose text begins with nccl. Where nothing else is
  // wanted of the table, other rows are left out, and all are when no name in StringIds holds nccl:
  // then no kernel is one of NCCL.
  kNcclRanges,
};
inline constexpr size_t kColumnCount = 16;

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

// What a question reads: the columns wanted of each table. Tables without wanted columns stay
// unread.
class Reads {
 public:
  Reads() = default;
  Reads(std::initializer_list<std::pair<TableId, ColumnSet>> wanted) {
    for (const auto& [table, columns] : wanted) {
      Add(table, columns);
    }
  }
  void Add(TableId table, ColumnSet columns) { columns_[static_cast<size_t>(table)].Add(columns); }
  void Add(const Reads& other) {
    for (size_t table = 0; table < kTableCount; ++table) {
      columns_[table].Add(other.columns_[table]);
    }
  }
  ColumnSet Of(TableId table) const { return columns_[static_cast<size_t>(table)]; }

 private:
  std::array<ColumnSet, kTableCount> columns_;
};

inline constexpr int64_t kNoCorrelation = -1;

// Columns that every table of timed events has.
struct Events {
  std::vector<int64_t> start_ns;
  std::vector<int64_t> end_ns;
  size_t size() const { return start_ns.size(); }
  int64_t duration_ns(size_t row) const { return end_ns[row] - start_ns[row]; }
  Span span(size_t row) const { return {start_ns[row], end_ns[row]}; }

  // The recorded ends, where LoadOptions::for_drawing kept a row that ends before it starts: such
  // a row has end_ns == start_ns. Empty when there is none.
  std::vector<int64_t> recorded_end_ns;

  // All columns of a table, so that what is done to rows is done to every column.
  auto columns() { return std::tie(start_ns, end_ns, recorded_end_ns); }
};

struct GpuEvents : Events {
  std::vector<LaneId> lane;
  std::vector<int64_t> correlation;  // kNoCorrelation when the capture has none

  auto columns() { return std::tuple_cat(Events::columns(), std::tie(lane, correlation)); }
};

inline constexpr int64_t kNoNumber = -1;  // of an id or ordinal that the capture does not tell

struct Extent {
  int32_t x = 0;
  int32_t y = 0;
  int32_t z = 0;
};

struct KernelShape {
  Extent grid;
  Extent block;
};

// A kernel or a copy as part of a CUDA graph.
struct GraphPlace {
  int64_t graph = kNoNumber;  // graphId
  int64_t node = kNoNumber;   // graphNodeId
};

struct KernelTable : GpuEvents {
  std::vector<StringId> name;        // demangled, else short, else "kernel_<number of shortName>"
  std::vector<StringId> short_name;  // kNone when the capture does not tell
  std::vector<StringId> demangled_name;  // kNone when the capture does not tell
  std::vector<StringId> mangled_name;    // kNone when the capture does not tell
  std::vector<KernelShape> shape;
  std::vector<GraphPlace> graph;  // empty too when no kernel belongs to a graph

  auto columns() {
    return std::tuple_cat(GpuEvents::columns(),
                          std::tie(name, short_name, demangled_name, mangled_name, shape, graph));
  }

  // The name that decides a kernel's class: short, else demangled, else "kernel_<number>".
  StringId name_to_classify(size_t row) const {
    return short_name[row] != StringId::kNone ? short_name[row] : name[row];
  }
};

inline constexpr int32_t kNoMemoryKind = -1;

// Where a copy leads. Parts that the capture does not tell are kNoNumber, the address is 0.
struct CopyRoute {
  int32_t from_device = kNoNumber;
  int32_t to_device = kNoNumber;
  int64_t from_context = kNoNumber;
  int64_t to_context = kNoNumber;
  int64_t graph_node = kNoNumber;
  uint64_t virtual_address = 0;
  int64_t copies = 1;  // copyCount
};

struct CopyTable : GpuEvents {
  std::vector<int64_t> bytes;
  std::vector<int32_t> kind;  // ENUM_CUDA_MEMCPY_OPER
  // ENUM_CUDA_MEM_KIND of the source and the destination; kNoMemoryKind when the capture does not
  // tell.
  std::vector<int32_t> from_memory;
  std::vector<int32_t> to_memory;
  std::vector<CopyRoute> route;

  auto columns() {
    return std::tuple_cat(GpuEvents::columns(),
                          std::tie(bytes, kind, from_memory, to_memory, route));
  }
};

struct MemsetTable : GpuEvents {
  std::vector<int64_t> bytes;
  std::vector<int64_t> value;  // what every unit of the memory is set to

  auto columns() { return std::tuple_cat(GpuEvents::columns(), std::tie(bytes, value)); }
};

// Launches of CUDA graphs that were traced as a whole.
struct GraphTable : GpuEvents {
  std::vector<int64_t> graph;  // graphId, or kNoNumber

  auto columns() { return std::tuple_cat(GpuEvents::columns(), std::tie(graph)); }
};

struct SyncTable : GpuEvents {
  std::vector<int32_t> type;  // ENUM_CUPTI_SYNC_TYPE

  auto columns() { return std::tuple_cat(GpuEvents::columns(), std::tie(type)); }
};

// Runtime and driver API calls.
struct CallTable : Events {
  std::vector<ThreadId> thread;
  std::vector<int64_t> correlation;
  std::vector<StringId> name;

  auto columns() { return std::tuple_cat(Events::columns(), std::tie(thread, correlation, name)); }
};

inline constexpr uint32_t kNoPayload = 0xFFFFFFFF;

inline constexpr uint32_t kNoAttributes = 0xFFFFFFFF;

// NVTX rows of every type. Marks, and ranges still open at the end of the capture, end when they
// start.
struct NvtxTable : Events {
  std::vector<NvtxLaneId> lane;
  std::vector<StringId> text;  // kNone for a range without a name
  std::vector<int32_t> event_type;
  std::vector<uint32_t> payload;     // row of Trace::payloads, or kNoPayload
  std::vector<uint32_t> attributes;  // row of Trace::nvtx_attributes, or kNoAttributes
  std::vector<uint8_t> open;         // 1 when the file has no end for the row

  auto columns() {
    return std::tuple_cat(Events::columns(),
                          std::tie(lane, text, event_type, payload, attributes, open));
  }
};

// Intervals in which the profiler itself cost time.
struct OverheadTable : Events {
  std::vector<ThreadId> thread;
  std::vector<StringId> name;  // kNone when the capture does not tell

  auto columns() { return std::tuple_cat(Events::columns(), std::tie(thread, name)); }
};

// Calls of the operating system's library that took long enough to be recorded.
struct OsCallTable : Events {
  std::vector<ThreadId> thread;
  std::vector<StringId> name;

  auto columns() { return std::tuple_cat(Events::columns(), std::tie(thread, name)); }
};

// Allocations and releases of GPU memory: start = end = the moment.
struct MemoryUsageTable : GpuEvents {
  std::vector<int64_t> bytes;
  std::vector<int32_t> kind;       // ENUM_CUDA_MEM_KIND
  std::vector<int32_t> operation;  // ENUM_CUDA_DEV_MEM_EVENT_OPER: 0 allocation, 1 release

  auto columns() { return std::tuple_cat(GpuEvents::columns(), std::tie(bytes, kind, operation)); }
};

// Samples of the counters of a GPU: start = end = time of the sample.
struct GpuMetricTable : Events {
  std::vector<int64_t> type;    // typeId: one source of samples, that is one GPU
  std::vector<int32_t> metric;  // metricId
  std::vector<int64_t> value;

  auto columns() { return std::tuple_cat(Events::columns(), std::tie(type, metric, value)); }
};

// Samples of what runs on the processors: start = end = time of the sample.
struct SampleTable : Events {
  std::vector<ThreadId> thread;
  std::vector<int64_t> cycles;  // processor cycles that the sample stands for; at least 0

  auto columns() { return std::tuple_cat(Events::columns(), std::tie(thread, cycles)); }
};

// The rows of `events` in the order of (start, end, tie, row); empty when they are in order
// already. `ties` has one number per row, or none at all.
std::vector<uint32_t> TimeOrder(const Events& events, std::span<const int64_t> ties = {});

// Sorts all columns of `table` by (start, end, tie, row). Columns that were not loaded stay empty.
template <typename Table>
void SortByTime(Table& table, std::span<const int64_t> ties = {}) {
  const std::vector<uint32_t> order = TimeOrder(table, ties);
  if (order.empty()) {
    return;
  }
  const auto reorder = [&](auto& column) {
    if (column.empty()) {
      return;
    }
    std::remove_reference_t<decltype(column)> sorted;
    sorted.reserve(column.size());
    for (const uint32_t row : order) {
      sorted.push_back(column[row]);
    }
    column = std::move(sorted);
  };
  std::apply([&](auto&... columns) { (reorder(columns), ...); }, table.columns());
}

}  // namespace nsys
