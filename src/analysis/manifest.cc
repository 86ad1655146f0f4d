// SPDX-License-Identifier: MIT
#include "analysis/manifest.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/core.h>

#include "analysis/collectives.h"
#include "analysis/device_busy.h"
#include "analysis/idle_gaps.h"
#include "analysis/iterations.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "base/text.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

constexpr int64_t kLongGapNs = 1'000'000;
constexpr int64_t kBottleneckShare = 20;  // 1/20 of the span
constexpr int64_t kHotspotPct = 60;

CommunicationSummary SummarizeCommunication(Views& views, int64_t device,
                                            const std::optional<Window>& window) {
  const KernelTable& kernels = views.trace().kernels;
  const LanesOnDevice on_device(views.trace(), device);
  Collectives collectives(views);
  CommunicationSummary summary;
  std::set<LaneId> lanes;
  std::map<std::string_view, int64_t> by_type;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!on_device(kernels.lane[row]) ||
        !Contains(window, kernels.start_ns[row], kernels.end_ns[row])) {
      continue;
    }
    const std::string_view type = collectives.Operation(row);
    if (type.empty()) {
      continue;
    }
    lanes.insert(kernels.lane[row]);
    ++summary.kernels;
    summary.total_ns += kernels.duration_ns(row);
    by_type[type] += kernels.duration_ns(row);
  }
  summary.streams = static_cast<int64_t>(lanes.size());
  for (const auto& [type, ns] : by_type) {
    if (summary.dominant_type.empty() || ns > summary.dominant_ns) {
      summary.dominant_type = type;
      summary.dominant_ns = ns;
    }
  }
  return summary;
}

std::optional<IdleSummary> SummarizeIdle(Views& views, int64_t device,
                                         const std::optional<Window>& window,
                                         const std::optional<Overlap>& overlap) {
  if (!overlap) {
    return std::nullopt;
  }
  const StreamActivity streams = FindIdleGaps(views.trace(), device, window, kLongGapNs);
  IdleSummary summary;
  summary.stream_gaps = streams.gaps.size();
  for (const IdleGap& gap : streams.gaps) {
    summary.stream_gaps_ns += gap.length_ns();
  }
  summary.stream_time_ns =
      streams.span.length_ns() * static_cast<int64_t>(std::max<size_t>(streams.streams, 1));
  const auto bounds = ActivityWindow(views.trace(), window);
  if (bounds) {
    const BusyDevices& busy = BusyDevicesOf(views, *bounds);
    if (const auto found = busy.find(device); found != busy.end()) {
      summary.idle_ns = found->second.idle_ns();
      summary.span_ns = found->second.span().length_ns();
    }
  }
  return summary;
}

std::vector<RangeTotal> TotalRanges(Views& views, const std::optional<Window>& window) {
  const NvtxTable& nvtx = views.trace().nvtx;
  NormalLabels& labels = views.labels();
  std::vector<RangeTotal> by_label;
  for (size_t row = 0; row < nvtx.size(); ++row) {
    if (nvtx.text[row] == StringId::kNone || nvtx.end_ns[row] <= nvtx.start_ns[row] ||
        !Contains(window, nvtx.start_ns[row], nvtx.end_ns[row])) {
      continue;
    }
    const StringId label = labels.Of(nvtx.text[row]);
    if (Index(label) >= by_label.size()) {
      by_label.resize(Index(label) * 2 + 64);
    }
    RangeTotal& total = by_label[Index(label)];
    total.label = label;
    ++total.count;
    total.total_ns += nvtx.duration_ns(row);
  }
  std::erase_if(by_label, [](const RangeTotal& total) { return total.count == 0; });
  std::sort(by_label.begin(), by_label.end(), [&](const RangeTotal& a, const RangeTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns
                                    : labels.Get(a.label) < labels.Get(b.label);
  });
  return by_label;
}

std::optional<IterationSummary> SummarizeIterations(Views& views, int64_t device,
                                                    const std::optional<Window>& window) {
  const Schema& schema = views.trace().schema;
  if (!schema.Has(TableId::kNvtx) || !schema.Has(TableId::kRuntime)) {
    return std::nullopt;
  }
  std::vector<int64_t> lengths;
  for (const Iteration& iteration : DetectIterations(
           views, {.device = device, .marker = std::string(kDefaultMarker), .window = window})) {
    if (iteration.real && !iteration.heuristic) {
      lengths.push_back(iteration.gpu_end_ns - iteration.gpu_start_ns);
    }
  }
  if (lengths.empty()) {
    return std::nullopt;
  }
  IterationSummary summary{.iterations = static_cast<int64_t>(lengths.size())};
  if (lengths.size() > 1) {
    lengths.erase(lengths.begin());
  }
  std::sort(lengths.begin(), lengths.end());
  summary.median_ns = lengths[lengths.size() / 2];
  summary.slowest_ns = lengths.back();
  return summary;
}

