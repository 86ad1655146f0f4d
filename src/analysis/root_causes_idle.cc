// SPDX-License-Identifier: MIT
// Checks for time in which the GPU has nothing to do.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/host_sync.h"
#include "analysis/idle_gaps.h"
#include "analysis/launch_overhead.h"
#include "analysis/root_cause_checks.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "base/text.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

constexpr int64_t kLongIdleNs = 1'000'000;  // an idle stretch beyond what launching takes
constexpr size_t kLeastStretches = 3;       // fewer are no pattern
constexpr size_t kExplainedStretches = 5;   // the longest, whose host activity is looked at
constexpr int64_t kLeastLaunches = 100;     // of one kernel name, to call it frequent
constexpr int64_t kLeastSyncNs = 1'000'000;
constexpr int64_t kLeastSyncShare = 50;  // 1/50 of the kernel time

// The lane of the device with most kernels: its process is the one that feeds the device.
LaneId MainLane(const Trace& trace, int64_t device) {
  const std::vector<int64_t> kernels = KernelsPerLane(trace);
  const LanesOnDevice on_device(trace, device);
  LaneId best = LaneId::kNone;
  for (uint32_t lane = 0; lane < kernels.size(); ++lane) {
    if (on_device(LaneId{lane}) &&
        (best == LaneId::kNone || kernels[lane] > kernels[Index(best)])) {
      best = LaneId{lane};
    }
  }
  return best;
}

// What the host mostly did while the device was idle, by API time within the longest stretches.
HostActivity ActivityDuring(const CauseContext& context, SpanSet stretches) {
  std::stable_sort(stretches.begin(), stretches.end(),
                   [](const Span& a, const Span& b) { return a.length_ns() > b.length_ns(); });
  stretches.resize(std::min(stretches.size(), kExplainedStretches));
  std::vector<ApiShare> shares;
  for (const Span& stretch : stretches) {
    IdleGap gap;
    gap.lane = MainLane(context.trace(), context.device);
    gap.start_ns = stretch.begin_ns;
    gap.end_ns = stretch.end_ns;
    const GapActivity activity = ActivityWithin(context.views, gap);
    // Calls that fill less than half of a stretch do not explain it.
    if (activity.calls_ns * 2 >= stretch.length_ns()) {
      shares.insert(shares.end(), activity.apis.begin(), activity.apis.end());
    }
  }
  return DominantActivity(shares);
}

std::string_view WordsFor(HostActivity activity) {
  switch (activity) {
    case HostActivity::kSynchronization:
      return "the host mostly waits in synchronization";
    case HostActivity::kMemoryTransfer:
      return "the host is mostly inside copy or memset calls";
    case HostActivity::kKernelLaunch:
      return "the host is mostly inside launch calls";
    case HostActivity::kOther:
      return "the host is mostly inside other CUDA calls";
    case HostActivity::kNoCalls:
      break;
  }
  return "the host is mostly outside CUDA calls";
}

std::string_view AdviceFor(HostActivity activity) {
  switch (activity) {
    case HostActivity::kSynchronization:
      return "Wait for less: replace device and stream synchronization by events, keep results on "
             "the GPU (.item(), .cpu() and printing a tensor all wait), or capture the step as a "
             "CUDA graph.";
    case HostActivity::kMemoryTransfer:
      return "See which calls they are (gpu_idle_gaps names them): copy asynchronously from pinned "
             "memory, and set memory once instead of in every step.";
    case HostActivity::kKernelLaunch:
      return "Launch less: fuse kernels (torch.compile, custom kernels) or replay a CUDA graph.";
    case HostActivity::kOther:
      return "Look at these CUDA calls (allocation, module loading, events) and move them out of "
             "the loop.";
    case HostActivity::kNoCalls:
      break;
  }
  return "Find out what the host computes meanwhile: give data loading more workers and "
         "prefetching, take Python work out of the loop, or sample the processor with "
         "nsys profile --sample=process-tree.";
}

