// SPDX-License-Identifier: MIT
#include "trace/launches.h"

#include <algorithm>
#include <numeric>

namespace nsys {
namespace {

// Calls by (process, correlation id). The calls of a key lie side by side in order of their start,
// so that finding one stays logarithmic even when a capture repeats an id without end.
class CallIndex {
 public:
  CallIndex(const Trace& trace, std::span<const uint8_t> wanted) : trace_(trace) {
    size_t slots = 1024;
    while (slots < trace.calls.size() * 2) {
      slots *= 2;
    }
    slots_.assign(slots, kNoGroup);
    std::vector<uint32_t> group_of_call(trace.calls.size(), kNoGroup);
    for (uint32_t call = 0; call < trace.calls.size(); ++call) {
      const bool candidate = wanted.empty() || wanted[call] != 0;
      if (candidate && trace.calls.correlation[call] != kNoCorrelation) {
        group_of_call[call] = GroupFor(call);
      }
    }
    FillGroups(group_of_call);
  }

  // The latest call of (process, correlation) that starts at or before `start_ns`, else the first
  // one within the clock skew.
  uint32_t Find(ProcessId process, int64_t correlation, int64_t start_ns) const {
    const uint32_t group = slots_[FindSlot({process, correlation})];
    if (group == kNoGroup) {
      return kNoCall;
    }
    const auto first = calls_.begin() + begins_[group];
    const auto last = calls_.begin() + begins_[group + 1];
    const auto& starts = trace_.calls.start_ns;
    const auto later = std::upper_bound(
        first, last, start_ns, [&](int64_t time, uint32_t call) { return time < starts[call]; });
    if (later != first) {
      return *(later - 1);
    }
    return starts[*later] - start_ns <= kClockSkewNs ? *later : kNoCall;
  }

 private:
  static constexpr uint32_t kNoGroup = 0xFFFFFFFF;

  struct CallKey {
    ProcessId process;
    int64_t correlation;
    bool operator==(const CallKey&) const = default;
  };

  // The group of the call's key, made when the key is new.
  uint32_t GroupFor(uint32_t call) {
    const CallKey key{trace_.ProcessOf(trace_.calls.thread[call]), trace_.calls.correlation[call]};
    uint32_t& slot = slots_[FindSlot(key)];
    if (slot == kNoGroup) {
      slot = static_cast<uint32_t>(keys_.size());
      keys_.push_back(key);
    }
    return slot;
  }

  // Calls are sorted by start, so that filling in their order sorts each group.
  void FillGroups(const std::vector<uint32_t>& group_of_call) {
    begins_.assign(keys_.size() + 1, 0);
    for (const uint32_t group : group_of_call) {
      if (group != kNoGroup) {
        ++begins_[group + 1];
      }
    }
    std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
    calls_.resize(begins_.back());
    std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
    for (uint32_t call = 0; call < group_of_call.size(); ++call) {
      if (group_of_call[call] != kNoGroup) {
        calls_[next[group_of_call[call]]++] = call;
      }
    }
  }

  // The slot of `key`: the one that has it, or the free one where it would go.
  size_t FindSlot(const CallKey& key) const {
    const size_t mask = slots_.size() - 1;
    const uint64_t mixed = (static_cast<uint64_t>(key.correlation) * 0x9E3779B97F4A7C15U) ^
                           (uint64_t{Index(key.process)} * 0xC2B2AE3D27D4EB4FU);
    size_t slot = static_cast<size_t>(mixed >> 20) & mask;
    while (slots_[slot] != kNoGroup && keys_[slots_[slot]] != key) {
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  const Trace& trace_;
  std::vector<uint32_t> slots_;   // open addressing over groups
  std::vector<CallKey> keys_;     // by group
  std::vector<uint32_t> begins_;  // by group: where its calls begin in calls_
  std::vector<uint32_t> calls_;
};

// The call of the only process that has a fitting one: with several, any choice would be a guess.
uint32_t FindInAnyProcess(const CallIndex& index, size_t processes, int64_t correlation,
                          int64_t start_ns) {
  uint32_t found = kNoCall;
  for (uint32_t process = 0; process < processes; ++process) {
    const uint32_t call = index.Find(ProcessId{process}, correlation, start_ns);
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
    links[row] = index.Find(process, correlation, start);
    if (links[row] != kNoCall) {
      continue;
    }
    if (process == ProcessId::kNone) {
      links[row] = FindInAnyProcess(index, trace.processes.size(), correlation, start);
    } else if (unknown_calls) {
      links[row] = index.Find(ProcessId::kNone, correlation, start);
    }
  }
  return links;
}

}  // namespace nsys
