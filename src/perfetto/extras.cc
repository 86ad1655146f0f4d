// SPDX-License-Identifier: MIT
#include "perfetto/extras.h"

#include <map>
#include <string>
#include <vector>

#include "perfetto/event_text.h"
#include "perfetto/extra_counters.h"
#include "perfetto/extra_groups.h"
#include "perfetto/extra_tracks.h"

namespace nsys::perfetto {
namespace {

constexpr int64_t kNoStream = 0xFFFFFFFF;  // of a synchronization: the whole context

// "CUDA HW Context 1 / Stream 7", or without the stream where the row is about none.
std::string StreamName(const Lane& lane) {
  std::string name = "CUDA HW Context " + std::to_string(lane.context.value_or(0));
  const int64_t stream = lane.stream.value_or(kNoStream);
  return stream == kNoStream ? name : name + " / Stream " + std::to_string(stream);
}

class ExtraSlices {
 public:
  ExtraSlices(const Trace& trace, const Layout& layout, const ExtraGroups& groups,
              ExtraTracks& tracks)
      : trace_(trace), options_(layout.options), groups_(groups), tracks_(tracks) {}

  void Add() {
    if (options_.extras.memset) {
      AddMemsets();
    }
    if (options_.extras.sync) {
      AddSyncs();
    }
    if (options_.extras.graph) {
      AddGraphs();
    }
    if (options_.extras.osrt) {
      AddOfThreads(trace_.os_calls, trace_.os_calls.thread, trace_.os_calls.name, TrackKind::kOsrt,
                   "OS Runtime");
    }
    if (options_.extras.overhead) {
      AddOfThreads(trace_.overheads, trace_.overheads.thread, trace_.overheads.name,
                   TrackKind::kOverhead, "Profiler Overhead");
    }
  }

 private:
  // Calls `draw(row, subject)` for the rows that are drawn.
  template <typename Draw>
  void ForEachRow(const GpuEvents& events, TrackKind kind, std::string_view what,
                  const Draw& draw) {
    constexpr uint32_t kUnknown = kNone;
    std::vector<uint32_t> subjects(trace_.lanes.size(), kUnknown);
    for (uint32_t row = 0; row < events.size(); ++row) {
      if (!IsInTrim(options_, events.span(row))) {
        continue;
      }
      uint32_t& subject = subjects[Index(events.lane[row])];
      if (subject == kUnknown) {
        const Lane& lane = trace_.LaneOf(events, row);
        subject = tracks_.Subject({.group = groups_.OfLane(events.lane[row]),
                                   .kind = kind,
                                   .first = lane.context.value_or(0),
                                   .second = lane.stream.value_or(kNoStream)},
                                  [&] { return StreamName(lane).append(" / ").append(what); });
      }
      draw(row, subject);
    }
  }

  int64_t Correlation(const GpuEvents& events, uint32_t row) const {
    return events.correlation.empty() ? kNoNumber : events.correlation[row];
  }
  int64_t RecordedEndOf(const Events& events, uint32_t row) const {
    return RecordedEnd(events, row).value_or(kNoNumber);
  }

  void AddMemsets() {
    const MemsetTable& rows = trace_.memsets;
    const uint32_t name = tracks_.Text("CUDA Memset");
    const uint32_t bytes = tracks_.Text("bytes");
    const uint32_t value = tracks_.Text("value");
    ForEachRow(rows, TrackKind::kMemset, "Memset", [&](uint32_t row, uint32_t subject) {
      tracks_.Slice(subject, rows.span(row), name,
                    {{bytes, rows.bytes.empty() ? kNoNumber : rows.bytes[row]},
                     {correlation_, Correlation(rows, row)},
                     {recorded_end_, RecordedEndOf(rows, row)},
                     {value, rows.value.empty() ? kNoNumber : rows.value[row]}});
    });
  }

  void AddSyncs() {
    const SyncTable& rows = trace_.syncs;
    std::map<int32_t, uint32_t> names;  // by type
    ForEachRow(rows, TrackKind::kSync, "Synchronization", [&](uint32_t row, uint32_t subject) {
      const int32_t type = rows.type[row];
      const auto [at, first] = names.try_emplace(type);
      if (first) {
        const auto known = trace_.sync_types.find(type);
        at->second =
            tracks_.Text(known == trace_.sync_types.end() ? "unknown(" + std::to_string(type) + ")"
                                                          : known->second);
      }
      tracks_.Slice(
          subject, rows.span(row), at->second,
          {{correlation_, Correlation(rows, row)}, {recorded_end_, RecordedEndOf(rows, row)}});
    });
  }

  void AddGraphs() {
    const GraphTable& rows = trace_.graphs;
    const uint32_t graph_id = tracks_.Text("graphId");
    ForEachRow(rows, TrackKind::kGraph, "CUDA Graph", [&](uint32_t row, uint32_t subject) {
      const int64_t graph = rows.graph.empty() ? kNoNumber : rows.graph[row];
      const uint32_t name =
          tracks_.Text(graph == kNoNumber ? "CUDA Graph" : "CUDA Graph " + std::to_string(graph));
      tracks_.Slice(subject, rows.span(row), name,
                    {{correlation_, Correlation(rows, row)},
                     {graph_id, graph},
                     {recorded_end_, RecordedEndOf(rows, row)}});
    });
  }

