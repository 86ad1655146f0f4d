// SPDX-License-Identifier: MIT
#include "analysis/selection.h"

#include <algorithm>
#include <set>

namespace nsys {

LanesOnDevice::LanesOnDevice(const Trace& trace, int64_t device) {
  on_.reserve(trace.lanes.size());
  for (const Lane& lane : trace.lanes) {
    on_.push_back(lane.device == device ? 1 : 0);
  }
}

std::vector<int64_t> DevicesWithKernels(const Trace& trace) {
  std::vector<uint8_t> used(trace.lanes.size(), 0);
  for (const LaneId lane : trace.kernels.lane) {
    used[Index(lane)] = 1;
  }
  std::set<int64_t> devices;
  for (size_t lane = 0; lane < used.size(); ++lane) {
    if (used[lane] != 0 && trace.lanes[lane].device) {
      devices.insert(*trace.lanes[lane].device);
    }
  }
  return {devices.begin(), devices.end()};
}

std::optional<Span> KernelSpan(const Trace& trace) {
  const KernelTable& kernels = trace.kernels;
  if (kernels.size() == 0) {
    return std::nullopt;
  }
  return Span{kernels.start_ns.front(),
              *std::max_element(kernels.end_ns.begin(), kernels.end_ns.end())};
}

Value NumberValue(const std::optional<int64_t>& number) {
  return number ? Value(*number) : Value();
}
Value DeviceValue(const Lane& lane) { return NumberValue(lane.device); }
Value StreamValue(const Lane& lane) { return NumberValue(lane.stream); }
Value ContextValue(const Lane& lane) { return NumberValue(lane.context); }

Value PidValue(const Lane& lane) {
  return lane.global_pid ? Value(Process{*lane.global_pid}.pid()) : Value();
}

Value TextValue(const Trace& trace, StringId id) {
  return id == StringId::kNone ? Value() : Value(trace.strings.Get(id));
}

}  // namespace nsys
