// SPDX-License-Identifier: MIT
// Checks for kernels and model layers that stand out.
#include <algorithm>

#include <fmt/core.h>

#include "analysis/kernel_totals.h"
#include "analysis/regions.h"
#include "analysis/root_cause_checks.h"
#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

constexpr int64_t kNcclHotspotPct = 40;  // of the communication of all layers
constexpr int64_t kImbalanceRatio = 3;   // heaviest to lightest layer, by compute
constexpr int64_t kLeastComputeNs = 10'000;
constexpr size_t kLeastLayersForOutliers = 3;
constexpr size_t kNamedOutliers = 5;

// A layer's name with the last of its path, short enough for a sentence.
std::string LayerWords(const RegionBreakdown& breakdown, const Region& layer) {
  constexpr size_t kLongest = 80;
  return "'" + CutMiddle(breakdown.Path(layer), kLongest) + "'";
}

std::vector<const Region*> LayersOf(const RegionBreakdown& breakdown) {
  std::vector<const Region*> layers;
  for (const Region& region : breakdown.regions) {
    if (region.is_layer && region.total_ns > 0) {
      layers.push_back(&region);
    }
  }
  return layers;
}

void CheckLayerCommunication(const CauseContext& context, const RegionBreakdown& breakdown,
                             const std::vector<const Region*>& layers) {
  int64_t all = 0;
  for (const Region* layer : layers) {
    all += layer->communication_ns;
  }
  for (const Region* layer : layers) {
    if (layer->communication_ns * 100 <= all * kNcclHotspotPct || layers.size() < 2) {
      continue;
    }
    RootCause cause;
    cause.pattern = "Layer NCCL Hotspot";
    cause.severity = context.IfMaterial(Severity::kWarning, layer->communication_ns);
    cause.evidence = fmt::format(
        "{} launches {} of communication on all GPUs, {:.1f} % of that of all {} layers",
        LayerWords(breakdown, *layer), FormatDuration(layer->communication_ns),
        Percent(layer->communication_ns, all, 1).value_or(0), layers.size());
    cause.recommendation =
        "Spread its collectives: other bucket sizes, recomputing activations instead of gathering "
        "them, or another placement of the layer.";
    cause.magnitude_ns = layer->communication_ns;
    cause.where = breakdown.Path(*layer);
    context.found.push_back(std::move(cause));
  }
}

void CheckLayerBalance(const CauseContext& context, const RegionBreakdown& breakdown,
                       const std::vector<const Region*>& layers) {
  const Region* heaviest = nullptr;
  const Region* lightest = nullptr;
  for (const Region* layer : layers) {
    if (layer->compute_ns() <= kLeastComputeNs) {
      continue;
    }
    heaviest =
        heaviest == nullptr || layer->compute_ns() > heaviest->compute_ns() ? layer : heaviest;
    lightest =
        lightest == nullptr || layer->compute_ns() < lightest->compute_ns() ? layer : lightest;
  }
  if (heaviest == lightest || heaviest->compute_ns() < lightest->compute_ns() * kImbalanceRatio) {
    return;
  }
  const int64_t difference = heaviest->compute_ns() - lightest->compute_ns();
  RootCause cause;
  cause.pattern = "Pipeline Imbalance";
  cause.severity = context.IfMaterial(Severity::kWarning, difference);
  cause.evidence =
      fmt::format("on all GPUs {} computes for {}, {} for {}: {:.1f} times as long",
                  LayerWords(breakdown, *heaviest), FormatDuration(heaviest->compute_ns()),
                  LayerWords(breakdown, *lightest), FormatDuration(lightest->compute_ns()),
                  Ratio(heaviest->compute_ns(), lightest->compute_ns()));
  cause.recommendation =
      "If layers of one kind should cost the same, see what differs in their kernels "
      "(nvtx_layer_breakdown lists them); else divide the pipeline by time, not by number.";
  cause.magnitude_ns = difference;
  cause.where = breakdown.Path(*heaviest);
  context.found.push_back(std::move(cause));
}

