// SPDX-License-Identifier: MIT
// Trace: what was read of one capture, as columns. It owns everything; the analyses only look.
// A Trace is immutable once loaded, so that any number of threads may read it.
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "trace/ids.h"
#include "trace/string_pool.h"
#include "trace/tables.h"

namespace nsys {

// Bits of a globalTid word: host and VM, then 24 bits of process id, then 24 bits of thread id.
inline constexpr int64_t kThreadBits = 0xFFFFFF;
constexpr int64_t ProcessWord(int64_t global_tid) { return global_tid & ~kThreadBits; }

// A CUDA process, keyed by the whole globalPid word: a pid alone repeats across hosts and over
// time.
struct Process {
  int64_t global_pid = 0;  // thread bits zero
  int64_t pid() const { return (global_pid >> 24) & kThreadBits; }
};

struct Thread {
  int64_t global_tid = 0;
  ProcessId process = ProcessId::kNone;  // the one of the same host, VM and pid
  int64_t tid() const { return global_tid & kThreadBits; }
  int64_t pid() const { return Process{ProcessWord(global_tid)}.pid(); }
};

// Where GPU work runs. Stream numbers repeat across processes, devices and contexts, so a stream
// is the whole key. Unknown parts compare equal to each other and less than any number.
struct Lane {
  std::optional<int64_t> device;  // CUDA ordinal as the process saw it
  std::optional<int64_t> stream;
  std::optional<int64_t> global_pid;
  std::optional<int64_t> context;
  std::optional<int64_t> green_context;  // 0 in the file means none
  auto operator<=>(const Lane&) const = default;
};

// Push-pop ranges nest within one thread and one domain.
struct NvtxLane {
  ThreadId thread = ThreadId::kNone;
  int64_t domain = 0;
  auto operator<=>(const NvtxLane&) const = default;
};

// A GPU of the machine, as the system numbers it. What the export does not tell is absent.
struct Gpu {
  int64_t id = 0;
  std::optional<std::string> name;  // product, e.g. "NVIDIA H100 80GB HBM3"
  std::optional<std::string> chip;  // e.g. "GH100"
  std::optional<int64_t> memory_bytes;
  std::optional<int64_t> bytes_per_second;  // of its memory
  std::optional<int64_t> multiprocessors;
};

// Which GPU a process means by a CUDA ordinal.
struct CudaDevice {
  int64_t ordinal = 0;
  std::optional<int64_t> gpu;  // Gpu::id
  std::optional<int64_t> pid;
};

struct ThreadName {
  int64_t global_tid = 0;
  int64_t priority = 0;  // the name of the highest priority is the one to show
  StringId name = StringId::kNone;
};

struct ProcessName {
  int64_t global_pid = 0;
  std::string name;
};

// Which counter of which GPU a sample of GpuMetricTable is about.
struct GpuMetricName {
  int64_t type = 0;    // typeId
  int64_t metric = 0;  // metricId
  std::string source;  // typeName
  std::string name;    // metricName
};

// What an NVTX row carries besides its text. A payload is one number or one text.
struct NvtxAttributes {
  std::optional<int64_t> category;
  std::optional<uint32_t> color;  // ARGB
  std::variant<std::monostate, int64_t, uint64_t, double, std::string> payload;
  bool operator==(const NvtxAttributes&) const = default;
};

struct Nic {
  std::string name;
  std::optional<int64_t> vendor;
};

// How an NVTX domain lays out the binary payloads of one schema.
struct PayloadField {
  int64_t index = 0;
  int64_t flags = 0;
  int64_t type = 0;  // a type number of NVTX, or the id of a schema
  std::string name;
  int64_t array_or_union = 0;
  std::optional<int64_t> offset;  // bytes from the start of the payload
};
struct PayloadSchema {
  int64_t domain = 0;
  int64_t id = 0;
  std::string name;
  int64_t type = 0;
  int64_t bytes = 0;
  std::vector<PayloadField> fields;  // by index
};

struct SourceColumn {
  std::string name;
  std::string type;  // INTEGER, REAL or TEXT
  bool primary_key = false;
};

struct SourceTable {
  std::string name;
  std::vector<SourceColumn> columns;
  const SourceColumn* Find(std::string_view column) const;
};

// What the capture holds, whether read or not.
struct Schema {
  std::vector<SourceTable> tables;  // in byte order of their names
  // The name of the table that answers for each TableId.
  std::array<std::optional<std::string>, kTableCount> resolved;
  // Columns of the file that a Column rests on and its table lacks: deviceId for kLane, say.
  std::array<std::array<std::vector<std::string>, kColumnCount>, kTableCount> missing;
  std::vector<std::string> unknown_gpu_tables;  // look like GPU work under names we do not know

