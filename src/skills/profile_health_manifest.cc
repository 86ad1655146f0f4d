// SPDX-License-Identifier: MIT
// What does this capture show, all in all? One row with a section per subject.
//
// One device, one window; every figure is that of the skill of its subject (analysis/manifest.h),
// and all come from one load and one sweep each. Idle time is time in which nothing at all runs on
// the device; the gaps of single streams are given beside it.
#include <chrono>
#include <cstdlib>
#include <ctime>
#include <set>

#include <fmt/core.h>

#include "analysis/gpu_of_device.h"
#include "analysis/manifest.h"
#include "analysis/manifest_report.h"
#include "analysis/nccl_communicators.h"
#include "analysis/runner.h"
#include "analysis/sync_cost.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr size_t kListed = 5;
constexpr size_t kLongestKernelName = 60;
constexpr size_t kLongestRangeName = 50;
constexpr double kLowEfficiencyPct = 20;

// The time of SOURCE_DATE_EPOCH where it is set, so that outputs can be reproduced; else now.
std::string UtcNow() {
  const char* fixed = std::getenv("SOURCE_DATE_EPOCH");
  const auto given = fixed == nullptr ? std::nullopt : ParseInt(fixed);
  const std::time_t seconds =
      given ? static_cast<std::time_t>(*given)
            : std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec);
}

std::string GpuName(const Trace& trace, int64_t device) {
  const Gpu* gpu = GpuOfDevice(trace, device);
  if (gpu == nullptr && !trace.gpus.empty()) {
    gpu = &trace.gpus.front();
  }
  return gpu != nullptr && gpu->name ? *gpu->name : "unknown";
}

// Says how much time matrix kernels without Tensor Cores take, where that is a tenth or more.
List PrecisionNotes(const Manifest& manifest) {
  if (manifest.slow_matrix_ns == 0 || manifest.slow_matrix_ns * 10 < manifest.kernel_ns) {
    return {};
  }
  return {
      fmt::format("{:.1f} % of the kernel time is in matrix kernels whose names tell of no "
                  "Tensor Core use",
                  Percent(manifest.slow_matrix_ns, manifest.kernel_ns, 1).value_or(0))};
}

Object FingerprintCell(const Manifest& manifest) {
  const Fingerprint& fingerprint = manifest.fingerprint;
  return {
      {"framework", fingerprint.framework},          {"distributed", fingerprint.distributed},
      {"multi_node", fingerprint.multi_node},        {"nic_summary", fingerprint.nic_summary},
      {"precision_notes", PrecisionNotes(manifest)}, {"framework_evidence", fingerprint.evidence}};
}

List KernelsCell(const Trace& trace, const Manifest& manifest) {
  List list;
  for (size_t i = 0; i < manifest.kernels.size() && i < kListed; ++i) {
    const KernelTotal& total = manifest.kernels[i];
    const std::string_view name = trace.Text(total.name);
    list.emplace_back(Object{{"name", CutMiddle(name, kLongestKernelName)},
                             {"total_ms", NsToMs(total.total_ns, 2)},
                             {"count", total.count},
                             {"kernel_name", name},
                             {"invocations", total.count}});
  }
  return list;
}

// Empty where sync_cost_analysis has no answer: without its tables, and where no record tells its
// device.
Object SyncCell(Views& views, int64_t device, const std::optional<Window>& window) {
  const Trace& trace = views.trace();
  const auto span = SyncCostSpan(trace, window);
  if (!span || !trace.schema.Has(TableId::kSync) || !trace.schema.Has(TableId::kSyncTypes)) {
    return {};
  }
  const SyncCost& any = *SyncCostOf(views, std::nullopt, *span);
  if (any.by_device.empty() && any.some_without_device) {
    return {};
  }
  return SyncCostRow(trace, *SyncCostOf(views, device, *span), *span);
}

Value OverlapCell(const Query& query, int64_t device, const std::optional<Overlap>& overlap) {
  if (!overlap) {
    return *NoKernelsProblem(query, device).problem;
  }
  const auto pct = Percent(overlap->overlap_ns, Length(overlap->communication), 1);
  return Object{{"compute_only_ms", NsToMs(overlap->compute_only_ns, 2)},
                {"nccl_only_ms", NsToMs(overlap->communication_only_ns, 2)},
                {"overlap_pct", pct ? Value(*pct) : Value(0)},
                {"idle_ms", NsToMs(overlap->idle_ns, 2)},
                {"overlap_ms", NsToMs(overlap->overlap_ns, 2)}};
}

