// SPDX-License-Identifier: MIT
// Kernels so small that launching them may cost more than running them: what the launch calls of
// each name took on the host, and how long its kernels waited for the GPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/trace.h"

namespace nsys {

// A kernel is small when the mean of its name is below this.
inline constexpr int64_t kSmallKernelNs = 10'000;

// Kernels of one name (KernelTable::name_to_classify) on one device. Sums are exact.
struct LaunchedKernel {
  StringId name = StringId::kNone;
  int64_t kernels = 0;  // with a known launch call
  int64_t calls = 0;    // launch calls of them; one that launched several kernels counts once
  int64_t api_ns = 0;   // time of those calls
  int64_t max_api_ns = 0;
  int64_t queued = 0;     // kernels that started after their call had returned
  int64_t queue_ns = 0;   // of those: start of the kernel − end of the call. Kernels that wait
                          // together count in full each, so this is no wall time
  int64_t kernel_ns = 0;  // run time
  int64_t first_ns = 0;   // first start
  int64_t last_ns = 0;    // last end
};

// Launches of whole CUDA graphs. One call starts many kernels, so its time belongs to none of them.
struct GraphLaunches {
  int64_t calls = 0;   // that started work on the device
  int64_t api_ns = 0;  // time of those calls
  int64_t kernels = 0;
  int64_t whole_graphs = 0;  // graphs that were traced as a whole, so that no kernels are known
};

struct LaunchOverhead {
  // Names with at least `min_launches` kernels and a mean below kSmallKernelNs. Order: api_ns
  // descending, kernels descending, name.
  std::vector<LaunchedKernel> small;
  GraphLaunches graphs;
  int64_t launched = 0;  // kernels of all names whose launch call is known
  int64_t unknown = 0;   // kernels of no known launch call
};

// Over the kernels of `device` wholly inside the window. Launch calls are those whose names begin
// with cudaLaunch or cuLaunch; a call of another kind with the same correlation id hides none.
// Needs kTime, kLane, kCorrelation, kName of kernels; kTime, kThread, kCorrelation, kName of calls;
// and, where the capture has them, kTime, kLane, kCorrelation of graphs.
LaunchOverhead FindSmallKernels(Views& views, int64_t device, const std::optional<Window>& window,
                                int64_t min_launches);

}  // namespace nsys
