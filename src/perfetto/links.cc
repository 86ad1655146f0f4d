// SPDX-License-Identifier: MIT
#include "perfetto/links.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>
#include <utility>

namespace nsys::perfetto {
namespace {

// A context of a process on a device, as a small number.
using ContextId = uint32_t;
constexpr ContextId kSeveral = 0xFFFFFFFE;
constexpr ContextId kNoContext = 0xFFFFFFFF;

class Linker {
 public:
  Linker(const Trace& trace, const Processes& processes, const CallIndex& index)
      : trace_(trace), processes_(processes), index_(index) {
    unknown_callers_ = std::find(trace.calls.thread.begin(), trace.calls.thread.end(),
                                 ThreadId::kNone) != trace.calls.thread.end();
    NumberContexts();
  }

  Links FindKeys(const GpuEvents& events) const;
  void NoteContexts(const GpuEvents& events, const Links& links);
  void NoteThreads(const GpuEvents& events, const Links& links);
  void Link(const GpuEvents& events, Links& links) const;

 private:
  void NumberContexts();
  std::pair<ProcessId, uint32_t> OnlyProcessWith(int64_t correlation) const;
  uint32_t Nearest(std::span<const uint32_t> calls, int64_t start_ns) const;
  uint32_t NearestOfContext(std::span<const uint32_t> calls, int64_t start_ns,
                            ContextId context) const;
  ContextId ContextOf(const GpuEvents& events, size_t row) const {
    return context_of_lane_[Index(events.lane[row])];
  }

