// SPDX-License-Identifier: MIT
// Under which devices the rows of each process are shown. What runs on the GPU names its devices;
// the rows of the processor are shown under all devices of their process, or under all devices of
// the trace when the process has none.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "perfetto/links.h"
#include "perfetto/processes.h"
#include "trace/trace.h"

namespace nsys::perfetto {

inline constexpr int64_t kUnknownDevice = -1;

// The device of a lane; kUnknownDevice when the capture does not tell or the number makes no sense.
int64_t DeviceOfLane(const Lane& lane);

struct Devices {
  // By process, ascending: what its processor rows are shown under. Never empty.
  std::vector<std::vector<int64_t>> of_process;
  // By process, ascending: these and what single kernels and copies are shown under.
  std::vector<std::vector<int64_t>> shown;
  std::vector<std::vector<int64_t>> copy_sets;  // distinct, each ascending
  std::vector<uint32_t> set_of_copy;            // by row of trace.copies: of copy_sets

  // The device whose stream shows the copy: its own if that is in its set, else the lowest.
  int64_t Primary(const Trace& trace, uint32_t copy) const;
};

Devices FindDevices(const Trace& trace, const Processes& processes, const LaunchLinks& links);

}  // namespace nsys::perfetto
