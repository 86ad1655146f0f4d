// SPDX-License-Identifier: MIT
#include "analysis/host_sync.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analysis/selection.h"
#include "trace/launches.h"

namespace nsys {
namespace {

constexpr int32_t kStreamWaitEvent = 2;

using ContextKey = std::pair<std::optional<int64_t>, std::optional<int64_t>>;  // globalPid, context

// The device on which the kernels of each context ran.
std::map<ContextKey, std::optional<int64_t>> DeviceOfContexts(const Trace& trace) {
  const std::vector<int64_t> kernels = KernelsPerLane(trace);
  std::map<ContextKey, std::optional<int64_t>> devices;
  for (size_t lane = 0; lane < kernels.size(); ++lane) {
    if (kernels[lane] > 0) {
      devices.emplace(ContextKey(trace.lanes[lane].global_pid, trace.lanes[lane].context),
                      trace.lanes[lane].device);
    }
  }
  return devices;
}

// For each row, whether it blocks a host thread.
std::vector<uint8_t> BlockingRows(const Trace& trace) {
  const SyncTable& syncs = trace.syncs;
  std::vector<uint8_t> blocking(syncs.size(), 1);
  if (std::find(syncs.type.begin(), syncs.type.end(), kStreamWaitEvent) == syncs.type.end()) {
    return blocking;
  }
  const std::vector<uint32_t> calls = LinkLaunches(trace, syncs);
  for (size_t row = 0; row < syncs.size(); ++row) {
    if (syncs.type[row] != kStreamWaitEvent) {
      continue;
    }
    const bool synchronizes =
        calls[row] != kNoCall &&
        trace.Text(trace.calls.name[calls[row]]).find("Synchronize") != std::string_view::npos;
    blocking[row] = synchronizes ? 1 : 0;
  }
  return blocking;
}

}  // namespace

void AddHostSyncReads(Reads& reads) {
  reads.Add(TableId::kSync, {Column::kTime, Column::kLane, Column::kCorrelation, Column::kKind});
  reads.Add(TableId::kRuntime,
            {Column::kTime, Column::kThread, Column::kCorrelation, Column::kName});
  reads.Add(TableId::kKernel, {Column::kTime, Column::kLane});
}

std::optional<SpanSet> HostSyncSpans(const Trace& trace, std::optional<int64_t> device,
                                     int64_t begin_ns, int64_t end_ns) {
  if (!trace.schema.Has(TableId::kSync)) {
    return std::nullopt;
  }
  const std::vector<uint8_t> blocking = BlockingRows(trace);
  const auto context_device = DeviceOfContexts(trace);
  std::vector<Span> spans;
  for (size_t row = 0; row < trace.syncs.size(); ++row) {
    if (blocking[row] == 0) {
      continue;
    }
    if (device) {
      const Lane& lane = trace.LaneOf(trace.syncs, row);
      const auto known = context_device.find({lane.global_pid, lane.context});
      if ((known == context_device.end() ? lane.device : known->second) != device) {
        continue;
      }
    }
    spans.push_back(
        {std::max(trace.syncs.start_ns[row], begin_ns), std::min(trace.syncs.end_ns[row], end_ns)});
  }
  return Union(std::move(spans));
}

}  // namespace nsys
