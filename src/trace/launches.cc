// SPDX-License-Identifier: MIT
#include "trace/launches.h"

#include <algorithm>

#include "trace/call_index.h"

namespace nsys {
namespace {

// The latest call of (process, correlation) that starts at or before `start_ns`, else the first one
// within the clock skew.
uint32_t FindLaunch(const Trace& trace, const CallIndex& index, ProcessId process,
                    int64_t correlation, int64_t start_ns) {
  const uint32_t key = index.Find(process, correlation);
  if (key == kNoKey) {
    return kNoCall;
  }
  const std::span<const uint32_t> calls = index.Calls(key);
  const auto& starts = trace.calls.start_ns;
  const auto later =
      std::upper_bound(calls.begin(), calls.end(), start_ns,
                       [&](int64_t time, uint32_t call) { return time < starts[call]; });
  if (later != calls.begin()) {
    return *(later - 1);
  }
  return starts[*later] - start_ns <= kClockSkewNs ? *later : kNoCall;
}

// The call of the only process that has a fitting one: with several, any choice would be a guess.
uint32_t FindInAnyProcess(const Trace& trace, const CallIndex& index, int64_t correlation,
                          int64_t start_ns) {
  uint32_t found = kNoCall;
  for (uint32_t process = 0; process < trace.processes.size(); ++process) {
    const uint32_t call = FindLaunch(trace, index, ProcessId{process}, correlation, start_ns);
    if (call == kNoCall) {
      continue;
    }
    if (found != kNoCall) {
      return kNoCall;
    }
    found = call;
  }
  return found;
}

bool AnyProcessUnknown(const std::vector<ThreadId>& threads) {
  return std::find(threads.begin(), threads.end(), ThreadId::kNone) != threads.end();
}

}  // namespace

void SortByCall(std::vector<Launch>& launches) {
  std::sort(launches.begin(), launches.end(), [](const Launch& a, const Launch& b) {
    return a.call != b.call ? a.call < b.call : a.kernel < b.kernel;
  });
}

std::vector<uint32_t> LinkLaunches(const Trace& trace, const GpuEvents& events,
                                   std::span<const uint8_t> wanted) {
  const CallIndex index(trace, wanted);
  std::vector<ProcessId> lane_process(trace.lanes.size());
  for (size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    lane_process[lane] = trace.FindProcess(trace.lanes[lane].global_pid);
  }
  const bool unknown_calls = AnyProcessUnknown(trace.calls.thread);
  std::vector<uint32_t> links(events.size(), kNoCall);
  for (size_t row = 0; row < events.size(); ++row) {
    const int64_t correlation = events.correlation[row];
    if (correlation == kNoCorrelation) {
      continue;
    }
    const int64_t start = events.start_ns[row];
    const ProcessId process = lane_process[Index(events.lane[row])];
    links[row] = FindLaunch(trace, index, process, correlation, start);
    if (links[row] != kNoCall) {
      continue;
    }
    if (process == ProcessId::kNone) {
      links[row] = FindInAnyProcess(trace, index, correlation, start);
    } else if (unknown_calls) {
      links[row] = FindLaunch(trace, index, ProcessId::kNone, correlation, start);
    }
  }
  return links;
}

}  // namespace nsys
