// SPDX-License-Identifier: MIT
#include "perfetto/projection.h"

#include <algorithm>

#include "base/grouping.h"

namespace nsys::perfetto {
namespace {

Span Joined(Span a, Span b) {
  return {std::min(a.begin_ns, b.begin_ns), std::max(a.end_ns, b.end_ns)};
}

// Rows of trace.kernels group by group.
Grouping SplitKernels(const Trace& trace, const Links& kernels, const GroupPlan& groups) {
  std::vector<uint32_t> group_of(trace.kernels.size());
  for (uint32_t row = 0; row < group_of.size(); ++row) {
    const int64_t device = DeviceOfLane(trace.LaneOf(trace.kernels, row));
    group_of[row] = groups.Of(kernels.process[row], device);
  }
  return {group_of.size(), groups.size(), [&](uint32_t row) { return group_of[row]; }};
}

// The launches of the kernels of one group, made anew for each group.
class LaunchCollector {
 public:
  LaunchCollector(const Trace& trace, const CallIndex& index, const Links& kernels)
      : trace_(trace), index_(index), kernels_(kernels), place_(index.keys(), kNone) {}

  // In order of their calls.
  const std::vector<LaunchSpans::Launch>& Collect(std::span<const uint32_t> rows) {
    keys_.clear();
    spans_.clear();
    for (const uint32_t row : rows) {
      const uint32_t key = kernels_.key[row];
      if (key == kNoKey) {
        continue;
      }
      if (place_[key] == kNone) {
        place_[key] = static_cast<uint32_t>(keys_.size());
        keys_.push_back(key);
        spans_.push_back(trace_.kernels.span(row));
      } else {
        Span& span = spans_[place_[key]];
        span = Joined(span, trace_.kernels.span(row));
      }
    }
    launches_.clear();
    for (const uint32_t key : keys_) {
      for (const uint32_t call : index_.Calls(key)) {
        launches_.push_back({.call = call, .kernels = spans_[place_[key]]});
      }
    }
    for (const uint32_t key : keys_) {
      place_[key] = kNone;
    }
    std::sort(launches_.begin(), launches_.end(),
              [](const auto& a, const auto& b) { return a.call < b.call; });
    return launches_;
  }

