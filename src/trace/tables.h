// SPDX-License-Identifier: MIT
// The tables of a trace as columns: one vector per column, one row per event, sorted by
// (start, end, row of the source). Times are signed nanoseconds on the capture's clock.
// A column that was not asked for is empty; a table that the capture lacks has no rows.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "trace/ids.h"
#include "trace/intervals.h"
#include "trace/reads.h"

namespace nsys {

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
  // One room for all columns, as memory that is new costs more than a copy.
  size_t bytes = 0;
  const auto measure = [&](const auto& column) {
    bytes = std::max(bytes, column.size() * sizeof(*column.data()));
  };
  std::apply([&](auto&... columns) { (measure(columns), ...); }, table.columns());
  const auto room = std::make_unique_for_overwrite<std::byte[]>(bytes);
  const auto reorder = [&](auto& column) {
    using Cell = std::remove_reference_t<decltype(*column.data())>;
    static_assert(std::is_trivially_copyable_v<Cell>);
    std::byte* next = room.get();
    for (size_t i = 0; i < column.size(); ++i, next += sizeof(Cell)) {
      std::memcpy(next, &column[order[i]], sizeof(Cell));
    }
    if (!column.empty()) {
      std::memcpy(column.data(), room.get(), column.size() * sizeof(Cell));
    }
  };
  std::apply([&](auto&... columns) { (reorder(columns), ...); }, table.columns());
}

}  // namespace nsys
