// SPDX-License-Identifier: MIT
// Iterations of a training or serving loop, found on one device: by NVTX ranges whose text holds a
// marker, or, where no range does, by pauses between kernels. One definition and one numbering for
// every skill and for --iteration.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace nsys {

inline constexpr std::string_view kDefaultMarker = "sample_0";

// A longer pause of the device bounds an iteration where no marker range does.
inline constexpr int64_t kIterationPauseNs = 2'000'000;

struct Iteration {
  std::string text;          // of the marker range, or heuristic_step_<n>
  bool heuristic = false;    // bounded by pauses, not by marker ranges
  int64_t gpu_start_ns = 0;  // first start and last end of its kernels
  int64_t gpu_end_ns = 0;
  int64_t kernel_ns = 0;  // sum of kernel durations, communication included
  int64_t kernels = 0;
  int64_t communication_kernels = 0;
  bool real = true;  // at least a tenth of the kernel time of the busiest iteration
  // Where its kernels were launched: within [host_begin_ns, host_end_ns], by threads of `process`.
  int64_t host_begin_ns = 0;
  int64_t host_end_ns = 0;
  ProcessId process = ProcessId::kNone;
};

struct IterationQuery {
  int64_t device = 0;
  std::string marker;            // literal, letters compared without case; not empty
  std::optional<Window> window;  // marker ranges that do not intersect it are left out
};

// What DetectIterations reads, for any marker and for one. NVTX is optional for it.
Reads IterationReads(RowKind ranges = RowKind::kEvery);
Reads IterationReadsOf(std::string_view marker);

// The iterations in the order of time; the position in the list is the number of the iteration.
//
// The primary thread is the one that launched most kernels on the device (ties: the smaller
// globalTid). Windows are its outermost marker ranges of any event type that have a length, or,
// when there is none, the stretches between pauses of more than 2 ms on the device. An iteration's
// kernels are those on the device that any thread of the primary thread's process launched within
// the window: autograd and data threads launch work too. Windows without kernels give no iteration.
//
// Found once per query and kept in `views`.
const std::vector<Iteration>& DetectIterations(Views& views, const IterationQuery& query);

// The kernels of an iteration of `device`, as ascending rows of trace.kernels: those that its
// counts and times are of.
std::vector<uint32_t> KernelsOf(Views& views, int64_t device, const Iteration& iteration);

}  // namespace nsys