  // Rows of the processor: under each group of their process.
  void AddOfThreads(const Events& rows, const std::vector<ThreadId>& threads,
                    const std::vector<StringId>& names, TrackKind kind, std::string_view what) {
    std::vector<uint32_t> texts(trace_.strings.size(), kNone);
    const uint32_t unnamed = tracks_.Text(what);
    for (uint32_t row = 0; row < rows.size(); ++row) {
      if (!IsInTrim(options_, rows.span(row))) {
        continue;
      }
      const ThreadId thread = threads[row];
      const int64_t tid = thread == ThreadId::kNone ? 0 : trace_.threads[Index(thread)].tid();
      const StringId id = names.empty() ? StringId::kNone : names[row];
      uint32_t text = unnamed;
      if (id != StringId::kNone) {
        uint32_t& known = texts[Index(id)];
        known = known == kNone ? tracks_.Text(trace_.Text(id)) : known;
        text = known;
      }
      for (const uint32_t group : groups_.OfThread(thread)) {
        const uint32_t subject =
            tracks_.Subject({.group = group, .kind = kind, .first = tid, .second = 0}, [&] {
              return tid == 0 ? std::string(what) : std::string(what) + " " + std::to_string(tid);
            });
        tracks_.Slice(subject, rows.span(row), text, {{recorded_end_, RecordedEndOf(rows, row)}});
      }
    }
  }

  const Trace& trace_;
  const Options& options_;
  const ExtraGroups& groups_;
  ExtraTracks& tracks_;
  uint32_t correlation_ = tracks_.Text("correlationId");
  uint32_t recorded_end_ = tracks_.Text("recordedEndNs");
};

void NeedGroups(const Trace& trace, const Extras& extras, ExtraGroups& groups) {
  if (extras.memset) {
    groups.NeedLanes(trace.memsets);
  }
  if (extras.sync) {
    groups.NeedLanes(trace.syncs);
  }
  if (extras.graph) {
    groups.NeedLanes(trace.graphs);
  }
  if (extras.memory) {
    groups.NeedLanes(trace.memory_usage);
  }
  if (extras.osrt) {
    groups.NeedThreads(trace.os_calls, trace.os_calls.thread);
  }
  if (extras.overhead) {
    groups.NeedThreads(trace.overheads, trace.overheads.thread);
  }
  groups.Settle();
}

bool AnyExtra(const Options& options) {
  const Extras& extras = options.extras;
  return extras.memset || extras.sync || extras.graph || extras.osrt || extras.memory ||
         extras.metrics || extras.overhead || options.proto_memory;
}

}  // namespace

std::string_view ExtraCategory(TrackKind kind) {
  switch (kind) {
    case TrackKind::kMemset:
      return "cuda_memset";
    case TrackKind::kSync:
      return "cuda_sync";
    case TrackKind::kGraph:
      return "cuda_graph";
    case TrackKind::kOsrt:
      return "osrt";
    case TrackKind::kOverhead:
      return "profiler_overhead";
    case TrackKind::kCounter:
      return "counter";
    default:
      return "";
  }
}

Reads ExtraReads(const Options& options) {
  constexpr ColumnSet kGpu = {Column::kTime, Column::kLane, Column::kCorrelation};
  const Extras& extras = options.extras;
  Reads reads;
  const auto add = [&](bool wanted, TableId table, ColumnSet columns) {
    if (wanted) {
      reads.Add(table, columns);
    }
  };
  add(extras.memset, TableId::kMemset, kGpu);
  add(extras.memset, TableId::kMemset, {Column::kBytes, Column::kRoute});
  add(extras.sync, TableId::kSync, kGpu);
  add(extras.sync, TableId::kSync, {Column::kKind});
  add(extras.sync, TableId::kSyncTypes, {Column::kWhole});
  add(extras.graph, TableId::kGraphTrace, kGpu);
  add(extras.graph, TableId::kGraphTrace, {Column::kGraph});
  add(extras.osrt, TableId::kOsrt, {Column::kTime, Column::kThread, Column::kName});
  add(extras.overhead, TableId::kOverhead, {Column::kTime, Column::kThread, Column::kName});
  add(extras.memory || options.proto_memory, TableId::kMemoryUsage,
      {Column::kTime, Column::kLane, Column::kBytes, Column::kKind});
  add(extras.metrics, TableId::kGpuMetrics, {Column::kWhole});
  add(extras.metrics, TableId::kGpuMetricNames, {Column::kWhole});
  add(extras.metrics, TableId::kGpu, {Column::kWhole});
  add(extras.metrics, TableId::kCudaDevice, {Column::kWhole});
  return reads;
}

void AddExtras(const Trace& trace, Layout& layout) {
  if (!AnyExtra(layout.options)) {
    return;
  }
  ExtraGroups groups(trace, layout);
  NeedGroups(trace, layout.options.extras, groups);
  ExtraTracks tracks(trace, layout);
  ExtraSlices(trace, layout, groups, tracks).Add();
  AddMemoryCounters(trace, layout, groups, tracks);
  AddMetricCounters(trace, layout, groups, tracks);
  tracks.Finish();
}

}  // namespace nsys::perfetto
