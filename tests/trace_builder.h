// SPDX-License-Identifier: MIT
// TraceBuilder: a trace in a few lines of code, for unit tests. Events may be given in any order;
// Build sorts them as the loader does. Names and threads are made on first use.
#pragma once

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "trace/nvtx_stacks.h"
#include "trace/trace.h"

namespace nsys {

struct KernelSpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t stream = 7;
  int64_t device = 0;
  int64_t correlation = kNoCorrelation;
  int64_t pid = 100;
  int64_t context = 1;
  KernelShape shape = {};
  GraphPlace graph = {};       // Graph() takes the graph alone
  std::string demangled = {};  // the name given when empty
  std::string mangled = {};    // none when empty
};

struct MemsetSpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t stream = 7;
  int64_t device = 0;
  int64_t correlation = kNoCorrelation;
  int64_t pid = 100;
  int64_t context = 1;
  int64_t bytes = 0;
  int64_t value = 0;
};

struct CallSpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t correlation = kNoCorrelation;
  int64_t pid = 100;
  int64_t tid = 100;
};

struct RangeSpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t pid = 100;
  int64_t tid = 100;
  int64_t domain = 0;
  int32_t type = kNvtxPushPop;
  std::string payload = {};  // raw bytes; none when empty
  bool open = false;         // the file has no end: end_ns is taken from start_ns
  std::optional<NvtxAttributes> attributes = {};
};

struct CopySpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t bytes = 0;
  int32_t kind = 1;
  int64_t stream = 7;
  int64_t device = 0;
  int64_t pid = 100;
  int64_t correlation = kNoCorrelation;
  int64_t context = 1;
  int32_t from_memory = kNoMemoryKind;
  int32_t to_memory = kNoMemoryKind;
  CopyRoute route = {};
};

struct SampleSpec {
  int64_t at_ns = 0;
  int64_t cycles = 0;
  int64_t pid = 100;
  int64_t tid = 100;
};

// A call of the operating system's library, or time that the profiler cost on a thread.
struct ThreadSpanSpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int64_t pid = 100;
  int64_t tid = 100;
};

struct MemoryUsageSpec {
  int64_t at_ns = 0;
  int64_t bytes = 0;
  int32_t kind = 0;
  int32_t operation = 0;  // 0 allocation, 1 release
  int64_t device = 0;
  int64_t pid = 100;
  int64_t context = 1;
  int64_t correlation = kNoCorrelation;
};

struct MetricSpec {
  int64_t at_ns = 0;
  int64_t value = 0;
  int64_t type = 0;
  int32_t metric = 0;
};

struct ThreadNameSpec {
  int64_t priority = 0;
  int64_t pid = 100;
  int64_t tid = 100;
};

struct SyncSpec {
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  int32_t type = 3;
  int64_t correlation = kNoCorrelation;
  int64_t pid = 100;
  int64_t context = 1;
  int64_t device = 0;
};

class TraceBuilder {
 public:
  TraceBuilder& Kernel(const std::string& name, const KernelSpec& spec) {
    Mark(TableId::kKernel);
    KernelTable& t = trace_.kernels;
    AddGpu(t, spec.start_ns, spec.end_ns, LaneFor(spec.device, spec.stream, spec.pid, spec.context),
           spec.correlation);
    const StringId id = trace_.strings.Intern(name);
    const StringId demangled = spec.demangled.empty() ? id : trace_.strings.Intern(spec.demangled);
    t.name.push_back(demangled);
    t.short_name.push_back(id);
    t.demangled_name.push_back(demangled);
    t.mangled_name.push_back(spec.mangled.empty() ? StringId::kNone
                                                  : trace_.strings.Intern(spec.mangled));
    t.shape.push_back(spec.shape);
    t.graph.push_back(spec.graph);
    any_kernel_in_graph_ =
        any_kernel_in_graph_ || spec.graph.graph != kNoNumber || spec.graph.node != kNoNumber;
    return *this;
  }

  TraceBuilder& Copy(const CopySpec& spec) {
    Mark(TableId::kMemcpy);
    AddGpu(trace_.copies, spec.start_ns, spec.end_ns,
           LaneFor(spec.device, spec.stream, spec.pid, spec.context), spec.correlation);
    trace_.copies.bytes.push_back(spec.bytes);
    trace_.copies.kind.push_back(spec.kind);
    trace_.copies.from_memory.push_back(spec.from_memory);
    trace_.copies.to_memory.push_back(spec.to_memory);
    trace_.copies.route.push_back(spec.route);
    return *this;
  }