Object CommunicationCell(const CommunicationSummary& summary) {
  Object cell{{"streams", summary.streams}, {"collectives", summary.kernels}};
  if (summary.kernels > 0) {
    cell.Set("dominant_type", summary.dominant_type);
    cell.Set("dominant_pct", Percent(summary.dominant_ns, summary.total_ns, 1));
    cell.Set("total_nccl_ms", NsToMs(summary.total_ns, 1));
  }
  return cell;
}

// Zeros where the capture holds no payloads.
Object CommunicatorsCell(Views& views, int64_t device, const std::optional<Window>& window) {
  if (views.trace().payloads.empty()) {
    return {{"communicators", 0}, {"collective_rows", 0}};
  }
  const CommunicatorGroups& found = CommunicatorsOf(views, device, window);
  const CommunicatorGroup* first = nullptr;
  std::set<uint64_t> communicators;
  for (const CommunicatorGroup& group : found.groups) {
    communicators.insert(group.communicator);
    first = first == nullptr || group.total_ns > first->total_ns ? &group : first;
  }
  Object cell{{"communicators", communicators.size()}, {"collective_rows", found.groups.size()}};
  if (first == nullptr) {
    return cell;
  }
  const CommunicatorWorld& world = CommunicatorWorldOf(views);
  int64_t subgroups = 0;
  int64_t slow = 0;
  for (const CommunicatorGroup& group : found.groups) {
    subgroups += world.Dimension(group).starts_with("subgroup") ? 1 : 0;
    slow += PeakSharePct(group, world.peak).value_or(kLowEfficiencyPct) < kLowEfficiencyPct ? 1 : 0;
  }
  cell.Set("dominant_collective", first->operation);
  cell.Set("dominant_dimension", world.Dimension(*first));
  cell.Set("top_total_ms", NsToMs(first->total_ns, 3));
  cell.Set("subgroup_count", subgroups);
  cell.Set("low_efficiency_count", slow);
  return cell;
}

Object IdleCell(const std::optional<IdleSummary>& idle, const std::optional<RootCauses>& causes) {
  if (!idle) {
    return {};
  }
  return {{"gap_count", idle->stream_gaps},
          {"idle_pct", Percent(idle->stream_gaps_ns, idle->stream_time_ns, 1)},
          {"total_idle_ms", NsToMs(idle->stream_gaps_ns, 2)},
          {"device_idle_ms", NsToMs(idle->idle_ns, 2)},
          {"device_idle_pct", Percent(idle->idle_ns, idle->span_ns, 1)},
          {"edge_idle_ms", NsToMs(causes ? causes->edge_idle_ns : 0, 2)}};
}

List CausesCell(const std::optional<RootCauses>& causes) {
  List list;
  for (size_t i = 0; causes && i < causes->found.size() && i < kListed; ++i) {
    const RootCause& cause = causes->found[i];
    list.emplace_back(Object{{"pattern", cause.pattern},
                             {"severity", SeverityName(cause.severity)},
                             {"recoverable_ms", NsToMs(cause.recoverable_ns(), 3)}});
  }
  return list;
}

Object NvtxCell(Views& views, const Manifest& manifest) {
  Object cell{{"has_nvtx", manifest.has_nvtx}};
  if (!manifest.has_nvtx) {
    return cell;
  }
  List ranges;
  for (size_t i = 0; i < manifest.ranges.size() && i < kListed; ++i) {
    const RangeTotal& range = manifest.ranges[i];
    ranges.emplace_back(
        Object{{"name", CutMiddle(views.labels().Get(range.label), kLongestRangeName)},
               {"total_ms", NsToMs(range.total_ns, 1)},
               {"count", range.count}});
  }
  cell.Set("top_regions", std::move(ranges));
  if (manifest.iterations) {
    cell.Set("iteration_count", manifest.iterations->iterations);
    cell.Set("median_iter_ms", NsToMs(manifest.iterations->median_ns, 1));
    cell.Set("slowest_iter_ms", NsToMs(manifest.iterations->slowest_ns, 1));
  }
  return cell;
}

