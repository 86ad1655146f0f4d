// SPDX-License-Identifier: MIT
// Which events a question is about: those on a device, inside the window.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/intervals.h"
#include "trace/trace.h"

namespace nsys {

// For each LaneId, whether the lane lies on `device`.
class LanesOnDevice {
 public:
  LanesOnDevice(const Trace& trace, int64_t device);
  bool operator()(LaneId lane) const { return on_[Index(lane)] != 0; }

 private:
  std::vector<uint8_t> on_;
};

// Number of kernels of each LaneId.
std::vector<int64_t> KernelsPerLane(const Trace& trace);

// The devices on which kernels ran, ascending, whatever the window.
std::vector<int64_t> DevicesWithKernels(const Trace& trace);

// [first start, last end] of all kernels, or nothing when there are none.
std::optional<Span> KernelSpan(const Trace& trace);

}  // namespace nsys