  TraceBuilder& Memset(const MemsetSpec& spec) {
    Mark(TableId::kMemset);
    AddGpu(trace_.memsets, spec.start_ns, spec.end_ns,
           LaneFor(spec.device, spec.stream, spec.pid, spec.context), spec.correlation);
    trace_.memsets.bytes.push_back(spec.bytes);
    trace_.memsets.value.push_back(spec.value);
    return *this;
  }

  // A CUDA graph traced as a whole.
  TraceBuilder& Graph(const KernelSpec& spec) {
    Mark(TableId::kGraphTrace);
    AddGpu(trace_.graphs, spec.start_ns, spec.end_ns,
           LaneFor(spec.device, spec.stream, spec.pid, spec.context), spec.correlation);
    trace_.graphs.graph.push_back(spec.graph.graph);
    return *this;
  }

  TraceBuilder& Sync(const SyncSpec& spec) {
    Mark(TableId::kSync);
    AddGpu(trace_.syncs, spec.start_ns, spec.end_ns,
           LaneFor(spec.device, 7, spec.pid, spec.context), spec.correlation);
    trace_.syncs.type.push_back(spec.type);
    return *this;
  }

  // The names of ENUM_CUPTI_SYNC_TYPE.
  TraceBuilder& SyncTypes() {
    Mark(TableId::kSyncTypes);
    const std::string prefix = "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_";
    trace_.sync_types = {{0, prefix + "UNKNOWN"},
                         {1, prefix + "EVENT_SYNCHRONIZE"},
                         {2, prefix + "STREAM_WAIT_EVENT"},
                         {3, prefix + "STREAM_SYNCHRONIZE"},
                         {4, prefix + "CONTEXT_SYNCHRONIZE"}};
    return *this;
  }

  // The name of a memory kind (ENUM_CUDA_MEM_KIND).
  TraceBuilder& MemoryKind(int64_t id, const std::string& name) {
    Mark(TableId::kMemoryKinds);
    trace_.memory_kinds[id] = name;
    return *this;
  }

  TraceBuilder& Sample(const SampleSpec& spec) {
    Mark(TableId::kSamples);
    SampleTable& t = trace_.samples;
    AddTimes(t, spec.at_ns, spec.at_ns);
    t.thread.push_back(ThreadOf(spec.pid, spec.tid));
    t.cycles.push_back(spec.cycles);
    return *this;
  }

  TraceBuilder& NameThread(const std::string& name, const ThreadNameSpec& spec) {
    Mark(TableId::kThreadNames);
    trace_.thread_names.push_back({.global_tid = GlobalPid(spec.pid) | spec.tid,
                                   .priority = spec.priority,
                                   .name = trace_.strings.Intern(name)});
    return *this;
  }

  // Time that the profiler itself cost, on no thread.
  TraceBuilder& Overhead(int64_t start_ns, int64_t end_ns) {
    Mark(TableId::kOverhead);
    AddTimes(trace_.overheads, start_ns, end_ns);
    trace_.overheads.thread.push_back(ThreadId::kNone);
    trace_.overheads.name.push_back(StringId::kNone);
    return *this;
  }

  TraceBuilder& Overhead(const std::string& name, const ThreadSpanSpec& spec) {
    Mark(TableId::kOverhead);
    AddTimes(trace_.overheads, spec.start_ns, spec.end_ns);
    trace_.overheads.thread.push_back(ThreadOf(spec.pid, spec.tid));
    trace_.overheads.name.push_back(trace_.strings.Intern(name));
    return *this;
  }

  TraceBuilder& OsCall(const std::string& name, const ThreadSpanSpec& spec) {
    Mark(TableId::kOsrt);
    AddTimes(trace_.os_calls, spec.start_ns, spec.end_ns);
    trace_.os_calls.thread.push_back(ThreadOf(spec.pid, spec.tid));
    trace_.os_calls.name.push_back(trace_.strings.Intern(name));
    return *this;
  }