 private:
  const Trace& trace_;
  const CallIndex& index_;
  const Links& kernels_;
  std::vector<uint32_t> place_;  // by key: in keys_, or kNone
  std::vector<uint32_t> keys_;
  std::vector<Span> spans_;
  std::vector<LaunchSpans::Launch> launches_;
};

}  // namespace

LaunchSpans::LaunchSpans(const Trace& trace, std::span<const Launch> launches) {
  starts_.reserve(launches.size());
  kernels_.reserve(launches.size());
  for (const Launch& launch : launches) {
    starts_.push_back(trace.calls.start_ns[launch.call]);
    kernels_.push_back(launch.kernels);
  }
  BuildLevels();
}

void LaunchSpans::BuildLevels() {
  std::vector<Span> blocks;
  for (size_t i = 0; i < kernels_.size(); ++i) {
    if (i % kBlock == 0) {
      blocks.push_back(kernels_[i]);
    } else {
      blocks.back() = Joined(blocks.back(), kernels_[i]);
    }
  }
  levels_.push_back(std::move(blocks));
  for (size_t width = 1; 2 * width <= levels_[0].size(); width *= 2) {
    const std::vector<Span>& narrow = levels_.back();
    std::vector<Span> wide;
    wide.reserve(narrow.size() - width);
    for (size_t i = 0; i + width < narrow.size(); ++i) {
      wide.push_back(Joined(narrow[i], narrow[i + width]));
    }
    levels_.push_back(std::move(wide));
  }
}

// The first launch that starts after `time`. Goes on from the last answer when time has not gone
// back.
size_t LaunchSpans::FirstAfter(int64_t time) {
  if (from_ > 0 && starts_[from_ - 1] > time) {
    from_ = 0;
  }
  from_ = time == INT64_MAX ? starts_.size() : FirstNotBefore(time + 1, from_);
  return from_;
}

// The first launch from `from` on that does not start before `time`: in steps that double, then by
// halves, as it mostly is near.
size_t LaunchSpans::FirstNotBefore(int64_t time, size_t from) const {
  size_t step = 1;
  size_t low = from;
  while (low + step <= starts_.size() && starts_[low + step - 1] < time) {
    low += step;
    step *= 2;
  }
  const size_t high = std::min(low + step, starts_.size());
  const auto first = starts_.begin();
  const auto at = std::lower_bound(first + static_cast<std::ptrdiff_t>(low),
                                   first + static_cast<std::ptrdiff_t>(high), time);
  return static_cast<size_t>(at - first);
}

Span LaunchSpans::Around(size_t begin, size_t end) const {
  Span around = kernels_[begin];
  const auto scan = [&](size_t from, size_t to) {
    for (size_t i = from; i < to; ++i) {
      around = Joined(around, kernels_[i]);
    }
  };
  const size_t first_block = (begin + kBlock - 1) / kBlock;
  const size_t last_block = end / kBlock;
  if (first_block >= last_block) {
    scan(begin, end);
    return around;
  }
  scan(begin, first_block * kBlock);
  scan(last_block * kBlock, end);
  size_t level = 0;
  while (size_t{2} << level <= last_block - first_block) {
    ++level;
  }
  const std::vector<Span>& spans = levels_[level];
  return Joined(around, Joined(spans[first_block], spans[last_block - (size_t{1} << level)]));
}

std::optional<Span> LaunchSpans::Within(Span range) {
  const size_t begin = FirstAfter(range.begin_ns);
  if (begin == starts_.size() || starts_[begin] >= range.end_ns) {
    return std::nullopt;
  }
  return Around(begin, FirstNotBefore(range.end_ns, begin));
}

Projection::Projection(const Trace& trace, const Processes& processes, const CallIndex& index,
                       const Links& kernels, const GroupPlan& groups, NvtxScope scope)
    : trace_(trace), processes_(processes), scope_(scope) {
  const bool by_thread = scope == NvtxScope::kThread;
  of_scope_.resize(by_thread ? trace.threads.size() : processes.list.size());
  Grouping split = SplitKernels(trace, kernels, groups);
  LaunchCollector collector(trace, index, kernels);
  std::vector<LaunchSpans::Launch> launches;
  for (uint32_t group = 0; group < groups.size(); ++group) {
    launches = collector.Collect(split.Of(group));
    if (launches.empty()) {
      continue;
    }
    const auto add = [&](uint32_t of, std::span<const LaunchSpans::Launch> some) {
      of_scope_[of].push_back(
          {.group = group, .launches = static_cast<uint32_t>(launches_.size())});
      launches_.emplace_back(trace, some);
    };
    if (!by_thread) {
      add(Index(groups.ProcessOf(group)), launches);
      continue;
    }
    const auto thread_of = [&](const LaunchSpans::Launch& launch) {
      return trace.calls.thread[launch.call];
    };
    std::stable_sort(launches.begin(), launches.end(), [&](const auto& a, const auto& b) {
      return Index(thread_of(a)) < Index(thread_of(b));
    });
    for (size_t begin = 0, end = 0; begin < launches.size(); begin = end) {
      const ThreadId thread = thread_of(launches[begin]);
      while (end < launches.size() && thread_of(launches[end]) == thread) {
        ++end;
      }
      if (thread != ThreadId::kNone) {
        add(Index(thread), std::span(launches).subspan(begin, end - begin));
      }
    }
  }
}

void Projection::Append(uint32_t row, Span span, std::vector<Projected>& to) {
  const ThreadId thread = trace_.nvtx_lanes[Index(trace_.nvtx.lane[row])].thread;
  uint32_t scope = Index(thread);
  if (scope_ == NvtxScope::kProcess) {
    scope = Index(processes_.Known(processes_.OfThread(thread)));
  } else if (thread == ThreadId::kNone) {
    return;
  }
  for (const GroupLaunches& launches : of_scope_[scope]) {
    if (const auto kernels = launches_[launches.launches].Within(span)) {
      to.push_back({.row = row,
                    .track = launches.group,
                    .start_ns = kernels->begin_ns,
                    .end_ns = kernels->end_ns});
    }
  }
}

}  // namespace nsys::perfetto
