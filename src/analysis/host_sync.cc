// SPDX-License-Identifier: MIT
#include "analysis/host_sync.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "analysis/selection.h"
#include "trace/launches.h"

namespace nsys {
namespace {

using ContextKey = std::pair<std::optional<int64_t>, std::optional<int64_t>>;  // globalPid, context

// The device on which the kernels of each lane's context ran, else the lane's own.
std::vector<std::optional<int64_t>> DeviceOfLanes(const Trace& trace) {
  const std::vector<int64_t> kernels = KernelsPerLane(trace);
  std::map<ContextKey, std::optional<int64_t>> of_context;
  for (size_t lane = 0; lane < kernels.size(); ++lane) {
    if (kernels[lane] > 0) {
      of_context.emplace(ContextKey(trace.lanes[lane].global_pid, trace.lanes[lane].context),
                         trace.lanes[lane].device);
    }
  }
  std::vector<std::optional<int64_t>> devices;
  for (const Lane& lane : trace.lanes) {
    const auto known = of_context.find({lane.global_pid, lane.context});
    devices.push_back(known == of_context.end() ? lane.device : known->second);
  }
  return devices;
}

SyncRows MakeSyncRows(Views& views) {
  const Trace& trace = views.trace();
  const SyncTable& syncs = trace.syncs;
  SyncRows rows{.type = syncs.type,
                .relabelled = std::vector<uint8_t>(syncs.size(), 0),
                .device = DeviceOfLanes(trace)};
  if (std::find(rows.type.begin(), rows.type.end(), kStreamWaitEvent) == rows.type.end()) {
    return rows;
  }
  const std::vector<uint32_t>& calls = views.SyncCalls();
  for (size_t row = 0; row < syncs.size(); ++row) {
    if (rows.type[row] != kStreamWaitEvent || calls[row] == kNoCall) {
      continue;
    }
    if (const auto type = SynchronizedBy(trace.Text(trace.calls.name[calls[row]]))) {
      rows.type[row] = *type;
      rows.relabelled[row] = 1;
    }
  }
  return rows;
}

}  // namespace

void AddHostSyncReads(Reads& reads) {
  reads.Add(TableId::kSync, {Column::kTime, Column::kLane, Column::kCorrelation, Column::kKind});
  reads.Add(TableId::kRuntime,
            {Column::kTime, Column::kThread, Column::kCorrelation, Column::kName});
  reads.Add(TableId::kKernel, {Column::kTime, Column::kLane});
}

std::optional<int32_t> SynchronizedBy(std::string_view call) {
  const auto holds = [&](std::string_view part) { return call.find(part) != call.npos; };
  if (!holds("Synchronize")) {
    return std::nullopt;
  }
  if (holds("Stream")) {
    return kStreamSynchronize;
  }
  return holds("Event") ? kEventSynchronize : kContextSynchronize;
}

const SyncRows& SyncRowsOf(Views& views) {
  return views.Once<SyncRows>({}, [&] { return MakeSyncRows(views); });
}

std::optional<SpanSet> HostSyncSpans(Views& views, std::optional<int64_t> device, int64_t begin_ns,
                                     int64_t end_ns) {
  const Trace& trace = views.trace();
  if (!trace.schema.Has(TableId::kSync)) {
    return std::nullopt;
  }
  const SyncRows& rows = SyncRowsOf(views);
  std::vector<Span> spans;
  for (size_t row = 0; row < trace.syncs.size(); ++row) {
    if (rows.Blocks(row) && (!device || rows.device[Index(trace.syncs.lane[row])] == device)) {
      spans.push_back({std::max(trace.syncs.start_ns[row], begin_ns),
                       std::min(trace.syncs.end_ns[row], end_ns)});
    }
  }
  return Union(std::move(spans));
}

}  // namespace nsys