  // An allocation or a release of GPU memory. It happens on no stream.
  TraceBuilder& MemoryUsage(const MemoryUsageSpec& spec) {
    Mark(TableId::kMemoryUsage);
    const Lane lane{.device = spec.device,
                    .stream = std::nullopt,
                    .global_pid = GlobalPid(spec.pid),
                    .context = spec.context,
                    .green_context = std::nullopt};
    MemoryUsageTable& t = trace_.memory_usage;
    AddGpu(t, spec.at_ns, spec.at_ns, PositionOf(trace_.lanes, lane), spec.correlation);
    t.bytes.push_back(spec.bytes);
    t.kind.push_back(spec.kind);
    t.operation.push_back(spec.operation);
    return *this;
  }

  // A sample of a counter of a GPU.
  TraceBuilder& Metric(const MetricSpec& spec) {
    Mark(TableId::kGpuMetrics);
    GpuMetricTable& t = trace_.gpu_metrics;
    AddTimes(t, spec.at_ns, spec.at_ns);
    t.type.push_back(spec.type);
    t.metric.push_back(spec.metric);
    t.value.push_back(spec.value);
    return *this;
  }

  // The name of a counter.
  TraceBuilder& MetricName(const GpuMetricName& name) {
    Mark(TableId::kGpuMetricNames);
    trace_.gpu_metric_names.push_back(name);
    return *this;
  }

  TraceBuilder& NameProcess(const std::string& name, int64_t pid = 100) {
    Mark(TableId::kProcesses);
    trace_.process_names.push_back({.global_pid = GlobalPid(pid), .name = name});
    return *this;
  }

  // EXPORT_CONFIG_TIME_SHIFT and the start of the session on the clock of the system.
  TraceBuilder& Clocks(std::optional<int64_t> export_shift_ns,
                       std::optional<int64_t> session_start_ns) {
    trace_.export_shift_ns = export_shift_ns;
    trace_.session_start_ns = session_start_ns;
    return *this;
  }

  // A GPU of the machine, and the CUDA ordinal by which processes know it.
  TraceBuilder& GpuInfo(int64_t ordinal, const Gpu& gpu) {
    Mark(TableId::kGpu);
    Mark(TableId::kCudaDevice);
    trace_.gpus.push_back(gpu);
    trace_.cuda_devices.push_back({.ordinal = ordinal, .gpu = gpu.id, .pid = std::nullopt});
    trace_.device_inventory.push_back(ordinal);
    return *this;
  }

  TraceBuilder& Call(const std::string& name, const CallSpec& spec) {
    Mark(TableId::kRuntime);
    CallTable& t = trace_.calls;
    AddTimes(t, spec.start_ns, spec.end_ns);
    t.thread.push_back(ThreadOf(spec.pid, spec.tid));
    t.correlation.push_back(spec.correlation);
    t.name.push_back(trace_.strings.Intern(name));
    return *this;
  }

  TraceBuilder& Range(const std::string& text, const RangeSpec& spec) {
    Mark(TableId::kNvtx);
    NvtxTable& t = trace_.nvtx;
    AddTimes(t, spec.start_ns, spec.open ? spec.start_ns : spec.end_ns);
    t.lane.push_back(NvtxLaneId{static_cast<uint32_t>(NvtxLaneFor(spec))});
    t.text.push_back(trace_.strings.Intern(text));
    t.event_type.push_back(spec.type);
    t.payload.push_back(spec.payload.empty() ? kNoPayload
                                             : static_cast<uint32_t>(trace_.payloads.size()));
    if (!spec.payload.empty()) {
      trace_.payloads.push_back(spec.payload);
    }
    t.open.push_back(spec.open ? 1 : 0);
    t.attributes.push_back(spec.attributes ? static_cast<uint32_t>(PositionOf(
                                                 trace_.nvtx_attributes, *spec.attributes))
                                           : kNoAttributes);
    return *this;
  }

  // A range without a name.
  TraceBuilder& NamelessRange(const RangeSpec& spec) {
    Range("", spec);
    trace_.nvtx.text.back() = StringId::kNone;
    return *this;
  }

  // How payloads are laid out; to be added in the order of (domain, id).
  TraceBuilder& Schema(PayloadSchema schema) {
    Mark(TableId::kPayloadSchemas);
    Mark(TableId::kPayloadEntries);
    trace_.payload_schemas.push_back(std::move(schema));
    return *this;
  }

  TraceBuilder& GpuNamed(const std::string& name) {
    Mark(TableId::kGpu);
    trace_.gpus.push_back({.id = static_cast<int64_t>(trace_.gpus.size()), .name = name});
    return *this;
  }

