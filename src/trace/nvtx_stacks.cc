// SPDX-License-Identifier: MIT
#include "trace/nvtx_stacks.h"

#include <algorithm>

namespace nsys {
namespace {

// The open ranges of every (thread, domain) while the sweep moves forward in time.
class Stacks {
 public:
  explicit Stacks(const Trace& trace)
      : nvtx_(trace.nvtx), open_(trace.nvtx_lanes.size()), lanes_of_thread_(trace.threads.size()) {
    for (uint32_t lane = 0; lane < trace.nvtx_lanes.size(); ++lane) {
      const ThreadId thread = trace.nvtx_lanes[lane].thread;
      if (thread != ThreadId::kNone) {
        lanes_of_thread_[Index(thread)].push_back(lane);
      }
    }
  }

  void Push(uint32_t range) {
    auto& stack = open_[Index(nvtx_.lane[range])];
    while (!stack.empty() && nvtx_.end_ns[stack.back()] < nvtx_.start_ns[range]) {
      stack.pop_back();
    }
    stack.push_back(range);
  }

  // Appends the open ranges of `thread` that enclose [start_ns, end_ns], in no particular order.
  void CollectEnclosing(ThreadId thread, int64_t start_ns, int64_t end_ns,
                        std::vector<uint32_t>& out) {
    for (const uint32_t lane : lanes_of_thread_[Index(thread)]) {
      auto& stack = open_[lane];
      size_t dead = 0;
      for (const uint32_t range : stack) {
        if (nvtx_.end_ns[range] < start_ns) {
          ++dead;
        }
        if (nvtx_.end_ns[range] >= end_ns) {
          out.push_back(range);
        }
      }
      // Ranges of one domain should nest, but damaged captures hold crossing ones, whose closed
      // members lie buried below open ones. Clearing them away keeps the sweep linear.
      if (dead * 2 > stack.size()) {
        std::erase_if(stack, [&](uint32_t range) { return nvtx_.end_ns[range] < start_ns; });
      }
    }
  }

 private:
  const NvtxTable& nvtx_;
  std::vector<std::vector<uint32_t>> open_;             // by NvtxLaneId
  std::vector<std::vector<uint32_t>> lanes_of_thread_;  // by ThreadId
};

// Sweeps over ranges and calls in time order; `visit(enclosing)` gets the ranges around each call.
template <typename Visit>
void SweepCalls(const Trace& trace, std::span<const uint32_t> calls, const Visit& visit) {
  const NvtxTable& nvtx = trace.nvtx;
  Stacks stacks(trace);
  uint32_t next_range = 0;
  std::vector<uint32_t> enclosing;
  for (const uint32_t call : calls) {
    const int64_t start = trace.calls.start_ns[call];
    for (; next_range < nvtx.size() && nvtx.start_ns[next_range] <= start; ++next_range) {
      const bool usable = nvtx.event_type[next_range] == kNvtxPushPop &&
                          nvtx.text[next_range] != StringId::kNone &&
                          nvtx.end_ns[next_range] > nvtx.start_ns[next_range];
      if (usable && nvtx.end_ns[next_range] >= start) {
        stacks.Push(next_range);
      }
    }
    enclosing.clear();
    const ThreadId thread = trace.calls.thread[call];
    if (thread != ThreadId::kNone) {
      stacks.CollectEnclosing(thread, start, trace.calls.end_ns[call], enclosing);
    }
    visit(enclosing);
  }
}

}  // namespace

void ForEachPath(const Trace& trace, std::span<const uint32_t> calls,
                 const std::function<void(size_t, std::span<const uint32_t>)>& visit) {
  const NvtxTable& nvtx = trace.nvtx;
  size_t position = 0;
  SweepCalls(trace, calls, [&](std::vector<uint32_t>& enclosing) {
    std::sort(enclosing.begin(), enclosing.end(), [&](uint32_t a, uint32_t b) {
      if (nvtx.duration_ns(a) != nvtx.duration_ns(b)) {
        return nvtx.duration_ns(a) > nvtx.duration_ns(b);
      }
      if (nvtx.start_ns[a] != nvtx.start_ns[b]) {
        return nvtx.start_ns[a] < nvtx.start_ns[b];
      }
      return trace.Text(nvtx.text[a]) < trace.Text(nvtx.text[b]);
    });
    visit(position++, enclosing);
  });
}

RangePaths EnclosingRanges(const Trace& trace, std::span<const uint32_t> calls) {
  RangePaths paths;
  ForEachPath(trace, calls, [&](size_t, std::span<const uint32_t> path) {
    paths.ranges_.insert(paths.ranges_.end(), path.begin(), path.end());
    paths.begins_.push_back(paths.ranges_.size());
  });
  return paths;
}

std::vector<uint8_t> AreEnclosed(const Trace& trace, std::span<const uint32_t> calls,
                                 const std::function<bool(uint32_t)>& counts) {
  std::vector<uint8_t> enclosed;
  enclosed.reserve(calls.size());
  SweepCalls(trace, calls, [&](const std::vector<uint32_t>& enclosing) {
    const bool any = counts == nullptr ? !enclosing.empty()
                                       : std::any_of(enclosing.begin(), enclosing.end(), counts);
    enclosed.push_back(any ? 1 : 0);
  });
  return enclosed;
}

uint32_t InnermostRange(const Trace& trace, std::span<const uint32_t> path) {
  const NvtxTable& nvtx = trace.nvtx;
  // The path is ordered by (duration descending, start, text): the answer opens its last run of
  // equal durations.
  size_t at = path.size() - 1;
  while (at > 0 && nvtx.duration_ns(path[at - 1]) == nvtx.duration_ns(path[at])) {
    --at;
  }
  return path[at];
}

std::string PathText(const Trace& trace, std::span<const uint32_t> path) {
  std::string text;
  for (const uint32_t range : path) {
    if (!text.empty()) {
      text += " > ";
    }
    text += trace.Text(trace.nvtx.text[range]);
  }
  return text;
}

}  // namespace nsys