  const Trace& trace_;
  const Processes& processes_;
  const CallIndex& index_;
  bool unknown_callers_ = false;
  std::vector<ContextId> context_of_lane_;
  std::vector<ContextId> context_of_key_;  // the only one, kSeveral or kNoContext
  bool any_shared_key_ = false;            // with several calls, and work of several contexts
  std::set<std::pair<ThreadId, ContextId>> launched_into_;
};

void Linker::NumberContexts() {
  std::map<std::pair<std::optional<int64_t>, std::optional<int64_t>>, ContextId> numbers;
  for (const Lane& lane : trace_.lanes) {
    const auto next = static_cast<ContextId>(numbers.size());
    context_of_lane_.push_back(
        numbers.try_emplace({lane.device, lane.context}, next).first->second);
  }
  context_of_key_.assign(index_.keys(), kNoContext);
}

// The only process that has a call with this correlation id, and its key.
std::pair<ProcessId, uint32_t> Linker::OnlyProcessWith(int64_t correlation) const {
  std::pair<ProcessId, uint32_t> found = {processes_.unknown, kNoKey};
  for (uint32_t process = 0; process < processes_.list.size(); ++process) {
    const uint32_t key = index_.Find(ProcessId{process}, correlation);
    if (key == kNoKey) {
      continue;
    }
    if (found.second != kNoKey) {
      return {processes_.unknown, kNoKey};
    }
    found = {ProcessId{process}, key};
  }
  return found;
}

Links Linker::FindKeys(const GpuEvents& events) const {
  Links links;
  links.process.reserve(events.size());
  links.key.reserve(events.size());
  for (size_t row = 0; row < events.size(); ++row) {
    const int64_t correlation = events.correlation[row];
    ProcessId process = processes_.of_lane[Index(events.lane[row])];
    uint32_t key = kNoKey;
    if (correlation != kNoCorrelation) {
      if (process == ProcessId::kNone) {
        std::tie(process, key) = OnlyProcessWith(correlation);
      } else {
        key = index_.Find(process, correlation);
      }
      if (key == kNoKey && unknown_callers_) {
        key = index_.Find(ProcessId::kNone, correlation);
      }
    }
    links.process.push_back(processes_.Known(process));
    links.key.push_back(key);
  }
  return links;
}

void Linker::NoteContexts(const GpuEvents& events, const Links& links) {
  for (size_t row = 0; row < events.size(); ++row) {
    const uint32_t key = links.key[row];
    if (key == kNoKey || index_.Calls(key).size() < 2) {
      continue;
    }
    ContextId& known = context_of_key_[key];
    const ContextId context = ContextOf(events, row);
    if (known == kNoContext) {
      known = context;
    } else if (known != context) {
      known = kSeveral;
      any_shared_key_ = true;
    }
  }
}

// Which thread launches into which context, where a key has one call only.
void Linker::NoteThreads(const GpuEvents& events, const Links& links) {
  if (!any_shared_key_) {
    return;
  }
  std::pair<ThreadId, ContextId> last = {ThreadId::kNone, kNoContext};
  for (size_t row = 0; row < events.size(); ++row) {
    const uint32_t key = links.key[row];
    if (key == kNoKey || index_.Calls(key).size() != 1) {
      continue;
    }
    const std::pair now{trace_.calls.thread[index_.Calls(key)[0]], ContextOf(events, row)};
    if (now != last) {
      launched_into_.insert(now);
      last = now;
    }
  }
}

// Of calls that begin no later than the work the last, of later ones the first; of calls that begin
// together the first.
uint32_t Linker::Nearest(std::span<const uint32_t> calls, int64_t start_ns) const {
  if (calls.size() == 1) {
    return calls[0];
  }
  const std::vector<int64_t>& starts = trace_.calls.start_ns;
  const auto later =
      std::upper_bound(calls.begin(), calls.end(), start_ns,
                       [&](int64_t time, uint32_t call) { return time < starts[call]; });
  if (later == calls.begin()) {
    return *later;
  }
  return *std::lower_bound(calls.begin(), later, starts[*(later - 1)],
                           [&](uint32_t call, int64_t time) { return starts[call] < time; });
}

// The same among the calls before the work whose threads launch into `context`, or kNoCall.
uint32_t Linker::NearestOfContext(std::span<const uint32_t> calls, int64_t start_ns,
                                  ContextId context) const {
  constexpr int kMostTried = 64;  // so that an id used without end costs no square
  const std::vector<int64_t>& starts = trace_.calls.start_ns;
  auto at = std::upper_bound(calls.begin(), calls.end(), start_ns,
                             [&](int64_t time, uint32_t call) { return time < starts[call]; });
  uint32_t found = kNoCall;
  for (int tried = 0; at != calls.begin() && tried < kMostTried; ++tried) {
    const uint32_t call = *--at;
    if (found != kNoCall && starts[call] != starts[found]) {
      break;
    }
    if (launched_into_.contains({trace_.calls.thread[call], context})) {
      found = call;
    }
  }
  return found;
}

void Linker::Link(const GpuEvents& events, Links& links) const {
  links.call.reserve(events.size());
  for (size_t row = 0; row < events.size(); ++row) {
    const uint32_t key = links.key[row];
    uint32_t call = kNoCall;
    if (key != kNoKey) {
      const std::span<const uint32_t> calls = index_.Calls(key);
      if (context_of_key_[key] == kSeveral) {
        call = NearestOfContext(calls, events.start_ns[row], ContextOf(events, row));
      }
      call = call == kNoCall ? Nearest(calls, events.start_ns[row]) : call;
    }
    links.call.push_back(call);
  }
}

}  // namespace

LaunchLinks LinkWork(const Trace& trace, const Processes& processes, const CallIndex& index) {
  Linker linker(trace, processes, index);
  LaunchLinks links;
  links.kernels = linker.FindKeys(trace.kernels);
  links.copies = linker.FindKeys(trace.copies);
  linker.NoteContexts(trace.kernels, links.kernels);
  linker.NoteContexts(trace.copies, links.copies);
  linker.NoteThreads(trace.kernels, links.kernels);
  linker.NoteThreads(trace.copies, links.copies);
  linker.Link(trace.kernels, links.kernels);
  linker.Link(trace.copies, links.copies);
  return links;
}

}  // namespace nsys::perfetto
