// SPDX-License-Identifier: MIT
// GPU time by annotated region of the code: the kernels of analysis/attribution.h, added up by the
// path of ranges around their launch. Exact nanoseconds of all devices; sums of kernel durations,
// so that kernels which ran at the same time count each.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/attribution.h"
#include "analysis/layers.h"
#include "analysis/views.h"
#include "analysis/window.h"

namespace nsys {

struct RegionQuery {
  std::optional<Window> window = {};      // kernels that lie inside
  LabelKind labels = LabelKind::kNormal;  // what makes two paths one
  bool find_layers = true;                // group at the depth where the layers stand
  std::optional<uint32_t> depth = {};     // only paths of just this depth, each on its own
};

struct Region {
  uint32_t node = 0;  // of the attribution's paths
  bool is_layer = false;
  bool grouped = false;  // holds deeper paths too; named by its whole path, not by its last label
  // Above Q3 + 1.5 · IQR (fewer than four regions, or no IQR: above twice the median) and above 1.5
  // times the median of the totals of its kind: layers among layers, other regions among those.
  bool outlier = false;
  int64_t kernels = 0;
  int64_t total_ns = 0;
  int64_t communication_ns = 0;
  int64_t longest_ns = 0;          // of one kernel
  int64_t tensor_eligible_ns = 0;  // kernels that could use Tensor Cores, and those that do
  int64_t tensor_active_ns = 0;
  int64_t compute_ns() const { return total_ns - communication_ns; }
};

inline constexpr uint32_t kNoRegion = 0xFFFFFFFF;

struct RegionBreakdown {
  const Attribution* attribution = nullptr;
  std::optional<LayerDetection> detection;  // when it was asked for and any kernel was attributed
  std::vector<Region> regions;              // largest total first, equal ones by path
  std::vector<uint32_t> region_of_node;     // position in `regions` by node, or kNoRegion
  int64_t attributed_ns = 0;                // of all kernels with a path
  int64_t all_ns = 0;                       // of all kernels inside the window

  std::string Name(const Region& region) const;
  std::string Path(const Region& region) const { return attribution->paths.PathText(region.node); }
};

// Made once per query.
const RegionBreakdown& BreakDownRegions(Views& views, const RegionQuery& query);

struct KernelSum {
  StringId name = StringId::kNone;  // demangled name, else short name
  int64_t kernels = 0;
  int64_t total_ns = 0;
};

// Sorts by total time descending, then by name, and keeps the first `most`.
void KeepTop(const Trace& trace, size_t most, std::vector<KernelSum>& sums);

// For each of the first `regions` regions, its kernel names by total time (equal ones by name), at
// most `per_region`. One pass over the kernels.
std::vector<std::vector<KernelSum>> TopKernels(Views& views, const RegionBreakdown& breakdown,
                                               size_t regions, size_t per_region);

}  // namespace nsys