std::optional<Span> AnalysedSpan(const Trace& trace, const std::optional<Window>& window) {
  const std::optional<Span> kernels = KernelSpan(trace);
  if (!kernels) {
    return std::nullopt;
  }
  const Span span = Clip(window, kernels->begin_ns, kernels->end_ns);
  return span.end_ns > span.begin_ns ? std::optional(span) : std::nullopt;
}

int64_t OverheadWithin(const Trace& trace, const std::optional<Span>& span) {
  std::vector<Span> spans;
  for (size_t row = 0; span && row < trace.overheads.size(); ++row) {
    spans.push_back({std::max(trace.overheads.start_ns[row], span->begin_ns),
                     std::min(trace.overheads.end_ns[row], span->end_ns)});
  }
  return Length(Union(std::move(spans)));
}

}  // namespace

Reads ManifestReads() {
  Reads reads = RootCauseReads();
  reads.Add(IterationReads());
  reads.Add(FingerprintReads());
  AddDeviceBusyReads(reads);
  reads.Add({{TableId::kOverhead, {Column::kTime}},
             {TableId::kGpu, {Column::kWhole}},
             {TableId::kCudaDevice, {Column::kWhole}},
             {TableId::kSyncTypes, {Column::kWhole}},
             {TableId::kPayloadSchemas, {Column::kWhole}},
             {TableId::kNvtx, {Column::kTime, Column::kName, Column::kThread, Column::kKind}}});
  return reads;
}

Manifest ComputeManifest(Views& views, int64_t device, const std::optional<Window>& window) {
  const Trace& trace = views.trace();
  Manifest manifest;
  manifest.device = device;
  manifest.fingerprint = FingerprintOf(views);
  manifest.span = AnalysedSpan(trace, window);
  manifest.kernels = KernelTotals(views, device, window);
  for (const KernelTotal& total : manifest.kernels) {
    manifest.kernel_ns += total.total_ns;
    const TensorCoreUse use = TensorCoreClass(trace.Text(total.name));
    manifest.slow_matrix_ns += use.eligible && !use.active ? total.total_ns : 0;
  }
  manifest.overlap = &OverlapOf(views, device, window, KernelCut::kContained);
  manifest.communication = SummarizeCommunication(views, device, window);
  manifest.idle = SummarizeIdle(views, device, window, *manifest.overlap);
  manifest.causes = &FindRootCauses(views, device, window);
  manifest.has_nvtx = trace.nvtx.size() > 0;
  manifest.ranges = TotalRanges(views, window);
  manifest.iterations = SummarizeIterations(views, device, window);
  manifest.overhead_ns = OverheadWithin(trace, manifest.span);
  return manifest;
}

std::string SuspectedBottleneck(const Trace& trace, const Manifest& manifest) {
  if (*manifest.causes && !(*manifest.causes)->found.empty()) {
    const RootCauses& causes = **manifest.causes;
    const RootCause& first = causes.found.front();
    const int64_t span = causes.span.length_ns();
    if (first.recoverable_ns() > 0 && first.recoverable_ns() * kBottleneckShare >= span) {
      const std::string where =
          causes.device == manifest.device ? "" : fmt::format(" (device {})", causes.device);
      return fmt::format("{}{}: up to {} of {} ({:.1f} %)", first.pattern, where,
                         FormatDuration(first.recoverable_ns()), FormatDuration(span),
                         Percent(first.recoverable_ns(), span, 1).value_or(0));
    }
  }
  if (manifest.kernels.size() > 1 &&
      manifest.kernels.front().total_ns * 100 > manifest.kernel_ns * kHotspotPct) {
    const KernelTotal& first = manifest.kernels.front();
    return fmt::format("Kernel hotspot: {} takes {:.1f} % of the kernel time",
                       CutMiddle(trace.Text(first.name), 60),
                       Percent(first.total_ns, manifest.kernel_ns, 1).value_or(0));
  }
  if (manifest.iterations &&
      manifest.iterations->slowest_ns * 2 > manifest.iterations->median_ns * 3) {
    return fmt::format("Iteration variance: the slowest takes {}, the median {}",
                       FormatDuration(manifest.iterations->slowest_ns),
                       FormatDuration(manifest.iterations->median_ns));
  }
  return "";
}

}  // namespace nsys