Object QualityCell(const Manifest& manifest) {
  const int64_t span = manifest.span ? manifest.span->length_ns() : 0;
  return {
      {"profiler_overhead_ms", NsToMs(manifest.overhead_ns, 1)},
      {"overhead_pct", Percent(manifest.overhead_ns, span, 1)},
      {"overhead_pct_raw", span == 0 ? Value() : Value(100.0 * Ratio(manifest.overhead_ns, span))}};
}

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const Trace& trace = query.trace;
  const Manifest manifest = ComputeManifest(query.views, device, query.window);
  const auto& causes = *manifest.causes;
  Object row{{"analysis_time_utc", UtcNow()},
             {"gpu", GpuName(trace, device)},
             {"fingerprint", FingerprintCell(manifest)},
             {"profile_span_ms", NsToMs(manifest.span ? manifest.span->length_ns() : 0, 1)},
             {"top_kernels", KernelsCell(trace, manifest)},
             {"total_kernel_ms", NsToMs(manifest.kernel_ns, 1)},
             {"overlap", OverlapCell(query, device, *manifest.overlap)},
             {"nccl", CommunicationCell(manifest.communication)},
             {"communicators", CommunicatorsCell(query.views, device, query.window)},
             {"sync", SyncCell(query.views, device, query.window)},
             {"idle", IdleCell(manifest.idle, causes)},
             {"root_cause_count", causes ? causes->found.size() : 0},
             {"root_causes", CausesCell(causes)},
             {"nvtx", NvtxCell(query.views, manifest)},
             {"data_quality", QualityCell(manifest)}};
  if (std::string words = SuspectedBottleneck(trace, manifest); !words.empty()) {
    row.Set("suspected_bottleneck", std::move(words));
  }
  row.Set("device", device);
  Answer answer;
  answer.rows.push_back(std::move(row));
  if (causes && causes->edge_idle_ns > 0) {
    answer.notes.push_back(fmt::format(
        "The window has {} of idle time more, before and after the kernels that lie wholly inside "
        "it; see pipeline_bubble_metrics.",
        FormatDuration(causes->edge_idle_ns)));
  }
  return answer;
}

}  // namespace

Skill skill_profile_health_manifest() {
  return {
      .name = "profile_health_manifest",
      .category = Category::kUtility,
      .title = "Profile Health Manifest",
      .doc =
          "Start here: GPU, workload, hotspots, overlap, communication, idle time, known causes "
          "and the suspected bottleneck of one GPU, in one call.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = ManifestReads(),
      .params = {Param::Device()},
      .columns =
          {{"analysis_time_utc", Unit::kText, "when this was computed; SOURCE_DATE_EPOCH fixes it"},
           {"gpu", Unit::kText, "product name of the device's GPU, else of the first; or unknown"},
           {"fingerprint", Unit::kNested,
            "framework by names of kernels and ranges, with the evidence; distributed: "
            "communication kernels, payload schemas or kernels on two devices; multi_node: "
            "distributed and an RDMA network card is present"},
           {"profile_span_ms", Unit::kMs,
            "first start to last end of the kernels of all GPUs, cut to the window"},
           {"top_kernels", Unit::kNested,
            "five kernels with most time on the device: name (cut), total_ms, count, kernel_name, "
            "invocations"},
           {"total_kernel_ms", Unit::kMs, "sum of all kernel durations of the device"},
           {"overlap", Unit::kNested, "as overlap_breakdown: compute, communication, both, idle"},
           {"nccl", Unit::kNested,
            "communication kernels of the device: streams, number, operation with most time and "
            "its share, sum of durations"},
           {"communicators", Unit::kNested,
            "as nccl_communicator_analysis; zeros where the capture holds no payloads"},
           {"sync", Unit::kNested,
            "as sync_cost_analysis for the device; empty without its tables"},
           {"idle", Unit::kNested,
            "gap_count, idle_pct, total_idle_ms: gaps of more than 1 ms between kernels of single "
            "streams, as gpu_idle_gaps; device_idle_ms, device_idle_pct: nothing at all runs, as "
            "pipeline_bubble_metrics; edge_idle_ms: as root_cause_matcher"},
           {"root_cause_count", Unit::kCount, "causes that root_cause_matcher finds"},
           {"root_causes", Unit::kNested, "the first five of them"},
           {"nvtx", Unit::kNested,
            "top_regions: host time of ranges by normal label, ranges within ranges counted in "
            "both; iterations by the marker sample_0, median and slowest without the first"},
           {"data_quality", Unit::kNested,
            "time that the profiler itself took within the span, and its share"},
           {"suspected_bottleneck", Unit::kText,
            "the first cause if it could give back at least 5 % of its span, else a kernel with "
            "more than 60 % of the kernel time, else iterations whose slowest takes more than 1.5 "
            "times the median; absent when none of it holds"},
           {"device", Unit::kId, "CUDA device that the figures are about"}},
      .report = ManifestReport,
      .run = Run};
}

}  // namespace nsys
