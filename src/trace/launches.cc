// SPDX-License-Identifier: MIT
#include "trace/launches.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/sort_runs.h"

namespace nsys {
namespace {

// The latest call of (process, correlation) that starts at or before `start_ns`, else the first one
// within the clock skew.
uint32_t FindLaunch(const Trace& trace, const CallIndex& index, uint32_t key, int64_t start_ns) {
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
    const uint32_t key = index.Find(ProcessId{process}, correlation);
    const uint32_t call = FindLaunch(trace, index, key, start_ns);
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

// Which threads launch into which contexts. Contexts of one process may count their correlation ids
// each on its own, and then one id has a call into each of them.
class Callers {
 public:
  // `keys` has the key of each row of `events`.
  Callers(const Trace& trace, const CallIndex& index, const std::vector<ProcessId>& lane_process,
          const GpuEvents& events, const std::vector<uint32_t>& keys)
      : trace_(trace), index_(index), lane_process_(lane_process), keys_(keys) {
    if (NumberContexts() && NoteContexts(events)) {
      NoteThreads(events);
    }
  }

  // Of the calls with the id of this row and no later than it the latest of a thread that launches
  // into its context; kNoCall when there is none, or when the id is of one context only.
  uint32_t Latest(const GpuEvents& events, size_t row) const;

 private:
  static constexpr uint32_t kSeveral = 0xFFFFFFFE;
  static constexpr uint32_t kNoContext = 0xFFFFFFFF;

  bool NumberContexts();
  bool NoteContexts(const GpuEvents& events);
  void NoteThreads(const GpuEvents& events);
  uint32_t ContextOf(const GpuEvents& events, size_t row) const {
    return contexts_.empty() ? kNoContext : contexts_[Index(events.lane[row])];
  }
  uint32_t KeyOf(const GpuEvents& events, size_t row) const {
    return ContextOf(events, row) == kNoContext ? kNoKey : keys_[row];
  }

  const Trace& trace_;
  const CallIndex& index_;
  const std::vector<ProcessId>& lane_process_;
  const std::vector<uint32_t>& keys_;
  std::vector<uint32_t> contexts_;        // by lane; empty when no process has several
  std::vector<uint32_t> context_of_key_;  // the only one, kSeveral or kNoContext
  std::set<std::pair<ThreadId, uint32_t>> launched_into_;
};

// False when no process has several contexts.
bool Callers::NumberContexts() {
  std::map<ProcessId, std::set<int64_t>> known;
  for (size_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    if (trace_.lanes[lane].context && lane_process_[lane] != ProcessId::kNone) {
      known[lane_process_[lane]].insert(*trace_.lanes[lane].context);
    }
  }
  if (std::none_of(known.begin(), known.end(),
                   [](const auto& of) { return of.second.size() > 1; })) {
    return false;
  }
  std::map<std::pair<ProcessId, int64_t>, uint32_t> numbers;
  for (size_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    const std::optional<int64_t> context = trace_.lanes[lane].context;
    const ProcessId process = lane_process_[lane];
    const bool alone = !context || process == ProcessId::kNone || known[process].size() < 2;
    const auto next = static_cast<uint32_t>(numbers.size());
    contexts_.push_back(alone ? kNoContext
                              : numbers.try_emplace({process, *context}, next).first->second);
  }
  return true;
}

// False when no id with several calls has work of several contexts.
bool Callers::NoteContexts(const GpuEvents& events) {
  context_of_key_.assign(index_.keys(), kNoContext);
  bool any_shared = false;
  for (size_t row = 0; row < events.size(); ++row) {
    const uint32_t key = KeyOf(events, row);
    if (key == kNoKey || index_.Calls(key).size() < 2) {
      continue;
    }
    uint32_t& known = context_of_key_[key];
    const bool shared = known != kNoContext && known != ContextOf(events, row);  // or was before
    known = shared ? kSeveral : ContextOf(events, row);
    any_shared = any_shared || shared;
  }
  if (!any_shared) {
    contexts_.clear();
  }
  return any_shared;
}

// An id with a single call tells which thread launches into the context.
void Callers::NoteThreads(const GpuEvents& events) {
  for (size_t row = 0; row < events.size(); ++row) {
    const uint32_t key = KeyOf(events, row);
    if (key != kNoKey && index_.Calls(key).size() == 1) {
      launched_into_.insert(
          {trace_.calls.thread[index_.Calls(key).front()], ContextOf(events, row)});
    }
  }
}

uint32_t Callers::Latest(const GpuEvents& events, size_t row) const {
  constexpr int kMostTried = 64;  // so that an id used without end costs no square
  const uint32_t key = KeyOf(events, row);
  if (key == kNoKey || context_of_key_[key] != kSeveral) {
    return kNoCall;
  }
  const std::span<const uint32_t> calls = index_.Calls(key);
  const auto& starts = trace_.calls.start_ns;
  auto at = std::upper_bound(calls.begin(), calls.end(), events.start_ns[row],
                             [&](int64_t time, uint32_t call) { return time < starts[call]; });
  for (int tried = 0; at != calls.begin() && tried < kMostTried; ++tried) {
    const uint32_t call = *--at;
    if (launched_into_.contains({trace_.calls.thread[call], ContextOf(events, row)})) {
      return call;
    }
  }
  return kNoCall;
}

bool AnyProcessUnknown(const std::vector<ThreadId>& threads) {
  return std::find(threads.begin(), threads.end(), ThreadId::kNone) != threads.end();
}

}  // namespace

void SortByCall(std::vector<Launch>& launches) {
  SortByRuns(launches, [](const Launch& a, const Launch& b) {
    return a.call != b.call ? a.call < b.call : a.kernel < b.kernel;
  });
}

std::vector<uint32_t> LinkLaunches(const Trace& trace, const GpuEvents& events,
                                   std::span<const uint8_t> wanted) {
  return LinkLaunches(trace, events, CallIndex(trace, wanted));
}

std::vector<uint32_t> LinkLaunches(const Trace& trace, const GpuEvents& events,
                                   const CallIndex& index) {
  std::vector<ProcessId> lane_process(trace.lanes.size());
  for (size_t lane = 0; lane < trace.lanes.size(); ++lane) {
    lane_process[lane] = trace.FindProcess(trace.lanes[lane].global_pid);
  }
  const bool unknown_calls = AnyProcessUnknown(trace.calls.thread);
  std::vector<uint32_t> keys(events.size(), kNoKey);
  for (size_t row = 0; row < events.size(); ++row) {
    if (events.correlation[row] != kNoCorrelation) {
      keys[row] = index.Find(lane_process[Index(events.lane[row])], events.correlation[row]);
    }
  }
  const Callers callers(trace, index, lane_process, events, keys);
  std::vector<uint32_t> links(events.size(), kNoCall);
  for (size_t row = 0; row < events.size(); ++row) {
    const int64_t correlation = events.correlation[row];
    if (correlation == kNoCorrelation) {
      continue;
    }
    const int64_t start = events.start_ns[row];
    const ProcessId process = lane_process[Index(events.lane[row])];
    links[row] = callers.Latest(events, row);
    if (links[row] == kNoCall) {
      links[row] = FindLaunch(trace, index, keys[row], start);
    }
    if (links[row] != kNoCall) {
      continue;
    }
    if (process == ProcessId::kNone) {
      links[row] = FindInAnyProcess(trace, index, correlation, start);
    } else if (unknown_calls) {
      links[row] = FindLaunch(trace, index, index.Find(ProcessId::kNone, correlation), start);
    }
  }
  return links;
}

}  // namespace nsys