struct WaitingThread {
  ThreadId thread = ThreadId::kNone;
  SpanSet waits;
  int64_t calls = 0;
};

// The threads of processes with kernels on the device, with their waits cut to the span.
std::vector<WaitingThread> WaitsByThread(const CauseContext& context) {
  const Trace& trace = context.trace();
  const LanesOnDevice on_device(trace, context.device);
  std::vector<uint8_t> feeds(trace.processes.size(), 0);
  const std::vector<int64_t> kernels = KernelsPerLane(trace);
  for (uint32_t lane = 0; lane < kernels.size(); ++lane) {
    const ProcessId process = trace.FindProcess(trace.lanes[lane].global_pid);
    if (kernels[lane] > 0 && on_device(LaneId{lane}) && process != ProcessId::kNone) {
      feeds[Index(process)] = 1;
    }
  }
  OncePerText waits([&](StringId name) { return SynchronizedBy(trace.Text(name)).has_value(); });
  std::map<ThreadId, WaitingThread> threads;
  for (size_t call = 0; call < trace.calls.size(); ++call) {
    const ProcessId process = trace.ProcessOf(trace.calls.thread[call]);
    if (process == ProcessId::kNone || feeds[Index(process)] == 0 ||
        !waits(trace.calls.name[call])) {
      continue;
    }
    const Span inside{std::max(trace.calls.start_ns[call], context.span.begin_ns),
                      std::min(trace.calls.end_ns[call], context.span.end_ns)};
    if (inside.end_ns > inside.begin_ns) {
      WaitingThread& thread = threads[trace.calls.thread[call]];
      thread.thread = trace.calls.thread[call];
      thread.waits.push_back(inside);
      ++thread.calls;
    }
  }
  std::vector<WaitingThread> found;
  for (auto& [id, thread] : threads) {
    thread.waits = Union(std::move(thread.waits));  // a driver call inside a runtime call: once
    found.push_back(std::move(thread));
  }
  return found;
}

}  // namespace

void CheckIdleStretches(const CauseContext& context) {
  SpanSet stretches;
  for (const Span& stretch : context.idle) {
    if (stretch.length_ns() > kLongIdleNs) {
      stretches.push_back(stretch);
    }
  }
  if (stretches.size() < kLeastStretches) {
    return;
  }
  const int64_t total = Length(stretches);
  const HostActivity activity = ActivityDuring(context, stretches);
  RootCause cause;
  cause.pattern = "GPU Bubbles (Pipeline Stalls)";
  cause.severity = context.IfMaterial(Severity::kWarning, total);
  cause.evidence = fmt::format(
      "{} of more than 1 ms in which {} runs nothing at all, {} together ({} of the span); during "
      "the longest, {}",
      Counted(static_cast<int64_t>(stretches.size()), "idle period"), context.DeviceWords(),
      FormatDuration(total), context.ShareOfSpan(total), WordsFor(activity));
  cause.magnitude_ns = total;
  cause.place = Longest(stretches);
  cause.recommendation = fmt::format(
      "{} What ran on the host then: nsys-ai skill run code_attribution_candidates PROFILE "
      "-p start_ns={} -p end_ns={}",
      AdviceFor(activity), cause.place->begin_ns, cause.place->end_ns);
  cause.where = context.DeviceWords();
  cause.claim = std::move(stretches);
  context.found.push_back(std::move(cause));
}

