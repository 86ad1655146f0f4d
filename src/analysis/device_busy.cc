// SPDX-License-Identifier: MIT
#include "analysis/device_busy.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace nsys {
namespace {

void AddAll(const Events& events, Hull& hull) {
  for (size_t row = 0; row < events.size(); ++row) {
    hull.Add(events.span(row));
  }
}

struct DeviceWork {
  std::vector<Span> kernels;  // and whole-traced graphs
  std::vector<Span> copies;   // and memsets
};
using WorkOfDevices = std::map<std::optional<int64_t>, DeviceWork>;

// Adds the parts of `events` inside the window to the `kind` of work of their device.
void Collect(const Trace& trace, const GpuEvents& events, const Window& window,
             std::vector<Span> DeviceWork::* kind, WorkOfDevices& out) {
  std::vector<std::vector<Span>*> by_lane(trace.lanes.size(), nullptr);
  for (size_t row = 0; row < events.size(); ++row) {
    const Span span = Clip(window, events.start_ns[row], events.end_ns[row]);
    if (span.end_ns <= span.begin_ns) {
      continue;
    }
    std::vector<Span>*& spans = by_lane[Index(events.lane[row])];
    if (spans == nullptr) {
      spans = &(out[trace.DeviceOf(events, row)].*kind);
    }
    spans->push_back(span);
  }
}

BusyDevices Compute(const Trace& trace, const Window& window) {
  WorkOfDevices work;
  Collect(trace, trace.kernels, window, &DeviceWork::kernels, work);
  Collect(trace, trace.graphs, window, &DeviceWork::kernels, work);
  Collect(trace, trace.copies, window, &DeviceWork::copies, work);
  Collect(trace, trace.memsets, window, &DeviceWork::copies, work);
  BusyDevices devices;
  for (auto& [device, one] : work) {
    SpanSet active = Union(std::move(one.kernels));
    const int64_t kernel_ns = Length(active);
    active.insert(active.end(), one.copies.begin(), one.copies.end());
    devices.emplace(device, DeviceBusy{.active = Union(std::move(active)), .kernel_ns = kernel_ns});
  }
  return devices;
}

}  // namespace

void AddDeviceBusyReads(Reads& reads) {
  for (const TableId table :
       {TableId::kKernel, TableId::kMemcpy, TableId::kMemset, TableId::kGraphTrace}) {
    reads.Add(table, {Column::kTime, Column::kLane});
  }
}

const BusyDevices& BusyDevicesOf(Views& views, const Window& window) {
  return views.Once<BusyDevices>({.device = {}, .window = window, .text = {}},
                                 [&] { return Compute(views.trace(), window); });
}

std::optional<Window> ActivityWindow(const Trace& trace, const std::optional<Window>& window) {
  if (window) {
    return window;
  }
  Hull hull;
  AddAll(trace.kernels, hull);
  AddAll(trace.graphs, hull);
  if (!hull.span()) {
    AddAll(trace.copies, hull);
    AddAll(trace.memsets, hull);
  }
  const std::optional<Span>& span = hull.span();
  return span ? std::optional(Window{span->begin_ns, span->end_ns}) : std::nullopt;
}

std::optional<Span> RecordedPart(const Trace& trace, const Window& window) {
  Hull hull;
  for (const Events* events :
       {static_cast<const Events*>(&trace.kernels), static_cast<const Events*>(&trace.graphs),
        static_cast<const Events*>(&trace.copies), static_cast<const Events*>(&trace.memsets),
        static_cast<const Events*>(&trace.syncs), static_cast<const Events*>(&trace.calls)}) {
    AddAll(*events, hull);
  }
  if (!hull.span()) {
    return std::nullopt;
  }
  const Span part = Clip(window, hull.span()->begin_ns, hull.span()->end_ns);
  return part.end_ns > part.begin_ns ? std::optional(part) : std::nullopt;
}

std::optional<int64_t> BusiestDevice(const Trace& trace, const std::optional<Window>& window) {
  const KernelTable& kernels = trace.kernels;
  std::vector<int64_t> by_lane(trace.lanes.size(), 0);
  for (size_t row = 0; row < kernels.size(); ++row) {
    const Span inside = Clip(window, kernels.start_ns[row], kernels.end_ns[row]);
    by_lane[Index(kernels.lane[row])] += std::max<int64_t>(inside.length_ns(), 0);
  }
  std::map<int64_t, int64_t> by_device;
  for (const LaneId lane : kernels.lane) {
    if (const auto device = trace.lanes[Index(lane)].device) {
      by_device[*device] += std::exchange(by_lane[Index(lane)], 0);
    }
  }
  const auto busiest =
      std::max_element(by_device.begin(), by_device.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (busiest == by_device.end()) {
    return std::nullopt;
  }
  if (busiest->second == 0 && window) {
    return BusiestDevice(trace, std::nullopt);
  }
  return busiest->first;
}

}  // namespace nsys
