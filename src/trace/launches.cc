// SPDX-License-Identifier: MIT
#include "trace/launches.h"

#include <algorithm>

namespace nsys {
namespace {

// Calls by (process, correlation id): open addressing over chains, the latest call of a key first.
class CallIndex {
 public:
  explicit CallIndex(const Trace& trace) : trace_(trace), next_(trace.calls.size(), kNoCall) {
    size_t slots = 1024;
    while (slots < trace.calls.size() * 2) {
      slots *= 2;
    }
    heads_.assign(slots, kNoCall);
    for (uint32_t call = 0; call < trace.calls.size(); ++call) {
      if (trace.calls.correlation[call] == kNoCorrelation) {
        continue;
      }
      uint32_t& head = heads_[FindSlot(Key(call))];
      next_[call] = head;
      head = call;
    }
  }

  // The latest call of (process, correlation) that starts at or before `start_ns`, else one within
  // the clock skew.
  uint32_t Find(ProcessId process, int64_t correlation, int64_t start_ns) const {
    uint32_t skewed = kNoCall;
    const auto& calls = trace_.calls;
    for (uint32_t call = heads_[FindSlot({process, correlation})]; call != kNoCall;
         call = next_[call]) {
      if (calls.start_ns[call] <= start_ns) {
        return call;
      }
      if (calls.start_ns[call] - start_ns <= kClockSkewNs) {
        skewed = call;
      }
    }
    return skewed;
  }

 private:
  struct CallKey {
    ProcessId process;
    int64_t correlation;
    bool operator==(const CallKey&) const = default;
  };

  CallKey Key(uint32_t call) const {
    return {trace_.ProcessOf(trace_.calls.thread[call]), trace_.calls.correlation[call]};
  }

  // The slot of `key`: the one whose chain has it, or the free one where it would go.
  size_t FindSlot(const CallKey& key) const {
    const size_t mask = heads_.size() - 1;
    const uint64_t mixed = (static_cast<uint64_t>(key.correlation) * 0x9E3779B97F4A7C15U) ^
                           (uint64_t{Index(key.process)} * 0xC2B2AE3D27D4EB4FU);
    size_t slot = static_cast<size_t>(mixed >> 20) & mask;
    while (heads_[slot] != kNoCall && Key(heads_[slot]) != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  const Trace& trace_;
  std::vector<uint32_t> next_;
  std::vector<uint32_t> heads_;
};

bool AnyProcessUnknown(const std::vector<ThreadId>& threads) {
  return std::find(threads.begin(), threads.end(), ThreadId::kNone) != threads.end();
}

}  // namespace

std::vector<uint32_t> LinkLaunches(const Trace& trace, const GpuEvents& events) {
  const CallIndex index(trace);
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
    links[row] = index.Find(process, correlation, start);
    if (links[row] != kNoCall) {
      continue;
    }
    if (process == ProcessId::kNone) {
      // Unknown process: the latest fitting call of any process.
      for (uint32_t p = 0; p < trace.processes.size(); ++p) {
        const uint32_t call = index.Find(ProcessId{p}, correlation, start);
        const bool later = call != kNoCall && (links[row] == kNoCall || call > links[row]);
        if (later) {
          links[row] = call;
        }
      }
    } else if (unknown_calls) {
      links[row] = index.Find(ProcessId::kNone, correlation, start);
    }
  }
  return links;
}

}  // namespace nsys
