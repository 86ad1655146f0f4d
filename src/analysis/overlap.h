// SPDX-License-Identifier: MIT
// How a device's time divides between compute kernels, communication kernels, both at once, and
// neither. One definition, used by every skill that quotes overlap or idle time.
#pragma once

#include <cstdint>
#include <optional>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/intervals.h"
#include "trace/trace.h"

namespace nsys {

// Over the kernels of one device that lie inside the window, from the first start to the last end:
// compute_only + communication_only + overlap + idle = total, exactly. Copies are no kernels: a
// device that only copies is idle here. Graphs that were traced as a whole are no kernels either;
// graph_only tells how much of the idle time they ran.
struct Overlap {
  int64_t first_ns = 0;
  int64_t last_ns = 0;
  int64_t compute_kernels = 0;
  int64_t communication_kernels = 0;
  SpanSet compute;
  SpanSet communication;
  int64_t compute_only_ns = 0;
  int64_t communication_only_ns = 0;
  int64_t overlap_ns = 0;
  int64_t idle_ns = 0;
  int64_t graph_only_ns = 0;
  int64_t total_ns() const { return last_ns - first_ns; }
};

// How kernels are cut to the window: those wholly inside it, or the parts inside it.
enum class KernelCut { kContained, kClipped };

// Nothing when no kernel of `device` is left. Needs kTime, kLane, kName of kernels and, where the
// capture has them, kTime and kLane of graphs.
std::optional<Overlap> ComputeOverlap(const Trace& trace, int64_t device,
                                      const std::optional<Window>& window,
                                      KernelCut cut = KernelCut::kContained);

// The same, computed once per run.
const std::optional<Overlap>& OverlapOf(Views& views, int64_t device,
                                        const std::optional<Window>& window,
                                        KernelCut cut = KernelCut::kContained);

}  // namespace nsys
