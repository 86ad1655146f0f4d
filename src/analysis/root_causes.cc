// SPDX-License-Identifier: MIT
#include "analysis/root_causes.h"

#include <algorithm>

#include <fmt/core.h>

#include "analysis/attribution.h"
#include "analysis/device_busy.h"
#include "analysis/host_sync.h"
#include "analysis/nccl_events.h"
#include "analysis/root_cause_checks.h"
#include "analysis/selection.h"
#include "base/number.h"

namespace nsys {
namespace {

// Below this share of the span a pattern is worth knowing, but no warning.
constexpr int64_t kMaterialShare = 100;

// The device asked for, or the one with most kernels inside the window when it has none there.
std::optional<int64_t> DeviceToAnalyse(const Trace& trace, int64_t wanted,
                                       const std::optional<Window>& window) {
  std::vector<int64_t> by_lane(trace.lanes.size(), 0);
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    if (Contains(window, trace.kernels.start_ns[row], trace.kernels.end_ns[row])) {
      ++by_lane[Index(trace.kernels.lane[row])];
    }
  }
  std::map<int64_t, int64_t> by_device;
  for (size_t lane = 0; lane < by_lane.size(); ++lane) {
    if (by_lane[lane] > 0 && trace.lanes[lane].device) {
      by_device[*trace.lanes[lane].device] += by_lane[lane];
    }
  }
  if (by_device.contains(wanted)) {
    return wanted;
  }
  // The first of equals is the smallest id.
  const auto busiest =
      std::max_element(by_device.begin(), by_device.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return busiest == by_device.end() ? std::nullopt : std::optional(busiest->first);
}

// Gives every stretch of time to one cause: the one that claims most takes all of its claim, and
// what it took is gone from the others; then the one that claims most of what is left, and so on.
void SettleClaims(std::vector<RootCause>& causes) {
  std::vector<RootCause*> open;
  for (RootCause& cause : causes) {
    open.push_back(&cause);
  }
  std::vector<int64_t> lost(causes.size(), 0);
  while (!open.empty()) {
    const auto most =
        std::max_element(open.begin(), open.end(), [](const RootCause* a, const RootCause* b) {
          return a->recoverable_ns() < b->recoverable_ns();
        });
    const RootCause* winner = *most;
    open.erase(most);
    for (RootCause* other : open) {
      SpanSet rest = Subtract(other->claim, winner->claim);
      const int64_t taken = Length(other->claim) - Length(rest);
      int64_t& largest = lost[static_cast<size_t>(other - causes.data())];
      if (taken > largest) {
        largest = taken;
        other->counted_in = winner->pattern;
      }
      other->claim = std::move(rest);
    }
  }
}

void Rank(std::vector<RootCause>& causes) {
  std::stable_sort(causes.begin(), causes.end(), [](const RootCause& a, const RootCause& b) {
    if (a.recoverable_ns() != b.recoverable_ns()) {
      return a.recoverable_ns() > b.recoverable_ns();
    }
    return a.severity < b.severity;
  });
}

// Sets what runs when within the span.
void PaintSpan(CauseContext& context) {
  const Window span{.begin_ns = context.span.begin_ns, .end_ns = context.span.end_ns};
  const Overlap* running = &context.overlap;
  if (context.window) {
    // With the parts of kernels that reach over the window's edges.
    const std::optional<Overlap>& all =
        OverlapOf(context.views, context.device, span, KernelCut::kClipped);
    running = all ? &*all : running;
  }
  context.compute = running->compute;
  SpanSet kernels = running->compute;
  kernels.insert(kernels.end(), running->communication.begin(), running->communication.end());
  context.kernels = Union(std::move(kernels));
  context.exposed_communication = Subtract(context.overlap.communication, context.compute);
  const BusyDevices& busy = BusyDevicesOf(context.views, span);
  const auto device = busy.find(context.device);  // absent when no kernel there has a length
  context.idle = Union({context.span});
  if (device != busy.end()) {
    context.idle = Subtract(context.idle, device->second.active);
  }
}

void CountTheRest(const CauseContext& context, RootCauses& result) {
  SpanSet claimed;
  for (const RootCause& cause : result.found) {
    claimed.insert(claimed.end(), cause.claim.begin(), cause.claim.end());
  }
  claimed = Union(std::move(claimed));
  result.unclaimed_idle_ns = Length(Subtract(context.idle, claimed));
  result.unclaimed_communication_ns = Length(Subtract(context.exposed_communication, claimed));
  const auto part = context.window ? RecordedPart(context.trace(), *context.window) : std::nullopt;
  if (part) {
    const BusyDevices& busy =
        BusyDevicesOf(context.views, {.begin_ns = part->begin_ns, .end_ns = part->end_ns});
    const auto device = busy.find(context.device);
    const SpanSet active = device == busy.end() ? SpanSet() : device->second.active;
    result.edge_idle_ns = Length(Subtract(Subtract({*part}, {context.span}), active));
  }
}

std::optional<RootCauses> Find(Views& views, int64_t wanted, const std::optional<Window>& window) {
  const Trace& trace = views.trace();
  const auto device = DeviceToAnalyse(trace, wanted, window);
  if (!device) {
    return std::nullopt;
  }
  const std::optional<Overlap>& overlap = OverlapOf(views, *device, window, KernelCut::kContained);
  if (!overlap) {
    return std::nullopt;
  }
  RootCauses result{.device = *device, .span = {overlap->first_ns, overlap->last_ns}, .found = {}};
  CauseContext context{.views = views,
                       .device = *device,
                       .window = window,
                       .overlap = *overlap,
                       .span = result.span,
                       .compute = {},
                       .kernels = {},
                       .exposed_communication = {},
                       .idle = {},
                       .found = result.found};
  PaintSpan(context);
  for (const auto check : {CheckIdleStretches, CheckExposedCommunication, CheckCommunicators,
                           CheckHostToDevice, CheckSmallKernels, CheckHotspot,
                           CheckCommunicationBound, CheckLayers, CheckHostSynchronization,
                           CheckSynchronousCopies, CheckPageableCopies, CheckSynchronousMemsets}) {
    check(context);
  }
  SettleClaims(result.found);
  Rank(result.found);
  CountTheRest(context, result);
  return result;
}

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kCritical:
      return "critical";
    case Severity::kWarning:
      return "warning";
    case Severity::kInfo:
      return "info";
  }
  return "";
}