  // The finished trace: ids renumbered into their documented order, tables sorted by time.
  Trace Build() {
    Mark(TableId::kStringIds);
    CountClamped();
    if (!any_kernel_in_graph_) {
      trace_.kernels.graph.clear();
    }
    RenumberProcessesAndThreads();
    RenumberLanes();
    SortTables();
    return std::move(trace_);
  }

 private:
  static int64_t GlobalPid(int64_t pid) { return (int64_t{1} << 48) | (pid << 24); }

  void Mark(TableId table) {
    trace_.schema.resolved[static_cast<size_t>(table)] = std::string(CanonicalName(table));
  }

  // A row that ends before it starts is kept as LoadOptions::for_drawing keeps it.
  static void AddTimes(Events& events, int64_t start_ns, int64_t end_ns) {
    const bool reversed = end_ns < start_ns;
    if (reversed && events.recorded_end_ns.empty()) {
      events.recorded_end_ns = events.end_ns;
    }
    if (reversed || !events.recorded_end_ns.empty()) {
      events.recorded_end_ns.push_back(end_ns);
    }
    events.start_ns.push_back(start_ns);
    events.end_ns.push_back(reversed ? start_ns : end_ns);
  }

  void CountClamped() {
    const auto count = [&](TableId table, const Events& events) {
      for (size_t row = 0; row < events.recorded_end_ns.size(); ++row) {
        const bool clamped = events.recorded_end_ns[row] < events.start_ns[row];
        trace_.rows_clamped[static_cast<size_t>(table)] += clamped ? 1 : 0;
      }
    };
    count(TableId::kKernel, trace_.kernels);
    count(TableId::kMemcpy, trace_.copies);
    count(TableId::kMemset, trace_.memsets);
    count(TableId::kGraphTrace, trace_.graphs);
    count(TableId::kSync, trace_.syncs);
    count(TableId::kRuntime, trace_.calls);
    count(TableId::kNvtx, trace_.nvtx);
    count(TableId::kOsrt, trace_.os_calls);
    count(TableId::kOverhead, trace_.overheads);
  }

  static void AddGpu(GpuEvents& events, int64_t start_ns, int64_t end_ns, size_t lane,
                     int64_t correlation) {
    AddTimes(events, start_ns, end_ns);
    events.lane.push_back(LaneId{static_cast<uint32_t>(lane)});
    events.correlation.push_back(correlation);
  }

  size_t LaneFor(int64_t device, int64_t stream, int64_t pid, int64_t context) {
    const Lane lane{.device = device,
                    .stream = stream,
                    .global_pid = GlobalPid(pid),
                    .context = context,
                    .green_context = std::nullopt};
    return PositionOf(trace_.lanes, lane);
  }

  size_t ThreadFor(int64_t pid, int64_t tid) {
    const int64_t global_tid = GlobalPid(pid) | tid;
    for (size_t i = 0; i < trace_.threads.size(); ++i) {
      if (trace_.threads[i].global_tid == global_tid) {
        return i;
      }
    }
    trace_.threads.push_back({.global_tid = global_tid});
    return trace_.threads.size() - 1;
  }

  ThreadId ThreadOf(int64_t pid, int64_t tid) {
    return ThreadId{static_cast<uint32_t>(ThreadFor(pid, tid))};
  }

  size_t NvtxLaneFor(const RangeSpec& spec) {
    return PositionOf(
        trace_.nvtx_lanes,
        NvtxLane{ThreadId{static_cast<uint32_t>(ThreadFor(spec.pid, spec.tid))}, spec.domain});
  }

  template <typename T>
  static size_t PositionOf(std::vector<T>& items, const T& item) {
    const auto at = std::find(items.begin(), items.end(), item);
    if (at != items.end()) {
      return static_cast<size_t>(at - items.begin());
    }
    items.push_back(item);
    return items.size() - 1;
  }

  // Sorts `items` and returns the new position of each old one.
  template <typename T, typename Less>
  static std::vector<uint32_t> SortAndMap(std::vector<T>& items, const Less& less) {
    std::vector<uint32_t> order(items.size());
    std::iota(order.begin(), order.end(), 0U);
    std::sort(order.begin(), order.end(),
              [&](uint32_t a, uint32_t b) { return less(items[a], items[b]); });
    std::vector<uint32_t> position(items.size());
    std::vector<T> sorted;
    for (uint32_t i = 0; i < order.size(); ++i) {
      position[order[i]] = i;
      sorted.push_back(items[order[i]]);
    }
    items = std::move(sorted);
    return position;
  }

