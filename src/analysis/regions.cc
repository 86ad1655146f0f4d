// SPDX-License-Identifier: MIT
#include "analysis/regions.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>

#include "trace/kernel_class.h"

namespace nsys {
namespace {

constexpr uint32_t kNoGroup = PathTree::kNoNode;

// Tensor Core use by kernel name, decided once per name.
class TensorUse {
 public:
  explicit TensorUse(const Trace& trace) : trace_(trace) {}
  TensorCoreUse Of(StringId name) {
    const auto [at, is_new] = known_.try_emplace(Index(name));
    if (is_new) {
      at->second = TensorCoreClass(trace_.Text(name));
    }
    return at->second;
  }

 private:
  const Trace& trace_;
  std::unordered_map<uint32_t, TensorCoreUse> known_;
};

// For each node, the node whose region its kernels belong to, or kNoGroup.
std::vector<uint32_t> GroupNodes(const PathTree& paths, const RegionQuery& query,
                                 const std::optional<LayerDetection>& detection) {
  const bool cut = detection && detection->depth;
  std::vector<uint32_t> group(paths.size());
  for (uint32_t node = 0; node < paths.size(); ++node) {
    const bool deeper = cut && paths.depth(node) > *detection->depth;
    group[node] = deeper ? group[paths.parent(node)] : node;
    if (query.depth && paths.depth(node) != *query.depth) {
      group[node] = kNoGroup;
    }
  }
  return group;
}

std::vector<uint8_t> WholePaths(const Attribution& attribution) {
  std::vector<uint8_t> is_whole(attribution.paths.size(), 0);
  for (const Attribution::Kernel& kernel : attribution.kernels) {
    is_whole[kernel.node] = 1;
  }
  return is_whole;
}

// Adds all kernels to the regions of their nodes; regions in the order of first appearance.
void AddKernels(Views& views, const std::vector<uint32_t>& group, RegionBreakdown& result) {
  const Trace& trace = views.trace();
  TensorUse tensor(trace);
  std::vector<uint32_t> region_of_group(group.size(), kNoRegion);
  for (const auto& [kernel, node] : result.attribution->kernels) {
    const int64_t ns = trace.kernels.duration_ns(kernel);
    result.attributed_ns += ns;
    if (group[node] == kNoGroup) {
      continue;
    }
    uint32_t& at = region_of_group[group[node]];
    if (at == kNoRegion) {
      at = static_cast<uint32_t>(result.regions.size());
      result.regions.push_back({.node = group[node]});
    }
    Region& region = result.regions[at];
    ++region.kernels;
    region.total_ns += ns;
    region.longest_ns = std::max(region.longest_ns, ns);
    if (views.communication().IsCommunication(trace.kernels.name_to_classify(kernel))) {
      region.communication_ns += ns;
    }
    const TensorCoreUse use = tensor.Of(trace.kernels.name[kernel]);
    region.tensor_eligible_ns += use.eligible ? ns : 0;
    region.tensor_active_ns += use.active ? ns : 0;
  }
}

// Ranks the regions and notes where the kernels of each node went.
void Rank(const std::vector<uint32_t>& group, RegionBreakdown& result) {
  const PathTree& paths = result.attribution->paths;
  std::sort(result.regions.begin(), result.regions.end(), [&](const Region& a, const Region& b) {
    if (a.total_ns != b.total_ns) {
      return a.total_ns > b.total_ns;
    }
    if (paths.PathLess(a.node, b.node)) {
      return true;
    }
    return !paths.PathLess(b.node, a.node) && a.node < b.node;
  });
  std::vector<uint32_t> region_of_group(group.size(), kNoRegion);
  for (uint32_t i = 0; i < result.regions.size(); ++i) {
    region_of_group[result.regions[i].node] = i;
  }
  result.region_of_node.assign(group.size(), kNoRegion);
  for (uint32_t node = 0; node < group.size(); ++node) {
    if (group[node] != kNoGroup) {
      result.region_of_node[node] = region_of_group[group[node]];
    }
  }
}

void MarkLayers(RegionBreakdown& result) {
  if (!result.detection || !result.detection->depth) {
    return;
  }
  const PathTree& paths = result.attribution->paths;
  for (Region& region : result.regions) {
    region.grouped = paths.depth(region.node) == *result.detection->depth;
    region.is_layer = region.grouped && result.detection->found_layers() &&
                      result.detection->labels.contains(paths.NormalLabelOf(region.node));
  }
}

// Between the neighbours of `sorted` at share · (n − 1).
double Quantile(const std::vector<int64_t>& sorted, double share) {
  const double at = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(at);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = at - static_cast<double>(below);
  return static_cast<double>(sorted[below]) +
         rest * static_cast<double>(sorted[above] - sorted[below]);
}

void MarkOutliers(bool layers, std::vector<Region>& regions) {
  std::vector<int64_t> totals;
  for (const Region& region : regions) {
    if (region.is_layer == layers) {
      totals.push_back(region.total_ns);
    }
  }
  if (totals.size() < 2) {
    return;
  }
  std::sort(totals.begin(), totals.end());
  const double median = Quantile(totals, 0.5);
  const double q1 = Quantile(totals, 0.25);
  const double q3 = Quantile(totals, 0.75);
  const bool quartiles = totals.size() >= 4 && q3 > q1;
  const double fence = quartiles ? q3 + 1.5 * (q3 - q1) : 2 * median;
  for (Region& region : regions) {
    const auto total = static_cast<double>(region.total_ns);
    region.outlier =
        region.outlier || (region.is_layer == layers && total > fence && total > 1.5 * median);
  }
}

RegionBreakdown BreakDown(Views& views, const RegionQuery& query) {
  const KernelTable& kernels = views.trace().kernels;
  RegionBreakdown result;
  result.attribution = &AttributeKernels(views, query.window, query.labels);
  for (size_t kernel = 0; kernel < kernels.size(); ++kernel) {
    if (Contains(query.window, kernels.start_ns[kernel], kernels.end_ns[kernel])) {
      result.all_ns += kernels.duration_ns(kernel);
    }
  }
  if (query.find_layers && !query.depth && !result.attribution->kernels.empty()) {
    // Where the layers stand does not depend on how the rows are named.
    const Attribution& normal = AttributeKernels(views, query.window, LabelKind::kNormal);
    result.detection = DetectLayers(views, normal.paths, WholePaths(normal));
  }
  const std::vector<uint32_t> group =
      GroupNodes(result.attribution->paths, query, result.detection);
  AddKernels(views, group, result);
  Rank(group, result);
  MarkLayers(result);
  MarkOutliers(true, result.regions);
  MarkOutliers(false, result.regions);
  return result;
}

}  // namespace

std::string RegionBreakdown::Name(const Region& region) const {
  return region.grouped ? Path(region) : std::string(attribution->paths.Text(region.node));
}

void KeepTop(const Trace& trace, size_t most, std::vector<KernelSum>& sums) {
  std::sort(sums.begin(), sums.end(), [&](const KernelSum& a, const KernelSum& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns
                                    : trace.Text(a.name) < trace.Text(b.name);
  });
  sums.resize(std::min(sums.size(), most));
}

const RegionBreakdown& BreakDownRegions(Views& views, const RegionQuery& query) {
  const ViewKey key{
      .device = {},
      .window = query.window,
      .text = fmt::format("{} {} {}", query.labels == LabelKind::kRaw, query.find_layers,
                          query.depth ? std::to_string(*query.depth) : "any")};
  return views.Once<RegionBreakdown>(key, [&] { return BreakDown(views, query); });
}

std::vector<std::vector<KernelSum>> TopKernels(Views& views, const RegionBreakdown& breakdown,
                                               size_t regions, size_t per_region) {
  const Trace& trace = views.trace();
  regions = std::min(regions, breakdown.regions.size());
  std::unordered_map<uint64_t, KernelSum> sums;  // by (region, name)
  for (const auto& [kernel, node] : breakdown.attribution->kernels) {
    const uint32_t region = breakdown.region_of_node[node];
    if (region >= regions) {  // kNoRegion too
      continue;
    }
    const StringId name = trace.kernels.name[kernel];
    KernelSum& sum = sums[(uint64_t{region} << 32) | Index(name)];
    sum.name = name;
    ++sum.kernels;
    sum.total_ns += trace.kernels.duration_ns(kernel);
  }
  std::vector<std::vector<KernelSum>> top(regions);
  for (const auto& [place, sum] : sums) {
    top[place >> 32].push_back(sum);
  }
  for (std::vector<KernelSum>& of_region : top) {
    KeepTop(trace, per_region, of_region);
  }
  return top;
}

}  // namespace nsys