void CheckLayerOutliers(const CauseContext& context, const RegionBreakdown& breakdown,
                        const std::vector<const Region*>& layers) {
  if (layers.size() < kLeastLayersForOutliers) {
    return;
  }
  std::vector<const Region*> outliers;  // largest first, as the layers are
  std::copy_if(layers.begin(), layers.end(), std::back_inserter(outliers),
               [](const Region* layer) { return layer->outlier; });
  for (size_t i = 0; i < outliers.size() && i < kNamedOutliers; ++i) {
    RootCause cause;
    cause.pattern = "Layer Outlier";
    cause.severity = context.IfMaterial(Severity::kWarning, outliers[i]->total_ns);
    cause.evidence =
        fmt::format("{} takes {} of kernel time on all GPUs, far more than the other layers",
                    LayerWords(breakdown, *outliers[i]), FormatDuration(outliers[i]->total_ns));
    cause.recommendation =
        "Compare its kernels with those of another layer: shapes, data type, waiting in "
        "collectives.";
    cause.magnitude_ns = outliers[i]->total_ns;
    cause.where = breakdown.Path(*outliers[i]);
    context.found.push_back(std::move(cause));
  }
  if (outliers.size() > kNamedOutliers) {
    int64_t rest = 0;
    for (size_t i = kNamedOutliers; i < outliers.size(); ++i) {
      rest += outliers[i]->total_ns;
    }
    RootCause cause;
    cause.pattern = "Layer Outlier";
    cause.severity = Severity::kInfo;
    cause.evidence = fmt::format("{} more layers stand out, {} together",
                                 outliers.size() - kNamedOutliers, FormatDuration(rest));
    cause.recommendation = "nsys-ai skill run nvtx_layer_breakdown lists them.";
    cause.magnitude_ns = rest;
    context.found.push_back(std::move(cause));
  }
}

}  // namespace

void CheckHotspot(const CauseContext& context) {
  const std::vector<KernelTotal>& totals =
      KernelTotals(context.views, context.device, context.window);
  int64_t all = 0;
  for (const KernelTotal& total : totals) {
    all += total.total_ns;
  }
  if (totals.size() < 2 || totals.front().total_ns * 2 <= all) {
    return;
  }
  const KernelTotal& first = totals.front();
  RootCause cause;
  cause.pattern = "Kernel Hotspot";
  cause.severity = Severity::kInfo;
  cause.evidence =
      fmt::format("'{}' takes {} of {} kernel time ({:.1f} %), {}",
                  CutMiddle(context.trace().Text(first.name), 100), FormatDuration(first.total_ns),
                  FormatDuration(all), Percent(first.total_ns, all, 1).value_or(0),
                  Counted(first.count, "call"));
  cause.recommendation =
      "Start here: shapes in multiples of 64 or 128, a lower precision, a fused attention kernel, "
      "then NVIDIA Nsight Compute for this kernel.";
  cause.magnitude_ns = first.total_ns;
  cause.place = Span{first.first_ns, first.last_ns};
  cause.where = context.DeviceWords();
  context.found.push_back(std::move(cause));
}

void CheckLayers(const CauseContext& context) {
  const Trace& trace = context.trace();
  if (!trace.schema.Has(TableId::kNvtx) || !trace.schema.Has(TableId::kRuntime) ||
      AbstainWithoutPushPop(trace)) {
    return;
  }
  const RegionBreakdown& breakdown = BreakDownRegions(context.views, {.window = context.window});
  if (!breakdown.detection || !breakdown.detection->found_layers()) {
    return;
  }
  const std::vector<const Region*> layers = LayersOf(breakdown);
  CheckLayerCommunication(context, breakdown, layers);
  CheckLayerBalance(context, breakdown, layers);
  CheckLayerOutliers(context, breakdown, layers);
}

}  // namespace nsys
