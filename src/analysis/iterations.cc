// SPDX-License-Identifier: MIT
#include "analysis/iterations.h"

#include <algorithm>

#include <fmt/core.h>

#include "analysis/selection.h"
#include "base/text.h"
#include "trace/kernel_class.h"
#include "trace/launches.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

constexpr int64_t kRealShare = 10;  // real iterations have at least 1/10 of the largest kernel time

struct HostWindow {
  int64_t begin_ns;
  int64_t end_ns;
  std::string text;
};

// All launches on the device, ordered by the start of the call.
std::vector<Launch> LaunchesOnDevice(Views& views, int64_t device) {
  const Trace& trace = views.trace();
  const LanesOnDevice on_device(trace, device);
  const std::vector<uint32_t>& calls = views.KernelCalls();
  std::vector<Launch> launches;
  for (uint32_t kernel = 0; kernel < calls.size(); ++kernel) {
    if (calls[kernel] != kNoCall && on_device(trace.kernels.lane[kernel])) {
      launches.push_back({.kernel = kernel, .call = calls[kernel]});
    }
  }
  SortByCall(launches);
  return launches;
}

ThreadId PrimaryThread(const Trace& trace, const std::vector<Launch>& launches) {
  std::vector<int64_t> counts(trace.threads.size(), 0);
  for (const Launch& launch : launches) {
    const ThreadId thread = trace.calls.thread[launch.call];
    if (thread != ThreadId::kNone) {
      ++counts[Index(thread)];
    }
  }
  const auto most = std::max_element(
      counts.begin(), counts.end());  // the first of equals: threads are by globalTid
  return most == counts.end() || *most == 0
             ? ThreadId::kNone
             : ThreadId{static_cast<uint32_t>(most - counts.begin())};
}

// The outermost ranges of the thread whose text holds the marker.
std::vector<HostWindow> MarkerWindows(const Trace& trace, ThreadId thread,
                                      const IterationQuery& query) {
  const NvtxTable& nvtx = trace.nvtx;
  OncePerText holds_marker(
      [&](StringId text) { return ContainsIgnoreCase(trace.Text(text), query.marker); });
  std::vector<uint32_t> ranges;
  for (uint32_t row = 0; row < nvtx.size(); ++row) {
    if (nvtx.text[row] == StringId::kNone || nvtx.end_ns[row] <= nvtx.start_ns[row]) {
      continue;
    }
    if (trace.nvtx_lanes[Index(nvtx.lane[row])].thread != thread) {
      continue;
    }
    if (!Touches(query.window, nvtx.start_ns[row], nvtx.end_ns[row])) {
      continue;
    }
    if (holds_marker(nvtx.text[row])) {
      ranges.push_back(row);
    }
  }
  // Of two ranges with one start the longer encloses the other.
  std::sort(ranges.begin(), ranges.end(), [&](uint32_t a, uint32_t b) {
    if (nvtx.start_ns[a] != nvtx.start_ns[b]) {
      return nvtx.start_ns[a] < nvtx.start_ns[b];
    }
    if (nvtx.end_ns[a] != nvtx.end_ns[b]) {
      return nvtx.end_ns[a] > nvtx.end_ns[b];
    }
    return trace.Text(nvtx.text[a]) < trace.Text(nvtx.text[b]);
  });
  std::vector<HostWindow> windows;
  for (const uint32_t row : ranges) {
    if (!windows.empty() && nvtx.start_ns[row] < windows.back().end_ns) {
      continue;
    }
    windows.push_back(
        {nvtx.start_ns[row], nvtx.end_ns[row], std::string(trace.Text(nvtx.text[row]))});
  }
  return windows;
}

// Stretches between pauses of the device, bounded by the calls that ended them.
std::vector<HostWindow> PauseWindows(const Trace& trace, ThreadId thread,
                                     const std::vector<Launch>& launches,
                                     const std::optional<Window>& window) {
  const KernelTable& kernels = trace.kernels;
  std::vector<Launch> own;
  std::copy_if(
      launches.begin(), launches.end(), std::back_inserter(own), [&](const Launch& launch) {
        return trace.calls.thread[launch.call] == thread &&
               Touches(window, kernels.start_ns[launch.kernel], kernels.end_ns[launch.kernel]);
      });
  if (own.empty()) {
    return {};
  }
  std::vector<int64_t> bounds = {trace.calls.start_ns[own.front().call]};
  int64_t last_end = trace.calls.end_ns[own.front().call];
  for (const Launch& launch : own) {
    last_end = std::max(last_end, trace.calls.end_ns[launch.call]);
  }
  std::sort(own.begin(), own.end(),
            [](const Launch& a, const Launch& b) { return a.kernel < b.kernel; });
  int64_t busy_until = kernels.end_ns[own.front().kernel];
  for (const Launch& launch : own) {
    if (kernels.start_ns[launch.kernel] - busy_until > kIterationPauseNs) {
      bounds.push_back(trace.calls.start_ns[launch.call]);
    }
    busy_until = std::max(busy_until, kernels.end_ns[launch.kernel]);
  }
  // Found on the device's clock, expressed on the host's: streams reorder work, so sort.
  std::sort(bounds.begin(), bounds.end());
  bounds.erase(std::unique(bounds.begin(), bounds.end()), bounds.end());
  if (last_end > bounds.back()) {
    bounds.push_back(last_end);
  }
  std::vector<HostWindow> windows;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    windows.push_back({bounds[i], bounds[i + 1], fmt::format("heuristic_step_{}", i)});
  }
  return windows;
}