  bool Has(TableId table) const { return resolved[static_cast<size_t>(table)].has_value(); }
  const SourceTable* Find(std::string_view name) const;
  const SourceTable* Find(TableId table) const;
  const std::vector<std::string>& Missing(TableId table, Column column) const {
    return missing[static_cast<size_t>(table)][static_cast<size_t>(column)];
  }
};

struct Trace {
  Schema schema;
  StringPool strings;

  std::vector<Process> processes;    // by global_pid
  std::vector<Thread> threads;       // by global_tid
  std::vector<Lane> lanes;           // in the order of Lane
  std::vector<NvtxLane> nvtx_lanes;  // in the order of NvtxLane

  KernelTable kernels;
  CopyTable copies;
  MemsetTable memsets;
  GraphTable graphs;
  SyncTable syncs;
  CallTable calls;
  NvtxTable nvtx;
  SampleTable samples;
  OverheadTable overheads;
  OsCallTable os_calls;
  MemoryUsageTable memory_usage;
  GpuMetricTable gpu_metrics;

  // Small tables, in a total order of their contents.
  std::vector<Gpu> gpus;                        // by id
  std::vector<CudaDevice> cuda_devices;         // by (ordinal, gpu, pid)
  std::vector<ThreadName> thread_names;         // by (thread, priority descending, text)
  std::vector<Nic> nics;                        // by name
  std::vector<ProcessName> process_names;       // by global_pid, each once
  std::vector<GpuMetricName> gpu_metric_names;  // by (type, metric), each once
  std::vector<NvtxAttributes> nvtx_attributes;  // distinct ones, see NvtxTable::attributes
  std::vector<PayloadSchema> payload_schemas;   // by (domain, id), each once
  std::vector<std::string> payloads;            // raw bytes, by position in NvtxTable::payload
  std::map<int64_t, std::string> memory_kinds;  // names of ENUM_CUDA_MEM_KIND
  std::map<int64_t, std::string> sync_types;    // names of ENUM_CUPTI_SYNC_TYPE
  size_t string_table_size = 0;  // texts of `strings` below this id come from StringIds

  // From the clock of the system to that of the capture, where the export tells.
  std::optional<int64_t> export_shift_ns;   // EXPORT_CONFIG_TIME_SHIFT
  std::optional<int64_t> session_start_ns;  // systemClockNs

  std::vector<int64_t> device_inventory;  // CUDA ordinals of TARGET_INFO_CUDA_DEVICE, ascending
  std::array<int64_t, kTableCount> rows_left_out = {};  // rows of each table that could not be used
  std::array<int64_t, kTableCount> rows_clamped = {};   // rows kept though they end too early
  int64_t texts_repaired = 0;  // read while drawing, and not UTF-8: bytes of them became U+FFFD
  std::vector<std::string> warnings;  // what was left out while reading, and why

  const Lane& LaneOf(const GpuEvents& events, size_t row) const {
    return lanes[Index(events.lane[row])];
  }
  std::optional<int64_t> DeviceOf(const GpuEvents& events, size_t row) const {
    return LaneOf(events, row).device;
  }

  // The text of `id`, or an empty view for kNone.
  std::string_view Text(StringId id) const {
    return id == StringId::kNone ? std::string_view() : strings.Get(id);
  }

  // The process with this globalPid word, or kNone.
  ProcessId FindProcess(std::optional<int64_t> global_pid) const;
  ProcessId ProcessOf(ThreadId thread) const {
    return thread == ThreadId::kNone ? ProcessId::kNone : threads[Index(thread)].process;
  }
};

}  // namespace nsys
