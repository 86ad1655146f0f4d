// SPDX-License-Identifier: MIT
// Ranges that may be behind a stretch of time [begin_ns, end_ns), best first.
//
// Candidates are the push-pop ranges that overlap it. A range's kernels are those that overlap the
// stretch, on the devices asked for, and whose launch call lies within the range on its thread:
// analysis/attribution.h. ratio = overlap / length of the stretch;
//   confidence = min(0.95, 0.55 · ratio + 0.15 if it contains the stretch + 0.20 if it has kernels
//                          + 0.025 · min(depth, 4)), to two decimals.
// Order: threads that launched kernels of the stretch first, then confidence, overlap_pct, kernels
// and depth, all descending, then path, start and thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/regions.h"
#include "analysis/views.h"

namespace nsys {

struct RangeSelection {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;  // larger
  std::optional<int64_t> device = {};
  double least_overlap_pct = 0;  // compared with overlap_pct as printed
  int64_t length_ns() const { return end_ns - begin_ns; }
};

struct RangeCandidate {
  uint32_t range = 0;  // row of trace.nvtx
  uint32_t depth = 0;  // push-pop ranges of its thread around it
  bool launching_thread = false;
  bool contains = false;  // the whole stretch
  int64_t overlap_ns = 0;
  double overlap_pct = 0;  // 100 · ratio, to one decimal
  double confidence = 0;
  int64_t kernels = 0;
  int64_t communication_kernels = 0;
  int64_t kernel_ns = 0;
  std::string path = {};                    // of texts as they are, joined with " > "
  std::vector<KernelSum> top_kernels = {};  // most time first, then by name
};

struct RangeCandidates {
  std::vector<RangeCandidate> first;
  size_t overlapping = 0;  // ranges that overlap the stretch, and those of them that overlap enough
  size_t wanted = 0;
  size_t launches = 0;            // kernels of the stretch with a known launch, and those of them
  size_t launched_elsewhere = 0;  // launched in no range that overlaps it
};

RangeCandidates FindRangeCandidates(Views& views, const RangeSelection& selection, size_t limit,
                                    size_t top_kernels);

}  // namespace nsys
