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

std::vector<int64_t> KernelsPerLane(const Trace& trace) {
  std::vector<int64_t> counts(trace.lanes.size(), 0);
  for (const LaneId lane : trace.kernels.lane) {
    ++counts[Index(lane)];
  }
  return counts;
}

std::vector<int64_t> DevicesWithKernels(const Trace& trace) {
  const std::vector<int64_t> counts = KernelsPerLane(trace);
  std::set<int64_t> devices;
  for (size_t lane = 0; lane < counts.size(); ++lane) {
    if (counts[lane] > 0 && trace.lanes[lane].device) {
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

}  // namespace nsys