// The iteration of one window, from launches at and after `next`, which moves behind them.
std::optional<Iteration> Summarize(const Trace& trace, const std::vector<Launch>& launches,
                                   ProcessId process, const HostWindow& window, size_t& next,
                                   CommunicationClasses& classes) {
  const CallTable& calls = trace.calls;
  while (next < launches.size() && calls.start_ns[launches[next].call] < window.begin_ns) {
    ++next;
  }
  Iteration iteration;
  iteration.text = window.text;
  iteration.host_begin_ns = window.begin_ns;
  iteration.host_end_ns = window.end_ns;
  iteration.process = process;
  Hull hull;
  size_t at = next;
  for (; at < launches.size() && calls.start_ns[launches[at].call] <= window.end_ns; ++at) {
    const auto [kernel, call] = launches[at];
    if (calls.start_ns[call] < window.end_ns) {
      next = at + 1;  // calls that start on a shared bound are looked at again
    }
    if (calls.end_ns[call] > window.end_ns || trace.ProcessOf(calls.thread[call]) != process) {
      continue;
    }
    hull.Add(trace.kernels.span(kernel));
    iteration.kernel_ns += trace.kernels.duration_ns(kernel);
    ++iteration.kernels;
    if (classes.IsCommunication(trace.kernels.name_to_classify(kernel))) {
      ++iteration.communication_kernels;
    }
  }
  if (!hull.span()) {
    return std::nullopt;
  }
  iteration.gpu_start_ns = hull.span()->begin_ns;
  iteration.gpu_end_ns = hull.span()->end_ns;
  return iteration;
}

std::vector<Iteration> Detect(Views& views, const IterationQuery& query) {
  const Trace& trace = views.trace();
  const std::vector<Launch> launches = LaunchesOnDevice(views, query.device);
  const ThreadId primary = PrimaryThread(trace, launches);
  if (primary == ThreadId::kNone) {
    return {};
  }
  std::vector<HostWindow> windows = MarkerWindows(trace, primary, query);
  const bool heuristic = windows.empty();
  if (heuristic) {
    windows = PauseWindows(trace, primary, launches, query.window);
  }

  std::vector<Iteration> iterations;
  size_t next = 0;
  for (const HostWindow& window : windows) {
    auto iteration =
        Summarize(trace, launches, trace.ProcessOf(primary), window, next, views.communication());
    if (!iteration) {
      continue;
    }
    iteration->heuristic = heuristic;
    iterations.push_back(*std::move(iteration));
  }
  int64_t most = 0;
  for (const Iteration& iteration : iterations) {
    most = std::max(most, iteration.kernel_ns);
  }
  for (Iteration& iteration : iterations) {
    iteration.real = iteration.kernel_ns * kRealShare >= most;
  }
  return iterations;
}

}  // namespace

Reads IterationReads(RowKind ranges) {
  return {{TableId::kKernel, {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
          {TableId::kRuntime,
           {Column::kTime, Column::kThread, Column::kCorrelation},
           RowKind::kLaunches},
          {TableId::kNvtx, {Column::kTime, Column::kThread, Column::kName}, ranges}};
}

Reads IterationReadsOf(std::string_view marker) {
  Reads reads = IterationReads(RowKind::kTexts);
  reads.Narrow({.text = [marker = std::string(marker)](std::string_view text) {
    return ContainsIgnoreCase(text, marker);
  }});
  return reads;
}

const std::vector<Iteration>& DetectIterations(Views& views, const IterationQuery& query) {
  const ViewKey key{.device = query.device, .window = query.window, .text = query.marker};
  return views.Once<std::vector<Iteration>>(key, [&] { return Detect(views, query); });
}

std::vector<uint32_t> KernelsOf(Views& views, int64_t device, const Iteration& iteration) {
  const Trace& trace = views.trace();
  const LanesOnDevice on_device(trace, device);
  const std::vector<uint32_t>& links = views.KernelCalls();
  std::vector<uint32_t> kernels;
  for (uint32_t kernel = 0; kernel < links.size(); ++kernel) {
    const uint32_t call = links[kernel];
    if (call != kNoCall && on_device(trace.kernels.lane[kernel]) &&
        trace.calls.start_ns[call] >= iteration.host_begin_ns &&
        trace.calls.end_ns[call] <= iteration.host_end_ns &&
        trace.ProcessOf(trace.calls.thread[call]) == iteration.process) {
      kernels.push_back(kernel);
    }
  }
  return kernels;
}

}  // namespace nsys
