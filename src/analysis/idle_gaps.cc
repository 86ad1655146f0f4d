// SPDX-License-Identifier: MIT
#include "analysis/idle_gaps.h"

#include <algorithm>
#include <array>
#include <map>

#include "analysis/host_sync.h"
#include "analysis/selection.h"
#include "base/sort_runs.h"
#include "trace/overlap_index.h"

namespace nsys {
namespace {

struct Work {
  int64_t start_ns;
  int64_t end_ns;
  int64_t correlation;
  StringId name;
  bool is_graph;
};

// Kernels and graphs of the device inside the window, by lane.
std::vector<std::vector<Work>> WorkByLane(const Trace& trace, int64_t device,
                                          const std::optional<Window>& window) {
  const LanesOnDevice on_device(trace, device);
  std::vector<std::vector<Work>> by_lane(trace.lanes.size());
  const auto add = [&](const GpuEvents& events, const auto& name_of, bool is_graph) {
    for (size_t row = 0; row < events.size(); ++row) {
      if (!on_device(events.lane[row]) ||
          !Contains(window, events.start_ns[row], events.end_ns[row])) {
        continue;
      }
      by_lane[Index(events.lane[row])].push_back({events.start_ns[row], events.end_ns[row],
                                                  events.correlation[row], name_of(row), is_graph});
    }
  };
  add(trace.kernels, [&](size_t row) { return trace.kernels.short_name[row]; }, false);
  add(trace.graphs, [](size_t) { return StringId::kNone; }, true);
  for (auto& work : by_lane) {
    SortByRuns(work, [&](const Work& a, const Work& b) {
      if (a.start_ns != b.start_ns) {
        return a.start_ns < b.start_ns;
      }
      if (a.correlation != b.correlation) {
        return a.correlation < b.correlation;
      }
      if (a.end_ns != b.end_ns) {
        return a.end_ns < b.end_ns;
      }
      return trace.Text(a.name) < trace.Text(b.name);
    });
  }
  return by_lane;
}

Span PartOf(const IdleGap& gap, const Span& span) {
  return {std::max(span.begin_ns, gap.start_ns), std::min(span.end_ns, gap.end_ns)};
}

// The index of one of the trace's tables, made once.
const OverlapIndex& IndexOf(Views& views, const Events& events, std::string name) {
  return views.Once<OverlapIndex>({.device = {}, .window = {}, .text = std::move(name)},
                                  [&] { return OverlapIndex(events); });
}

// Time in which a copy or memset ran on the gap's device.
int64_t CopyTimeWithin(Views& views, const IdleGap& gap) {
  const Trace& trace = views.trace();
  std::vector<Span> copies;
  const auto device = trace.lanes[Index(gap.lane)].device;
  const auto add = [&](const GpuEvents& events, std::string name) {
    IndexOf(views, events, std::move(name)).ForEach({gap.start_ns, gap.end_ns}, [&](size_t row) {
      if (trace.DeviceOf(events, row) == device) {
        copies.push_back(PartOf(gap, events.span(row)));
      }
    });
  };
  add(trace.copies, "copies");
  add(trace.memsets, "memsets");
  return Length(Union(std::move(copies)));
}

HostActivity ActivityOf(const std::string& api) {
  const auto holds = [&](const char* part) { return api.find(part) != std::string::npos; };
  if (SynchronizedBy(api)) {
    return HostActivity::kSynchronization;
  }
  if (holds("Memcpy") || holds("Memset")) {
    return HostActivity::kMemoryTransfer;
  }
  if (holds("LaunchKernel") || holds("LaunchCooperative") || holds("GraphLaunch") ||
      api.starts_with("cuLaunch")) {
    return HostActivity::kKernelLaunch;
  }
  return HostActivity::kOther;
}

}  // namespace

StreamActivity FindIdleGaps(const Trace& trace, int64_t device, const std::optional<Window>& window,
                            int64_t min_gap_ns) {
  StreamActivity activity;
  Hull hull;
  const auto by_lane = WorkByLane(trace, device, window);
  for (uint32_t lane = 0; lane < by_lane.size(); ++lane) {
    if (by_lane[lane].empty()) {
      continue;
    }
    const Work* last =
        &by_lane[lane].front();  // the work that ends last so far: streams may overlap themselves
    for (const Work& next : by_lane[lane]) {
      if (next.start_ns - last->end_ns > min_gap_ns) {
        activity.gaps.push_back({.lane = LaneId{lane},
                                 .start_ns = last->end_ns,
                                 .end_ns = next.start_ns,
                                 .before = last->name,
                                 .after = next.name,
                                 .before_is_graph = last->is_graph,
                                 .after_is_graph = next.is_graph,
                                 .after_correlation = next.correlation});
      }
      if (next.end_ns > last->end_ns) {
        last = &next;
      }
    }
    hull.Add({by_lane[lane].front().start_ns, last->end_ns});
    ++activity.streams;
  }
  activity.span = hull.span().value_or(Span{});
  std::sort(activity.gaps.begin(), activity.gaps.end(), [&](const IdleGap& a, const IdleGap& b) {
    if (a.length_ns() != b.length_ns()) {
      return a.length_ns() > b.length_ns();
    }
    if (a.start_ns != b.start_ns) {
      return a.start_ns < b.start_ns;
    }
    if (a.lane != b.lane) {
      return a.lane < b.lane;  // lanes of one device are ordered by stream
    }
    return a.after_correlation < b.after_correlation;
  });
  return activity;
}

GapActivity ActivityWithin(Views& views, const IdleGap& gap) {
  const Trace& trace = views.trace();
  const CallTable& calls = trace.calls;
  const ProcessId process = trace.FindProcess(trace.lanes[Index(gap.lane)].global_pid);
  std::map<StringId, int64_t> by_name;
  std::vector<Span> spans;
  IndexOf(views, calls, "calls").ForEach({gap.start_ns, gap.end_ns}, [&](size_t call) {
    const Span inside = PartOf(gap, calls.span(call));
    const ProcessId caller = trace.ProcessOf(calls.thread[call]);
    const bool foreign =
        process != ProcessId::kNone && caller != ProcessId::kNone && caller != process;
    if (inside.end_ns > inside.begin_ns && !foreign) {
      by_name[calls.name[call]] += inside.length_ns();
      spans.push_back(inside);
    }
  });
  GapActivity activity;
  for (const auto& [name, ns] : by_name) {
    activity.apis.push_back(
        {name == StringId::kNone ? "(no name)" : std::string(trace.Text(name)), ns});
  }
  std::sort(activity.apis.begin(), activity.apis.end(), [](const ApiShare& a, const ApiShare& b) {
    return a.ns != b.ns ? a.ns > b.ns : a.name < b.name;
  });
  activity.calls_ns = Length(Union(std::move(spans)));
  activity.copies_ns = CopyTimeWithin(views, gap);
  return activity;
}

HostActivity DominantActivity(const std::vector<ApiShare>& shares) {
  if (shares.empty()) {
    return HostActivity::kNoCalls;
  }
  std::array<int64_t, 4> ns{};
  for (const ApiShare& share : shares) {
    ns[static_cast<size_t>(ActivityOf(share.name))] += share.ns;
  }
  return static_cast<HostActivity>(std::max_element(ns.begin(), ns.end()) - ns.begin());
}

}  // namespace nsys