  void RenumberProcessesAndThreads() {
    const auto new_thread = SortAndMap(trace_.threads, [](const Thread& a, const Thread& b) {
      return a.global_tid < b.global_tid;
    });
    for (std::vector<ThreadId>* column : {&trace_.calls.thread, &trace_.samples.thread,
                                          &trace_.os_calls.thread, &trace_.overheads.thread}) {
      for (ThreadId& id : *column) {
        id = id == ThreadId::kNone ? id : ThreadId{new_thread[Index(id)]};
      }
    }
    for (NvtxLane& lane : trace_.nvtx_lanes) {
      lane.thread = ThreadId{new_thread[Index(lane.thread)]};
    }
    std::vector<int64_t> pids;
    for (const Lane& lane : trace_.lanes) {
      pids.push_back(*lane.global_pid);
    }
    for (const Thread& thread : trace_.threads) {
      pids.push_back(ProcessWord(thread.global_tid));
    }
    std::sort(pids.begin(), pids.end());
    pids.erase(std::unique(pids.begin(), pids.end()), pids.end());
    for (const int64_t pid : pids) {
      trace_.processes.push_back({pid});
    }
    for (Thread& thread : trace_.threads) {
      thread.process = trace_.FindProcess(ProcessWord(thread.global_tid));
    }
  }

  void RenumberLanes() {
    const auto new_lane = SortAndMap(trace_.lanes, std::less<Lane>());
    for (GpuEvents* events :
         std::initializer_list<GpuEvents*>{&trace_.kernels, &trace_.copies, &trace_.memsets,
                                           &trace_.graphs, &trace_.syncs, &trace_.memory_usage}) {
      for (LaneId& id : events->lane) {
        id = LaneId{new_lane[Index(id)]};
      }
    }
    const auto new_nvtx = SortAndMap(trace_.nvtx_lanes, std::less<NvtxLane>());
    for (NvtxLaneId& id : trace_.nvtx.lane) {
      id = NvtxLaneId{new_nvtx[Index(id)]};
    }
  }

  void SortTables() {
    SortByTime(trace_.kernels);
    SortByTime(trace_.copies);
    SortByTime(trace_.memsets);
    SortByTime(trace_.graphs);
    SortByTime(trace_.syncs);
    SortByTime(trace_.calls);
    SortByTime(trace_.nvtx);
    SortByTime(trace_.samples);
    SortByTime(trace_.overheads);
    SortByTime(trace_.os_calls);
    SortByTime(trace_.memory_usage);
    SortByTime(trace_.gpu_metrics);
    SortSmallTables();
  }

  void SortSmallTables() {
    std::sort(trace_.thread_names.begin(), trace_.thread_names.end(),
              [&](const ThreadName& a, const ThreadName& b) {
                return std::tuple(a.global_tid, -a.priority, trace_.strings.Get(a.name)) <
                       std::tuple(b.global_tid, -b.priority, trace_.strings.Get(b.name));
              });
    std::sort(trace_.gpus.begin(), trace_.gpus.end(),
              [](const Gpu& a, const Gpu& b) { return a.id < b.id; });
    std::sort(trace_.cuda_devices.begin(), trace_.cuda_devices.end(),
              [](const CudaDevice& a, const CudaDevice& b) {
                return std::tie(a.ordinal, a.gpu) < std::tie(b.ordinal, b.gpu);
              });
    std::sort(
        trace_.process_names.begin(), trace_.process_names.end(),
        [](const ProcessName& a, const ProcessName& b) { return a.global_pid < b.global_pid; });
    std::sort(trace_.gpu_metric_names.begin(), trace_.gpu_metric_names.end(),
              [](const GpuMetricName& a, const GpuMetricName& b) {
                return std::tie(a.type, a.metric) < std::tie(b.type, b.metric);
              });
    auto& inventory = trace_.device_inventory;
    std::sort(inventory.begin(), inventory.end());
    inventory.erase(std::unique(inventory.begin(), inventory.end()), inventory.end());
  }

  Trace trace_;
  bool any_kernel_in_graph_ = false;
};

}  // namespace nsys