std::string CauseContext::ShareOfSpan(int64_t ns) const {
  return fmt::format("{:.1f} %", Percent(ns, span.length_ns(), 1).value_or(0));
}

Severity CauseContext::IfMaterial(Severity severity, int64_t ns) const {
  return ns * kMaterialShare >= span.length_ns() ? severity : Severity::kInfo;
}

std::string CauseContext::DeviceWords() const { return fmt::format("device {}", device); }

Span Longest(const SpanSet& set) {
  return *std::max_element(set.begin(), set.end(), [](const Span& a, const Span& b) {
    return a.length_ns() < b.length_ns();
  });
}

Reads RootCauseReads() {
  Reads reads = {
      {TableId::kKernel, {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
      {TableId::kMemcpy,
       {Column::kTime, Column::kLane, Column::kCorrelation, Column::kBytes, Column::kKind,
        Column::kMemory}},
      {TableId::kMemset, {Column::kTime, Column::kLane, Column::kCorrelation}},
      {TableId::kGraphTrace, {Column::kTime, Column::kLane, Column::kCorrelation}},
      {TableId::kRuntime, {Column::kTime, Column::kThread, Column::kCorrelation, Column::kName}},
      {TableId::kMemoryKinds, {Column::kWhole}},
      {TableId::kGpu, {Column::kWhole}},
      {TableId::kPayloadSchemas, {Column::kWhole}},
      {TableId::kNvtx, {Column::kPayload}, RowKind::kNccl}};
  AddHostSyncReads(reads);
  reads.Add(AttributionReads());
  AddDeviceBusyReads(reads);
  AddNcclReads(reads);
  return reads;
}

const std::optional<RootCauses>& FindRootCauses(Views& views, int64_t device,
                                                const std::optional<Window>& window) {
  return views.Once<std::optional<RootCauses>>({.device = device, .window = window, .text = {}},
                                               [&] { return Find(views, device, window); });
}

}  // namespace nsys