void CheckSmallKernels(const CauseContext& context) {
  if (!context.trace().schema.Has(TableId::kRuntime)) {
    return;
  }
  const LaunchOverhead overhead =
      FindSmallKernels(context.views, context.device, context.window, kLeastLaunches);
  int64_t kernels = 0;
  int64_t api_ns = 0;
  std::vector<uint8_t> small(context.trace().strings.size(), 0);
  for (const LaunchedKernel& one : overhead.small) {
    kernels += one.kernels;
    api_ns += one.api_ns;
    small[Index(one.name)] = 1;
  }
  if (kernels == 0) {
    return;
  }
  // Short idle stretches that a small kernel ends: the GPU waited for its launch.
  const KernelTable& table = context.trace().kernels;
  const LanesOnDevice on_device(context.trace(), context.device);
  SpanSet waits;
  size_t row = 0;
  for (const Span& stretch : context.idle) {
    while (row < table.size() && table.start_ns[row] < stretch.end_ns) {
      ++row;
    }
    bool ended_by_small = false;
    for (size_t at = row; at < table.size() && table.start_ns[at] == stretch.end_ns; ++at) {
      ended_by_small = ended_by_small ||
                       (on_device(table.lane[at]) && small[Index(table.name_to_classify(at))] != 0);
    }
    if (ended_by_small && stretch.length_ns() <= kLongIdleNs) {
      waits.push_back(stretch);
    }
  }
  RootCause cause;
  cause.pattern = "Small Kernel Overhead";
  cause.severity = context.IfMaterial(Severity::kWarning, Length(waits));
  cause.evidence = fmt::format(
      "{} launches of {} that run less than 10 us on average; their launch calls take {} on the "
      "host, and the GPU stands idle for {} right before them",
      FormatCount(kernels), Counted(static_cast<int64_t>(overhead.small.size()), "kernel"),
      FormatDuration(api_ns), FormatDuration(Length(waits)));
  cause.recommendation =
      "Fuse repeated small operations (torch.compile, a Triton or CUDA kernel) or replay them as a "
      "CUDA graph; nsys-ai skill run kernel_launch_overhead names them.";
  cause.magnitude_ns = api_ns;
  cause.place = Span{overhead.small.front().first_ns, overhead.small.front().last_ns};
  cause.where = fmt::format("{}, kernel {}", context.DeviceWords(),
                            context.trace().Text(overhead.small.front().name));
  cause.claim = std::move(waits);
  context.found.push_back(std::move(cause));
}

void CheckHostSynchronization(const CauseContext& context) {
  const std::vector<WaitingThread> threads = WaitsByThread(context);
  SpanSet all;
  int64_t calls = 0;
  const WaitingThread* most = nullptr;
  for (const WaitingThread& thread : threads) {
    all.insert(all.end(), thread.waits.begin(), thread.waits.end());
    calls += thread.calls;
    if (most == nullptr || Length(thread.waits) > Length(most->waits)) {
      most = &thread;
    }
  }
  all = Union(std::move(all));
  const int64_t kernel_ns = Length(context.kernels);
  if (most == nullptr || Length(all) < kLeastSyncNs || Length(all) * kLeastSyncShare < kernel_ns) {
    return;
  }
  const Thread& thread = context.trace().threads[Index(most->thread)];
  SpanSet idle = Intersect(context.idle, all);
  RootCause cause;
  cause.pattern = "Excessive Synchronization";
  cause.severity = context.IfMaterial(Severity::kWarning, Length(idle));
  cause.evidence = fmt::format(
      "{} keep the host waiting for {} ({} of the span), most of it in thread {} of process {} "
      "({}); the GPU itself stands idle for {} of that time",
      Counted(calls, "synchronization call"), FormatDuration(Length(all)),
      context.ShareOfSpan(Length(all)), thread.tid(), thread.pid(),
      FormatDuration(Length(most->waits)), FormatDuration(Length(idle)));
  cause.recommendation =
      "Keep values on the GPU: .item(), .cpu(), printing and Python branches on tensors wait for "
      "it. torch.cuda.set_sync_debug_mode(1) finds them; between streams use events.";
  cause.magnitude_ns = Length(all);
  cause.place = Longest(most->waits);
  cause.where = fmt::format("thread {}", thread.tid());
  cause.claim = std::move(idle);
  context.found.push_back(std::move(cause));
}

}  // namespace nsys
