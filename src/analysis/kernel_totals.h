// SPDX-License-Identifier: MIT
// Execution time by kernel name: one sweep, shared by every skill that ranks or weighs kernels.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/trace.h"

namespace nsys {

// The kernels of one display name (KernelTable::name), exact.
struct KernelTotal {
  StringId name = StringId::kNone;
  int64_t count = 0;
  int64_t total_ns = 0;  // sum of the durations
  int64_t min_ns = 0;    // shortest and longest duration
  int64_t max_ns = 0;
  int64_t first_ns = 0;  // first start
  int64_t last_ns = 0;   // last end
};

// Of the kernels wholly inside the window, on `device`, or on all devices together when it is
// absent. Order: total descending, then name. Needs kTime and kName of kernels, kLane for a device.
const std::vector<KernelTotal>& KernelTotals(Views& views, std::optional<int64_t> device,
                                             const std::optional<Window>& window);

}  // namespace nsys
