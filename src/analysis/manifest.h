// SPDX-License-Identifier: MIT
// The state of a capture on one page: what the skills find out one by one, for one device and one
// window, from values that they share. Every figure here is the one that the skill of its kind
// gives.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/fingerprint.h"
#include "analysis/kernel_totals.h"
#include "analysis/overlap.h"
#include "analysis/root_causes.h"
#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/tables.h"

namespace nsys {

// Communication kernels of the device inside the window.
struct CommunicationSummary {
  int64_t streams = 0;
  int64_t kernels = 0;
  int64_t total_ns = 0;            // sum of durations
  std::string_view dominant_type;  // the operation with most time; of equals the first by name
  int64_t dominant_ns = 0;
};

// Time without work on the device, from the first to the last work inside the window.
struct IdleSummary {
  size_t stream_gaps = 0;      // of more than 1 ms between kernels of one stream
  int64_t stream_gaps_ns = 0;  // their sum over all streams
  int64_t stream_time_ns = 0;  // span of the streams' kernels times the number of streams
  int64_t idle_ns = 0;         // nothing at all runs: no kernel, copy, memset or graph
  int64_t span_ns = 0;         // first start to last end of all that
};

// NVTX ranges of one normal label, of any type and thread.
struct RangeTotal {
  StringId label = StringId::kNone;  // of Views::labels()
  int64_t count = 0;
  int64_t total_ns = 0;  // sum of durations on the host; ranges within ranges count in both
};

struct IterationSummary {
  int64_t iterations = 0;  // real ones that a marker bounds
  int64_t median_ns = 0;   // without the first when there are several: it warms up; upper of two
  int64_t slowest_ns = 0;
};

struct Manifest {
  int64_t device = 0;
  Fingerprint fingerprint;
  std::optional<Span> span;          // of all kernels, cut to the window; nothing without overlap
  std::vector<KernelTotal> kernels;  // of the device, most time first
  int64_t kernel_ns = 0;             // their sum
  int64_t slow_matrix_ns = 0;  // of kernels that could use Tensor Cores and by their name do not
  const std::optional<Overlap>* overlap = nullptr;
  CommunicationSummary communication;
  std::optional<IdleSummary> idle;
  const std::optional<RootCauses>* causes = nullptr;
  bool has_nvtx = false;
  std::vector<RangeTotal> ranges;  // most time first, then by label
  std::optional<IterationSummary> iterations;
  int64_t overhead_ns = 0;  // union of the profiler's own intervals within `span`
};

// What ComputeManifest reads.
Reads ManifestReads();

// The kernels inside the window decide, as in each of the skills; where the capture lacks a table,
// its part of the manifest is empty. The pointers in it live as long as `views`.
Manifest ComputeManifest(Views& views, int64_t device, const std::optional<Window>& window);

// In words, what costs most: the largest cause if it could give back at least 5 % of its span, with
// its device where that is another one than the manifest's (see FindRootCauses); else a kernel with
// more than 60 % of the kernel time; else iterations of which the slowest takes more than one and a
// half times the median. Empty when none of it holds.
std::string SuspectedBottleneck(const Trace& trace, const Manifest& manifest);

}  // namespace nsys
