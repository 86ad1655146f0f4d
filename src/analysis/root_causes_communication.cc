// SPDX-License-Identifier: MIT
// Checks for communication that compute does not hide.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/host_sync.h"
#include "analysis/nccl_communicators.h"
#include "analysis/root_cause_checks.h"
#include "analysis/selection.h"
#include "analysis/shared_streams.h"
#include "base/number.h"
#include "base/text.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

constexpr double kWellHiddenPct = 30.0;
constexpr double kSlowLinksPct = 20.0;  // of the peak of the links
constexpr int64_t kLeastCommunicatorNs = 1'000;
constexpr int64_t kSyncAfterNs = 1'000'000;  // a wait that begins this soon after a collective

bool IsStreamOrDeviceWait(std::string_view api) {
  const auto awaited = SynchronizedBy(api);
  return awaited == kStreamSynchronize || awaited == kContextSynchronize;
}

// Starts of waiting calls, ascending, by process.
std::map<ProcessId, std::vector<int64_t>> WaitStarts(const Trace& trace) {
  OncePerText waits([&](StringId name) { return IsStreamOrDeviceWait(trace.Text(name)); });
  std::map<ProcessId, std::vector<int64_t>> starts;
  for (size_t call = 0; call < trace.calls.size(); ++call) {
    if (waits(trace.calls.name[call])) {
      starts[trace.ProcessOf(trace.calls.thread[call])].push_back(trace.calls.start_ns[call]);
    }
  }
  return starts;
}

// Collectives of the device after whose end their own process begins to wait within a millisecond.
int64_t CollectivesWaitedFor(const CauseContext& context) {
  const Trace& trace = context.trace();
  const auto starts = WaitStarts(trace);
  const LanesOnDevice on_device(trace, context.device);
  int64_t waited = 0;
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    if (!on_device(trace.kernels.lane[row]) ||
        !Contains(context.window, trace.kernels.start_ns[row], trace.kernels.end_ns[row]) ||
        !context.views.communication().IsCommunication(trace.kernels.name_to_classify(row))) {
      continue;
    }
    const auto of_process =
        starts.find(trace.FindProcess(trace.LaneOf(trace.kernels, row).global_pid));
    if (of_process == starts.end()) {
      continue;
    }
    const int64_t end = trace.kernels.end_ns[row];
    const auto next = std::lower_bound(of_process->second.begin(), of_process->second.end(), end);
    waited += next != of_process->second.end() && *next <= end + kSyncAfterNs ? 1 : 0;
  }
  return waited;
}

// Why it is exposed, and what to do about it.
struct Diagnosis {
  std::string reason;
  std::string_view advice;
};

Diagnosis Diagnose(const CauseContext& context) {
  const SharedStreams shared =
      FindSharedStreams(context.views, context.device, context.window, context.overlap);
  if (shared.matter()) {
    return {fmt::format("compute and communication take turns on stream {}", shared.StreamList()),
            "Run collectives on a stream of their own: on one stream they cannot overlap. In "
            "PyTorch, use asynchronous collectives (async_op=True, or DDP and FSDP with "
            "prefetching)."};
  }
  if (const int64_t waited = CollectivesWaitedFor(context); waited > 0) {
    return {fmt::format("the host begins to wait within 1 ms of the end of {}",
                        Counted(waited, "collective")),
            "Do not synchronize after a collective; wait for its event on the stream that needs "
            "the result."};
  }
  return {"no compute is in flight while it runs",
          "Start collectives earlier: smaller buckets, prefetching of shards, reduction of "
          "gradients during the backward pass; or move fewer bytes."};
}

}  // namespace

void CheckExposedCommunication(const CauseContext& context) {
  const int64_t all = Length(context.overlap.communication);
  const int64_t exposed = Length(context.exposed_communication);
  const double hidden = Percent(all - exposed, all, 1).value_or(0);
  if (exposed <= 0 || hidden >= kWellHiddenPct) {
    return;
  }
  const Diagnosis diagnosis = Diagnose(context);
  RootCause cause;
  cause.pattern = "NCCL Serialization";
  cause.severity = context.IfMaterial(Severity::kCritical, exposed);
  cause.evidence = fmt::format(
      "{} of {} communication time run with no compute beside it ({} of the span); {:.1f} % is "
      "hidden: {}",
      FormatDuration(exposed), FormatDuration(all), context.ShareOfSpan(exposed), hidden,
      diagnosis.reason);
  cause.recommendation = diagnosis.advice;
  cause.magnitude_ns = exposed;
  cause.claim = context.exposed_communication;
  cause.place = Longest(cause.claim);
  cause.where = context.DeviceWords();
  context.found.push_back(std::move(cause));
}

void CheckCommunicators(const CauseContext& context) {
  if (context.trace().payloads.empty()) {
    return;
  }
  const CommunicatorWorld& world = CommunicatorWorldOf(context.views);
  const CommunicatorGroups& found = CommunicatorsOf(context.views, context.device, context.window);
  const CommunicatorGroup* worst = nullptr;
  double worst_pct = kSlowLinksPct;
  for (const CommunicatorGroup& group : found.groups) {
    const double pct = PeakSharePct(group, world.peak).value_or(kSlowLinksPct);
    if (pct < worst_pct && group.total_ns >= kLeastCommunicatorNs) {
      worst = &group;
      worst_pct = pct;
    }
  }
  if (worst == nullptr) {
    return;
  }
  const std::string dimension = world.Dimension(*worst);
  RootCause cause;
  cause.pattern = "Inefficient NCCL Communicator";
  cause.severity = context.IfMaterial(Severity::kWarning, worst->total_ns);
  cause.evidence = fmt::format(
      "{} of communicator 0x{:016x} moves {:.2f} GB/s, {:.1f} % of the {} NVLink peak, waiting for "
      "other ranks included ({})",
      worst->operation, worst->communicator, BandwidthGbps(*worst).value_or(0), worst_pct,
      world.peak->product, dimension);
  cause.recommendation =
      dimension.starts_with("subgroup")
          ? "See that the ranks of this group share fast links (placement of tensor and pipeline "
            "parallelism), and that they arrive together."
          : "Send fewer, larger messages (bucket size, fusion), and see whether ranks wait for a "
            "late one.";
  cause.magnitude_ns = worst->total_ns;
  cause.where =
      fmt::format("{}, communicator 0x{:016x}", context.DeviceWords(), worst->communicator);
  context.found.push_back(std::move(cause));
}

void CheckCommunicationBound(const CauseContext& context) {
  const Overlap& overlap = context.overlap;
  const int64_t compute = Length(overlap.compute);
  const int64_t communication = Length(overlap.communication);
  if (compute <= 0 || communication <= 0 || compute * 2 >= communication) {
    return;
  }
  RootCause cause;
  cause.pattern = "Compute-Communication Imbalance";
  cause.severity = context.IfMaterial(Severity::kCritical, Length(context.exposed_communication));
  cause.evidence =
      fmt::format("{} of compute beside {} of communication: {:.2f} to 1", FormatDuration(compute),
                  FormatDuration(communication), Ratio(compute, communication));
  cause.recommendation =
      "Communicate less per unit of work: a lower degree of tensor parallelism, larger batches, "
      "evenly loaded stages; a rank that waits for others shows up as communication too.";
  cause.magnitude_ns = communication;
  cause.claim = context.exposed_communication;
  cause.place = Longest(overlap.communication);
  cause.where = context.DeviceWords();
  context.found.push_back(std::move(cause));
}

}  // namespace nsys
