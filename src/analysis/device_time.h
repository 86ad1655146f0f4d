// SPDX-License-Identifier: MIT
// What one GPU does over a stretch of time, as parts that add up to it.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/intervals.h"

namespace nsys {

// Events over an edge of the span count with their inner part, so that
// compute + communication + graph + copy + idle = span, exactly.
struct DeviceTime {
  Span span;
  int64_t compute_ns = 0;        // any compute kernel runs
  int64_t communication_ns = 0;  // communication kernels run, no compute kernel
  int64_t graph_ns = 0;          // whole-traced CUDA graphs run, no kernel
  int64_t copy_ns = 0;           // copies or memsets run, no kernel or graph
  int64_t idle_ns = 0;           // nothing runs: the GPU waits for the CPU or for another GPU
};

// Over the part of the window that was recorded, or without a window from the first start to the
// last end of the device's kernels and graphs. Nothing when none of these runs there. Reads what
// AddDeviceBusyReads says, and kName of kernels.
std::optional<DeviceTime> DeviceTimeOf(Views& views, int64_t device,
                                       const std::optional<Window>& window);

}  // namespace nsys
