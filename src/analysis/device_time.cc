// SPDX-License-Identifier: MIT
#include "analysis/device_time.h"

#include "analysis/device_busy.h"
#include "analysis/overlap.h"
#include "analysis/selection.h"

namespace nsys {
namespace {

std::optional<Span> SpanOf(const Trace& trace, int64_t device,
                           const std::optional<Window>& window) {
  if (window) {
    return RecordedPart(trace, *window);
  }
  const LanesOnDevice on_device(trace, device);
  Hull hull;
  for (const GpuEvents* events :
       std::initializer_list<const GpuEvents*>{&trace.kernels, &trace.graphs}) {
    for (size_t row = 0; row < events->size(); ++row) {
      if (on_device(events->lane[row])) {
        hull.Add(events->span(row));
      }
    }
  }
  return hull.span();
}

}  // namespace

std::optional<DeviceTime> DeviceTimeOf(Views& views, int64_t device,
                                       const std::optional<Window>& window) {
  const std::optional<Span> span = SpanOf(views.trace(), device, window);
  if (!span) {
    return std::nullopt;
  }
  const Window cut{span->begin_ns, span->end_ns};
  const BusyDevices& devices = BusyDevicesOf(views, cut);
  const auto busy = devices.find(device);
  if (busy == devices.end() || busy->second.kernel_ns == 0) {
    return std::nullopt;
  }
  DeviceTime time{.span = *span};
  time.graph_ns = busy->second.kernel_ns;
  if (const auto& overlap = OverlapOf(views, device, cut, KernelCut::kClipped)) {
    time.compute_ns = overlap->compute_only_ns + overlap->overlap_ns;
    time.communication_ns = overlap->communication_only_ns;
    time.graph_ns -= time.compute_ns + time.communication_ns;
  }
  time.copy_ns = busy->second.copy_only_ns();
  time.idle_ns = span->length_ns() - busy->second.active_ns();
  return time;
}

}  // namespace nsys
