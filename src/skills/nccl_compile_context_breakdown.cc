// SPDX-License-Identifier: MIT
// Were communication kernels launched eagerly or from compiled code?
//
// Each communication kernel with a range around its launch, on all GPUs, counts in one bucket, by
// the text of the innermost range (analysis/attribution.h): "c10d::…" or "nccl…" is eager, a text
// that holds "## Call CompiledFxGraph" is inductor_captured, any other is temporal_only, since
// being inside a range in time proves nothing about who issued the call. pct = count / all of them,
// ms_pct = time / time of all of them. Order: as listed.
#include <array>

#include <fmt/core.h>

#include "analysis/attribution.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

constexpr std::array<std::string_view, 3> kBuckets = {"eager", "inductor_captured",
                                                      "temporal_only"};

size_t BucketOf(std::string_view text) {
  if (text.starts_with("c10d::") || text.starts_with("nccl")) {
    return 0;
  }
  return text.find("## Call CompiledFxGraph") != std::string_view::npos ? 1 : 2;
}

struct Sums {
  std::array<int64_t, kBuckets.size()> kernels = {};
  std::array<int64_t, kBuckets.size()> ns = {};
  int64_t all_kernels = 0;
  int64_t all_ns = 0;
  int64_t outside = 0;  // communication kernels that were launched outside of any range
  Hull span;
};

// The launches of communication kernels.
Launches CommunicationLaunches(const Query& query) {
  const KernelTable& kernels = query.trace.kernels;
  Launches launches = LaunchesInside(query.views, query.window);
  std::erase_if(launches.launches, [&](const Launch& launch) {
    return !query.views.communication().IsCommunication(kernels.name_to_classify(launch.kernel));
  });
  return launches;
}

Sums AddUp(const Query& query, const std::vector<Launch>& launches) {
  const Trace& trace = query.trace;
  const std::vector<uint32_t> calls = CallsOf(launches);
  std::vector<uint8_t> bucket_of_call(calls.size(), kBuckets.size());
  ForEachPath(trace, calls, [&](size_t position, std::span<const uint32_t> path) {
    if (!path.empty()) {
      const uint32_t range = InnermostRange(trace, path);
      bucket_of_call[position] = static_cast<uint8_t>(BucketOf(trace.Text(trace.nvtx.text[range])));
    }
  });
  Sums sums;
  for (const Launch& launch : launches) {
    const size_t bucket = bucket_of_call[PositionOf(calls, launch.call)];
    if (bucket == kBuckets.size()) {
      ++sums.outside;
      continue;
    }
    const int64_t ns = trace.kernels.duration_ns(launch.kernel);
    ++sums.kernels[bucket];
    sums.ns[bucket] += ns;
    ++sums.all_kernels;
    sums.all_ns += ns;
    sums.span.Add(trace.kernels.span(launch.kernel));
  }
  return sums;
}

Result<Answer> Run(const Query& query) {
  if (auto abstention = AbstainWithoutPushPop(query.trace)) {
    return *std::move(abstention);
  }
  const Launches launches = CommunicationLaunches(query);
  const Sums sums = AddUp(query, launches.launches);
  if (sums.all_kernels == 0) {
    return Answer::Problem(
        {{"error", "no communication kernel was launched inside a push-pop range"},
         {"launched_outside_of_ranges", sums.outside}});
  }
  Answer answer;
  answer.about_before.push_back({{"_summary", true},
                                 {"total_nccl_kernels", sums.all_kernels},
                                 {"total_nccl_ns", sums.all_ns},
                                 {"total_nccl_ms", NsToMs(sums.all_ns, 3)},
                                 {"span_start_ns", sums.span.span()->begin_ns},
                                 {"span_end_ns", sums.span.span()->end_ns},
                                 {"device_scope", "all_captured_devices"},
                                 {"launched_outside_of_ranges", sums.outside}});
  for (size_t i = 0; i < kBuckets.size(); ++i) {
    answer.rows.push_back({{"bucket", kBuckets[i]},
                           {"count", sums.kernels[i]},
                           {"ns", sums.ns[i]},
                           {"ms", NsToMs(sums.ns[i], 3)},
                           {"pct", Percent(sums.kernels[i], sums.all_kernels, 1).value_or(0.0)},
                           {"ms_pct", Percent(sums.ns[i], sums.all_ns, 1).value_or(0.0)}});
  }
  answer.notes.push_back(
      fmt::format("{} in {} of kernel time, all GPUs added up; {} more outside of any range.",
                  Counted(sums.all_kernels, "communication kernel"), FormatDuration(sums.all_ns),
                  FormatCount(sums.outside)));
  if (sums.kernels[2] > 0) {
    answer.notes.emplace_back(
        "temporal_only: the innermost range is neither a collective nor compiled code, so it "
        "proves nothing about how the call was made (nvtx_kernel_map -p name=nccl shows ranges).");
  }
  if (auto note = StartEndNote(query.trace)) {
    answer.notes.push_back(*std::move(note));
  }
  return answer;
}

}  // namespace

Skill skill_nccl_compile_context_breakdown() {
  return {
      .name = "nccl_compile_context_breakdown",
      .category = Category::kCommunication,
      .title = "NCCL Call Mode Breakdown",
      .doc =
          "Splits communication kernels into eager, compiled and undecided calls, by the innermost "
          "NVTX range around their launch.",
      .needs = {TableId::kNvtx, TableId::kRuntime, TableId::kKernel, TableId::kStringIds},
      .reads = AttributionReads({.communication_only = true}),
      .reads_for =
          [](const Params&, const std::optional<Window>& window) {
            return AttributionReads({.communication_only = true, .window = AsSpan(window)});
          },
      .columns = {{"bucket", Unit::kText, "eager, inductor_captured or temporal_only", "Call mode"},
                  {"count", Unit::kCount, "communication kernels", "Kernels"},
                  {"ns", Unit::kCount, "their summed duration", "Time", DurationCell("ns")},
                  {"ms", Unit::kMs, "the same in ms"},
                  {"pct", Unit::kPct, "count / communication kernels in ranges", "Of kernels"},
                  {"ms_pct", Unit::kPct, "time / time of communication kernels in ranges",
                   "Of time"}},
      .about_columns = {{"_summary", Unit::kFlag, "true: the row is about all kernels counted"},
                        {"total_nccl_kernels", Unit::kCount,
                         "communication kernels launched inside a range"},
                        {"total_nccl_ns", Unit::kNs, "their summed time"},
                        {"total_nccl_ms", Unit::kMs, "the same"},
                        {"span_start_ns", Unit::kTimeNs, "their first start"},
                        {"span_end_ns", Unit::kTimeNs, "their last end"},
                        {"device_scope", Unit::kText, "all_captured_devices"},
                        {"launched_outside_of_ranges", Unit::kCount,
                         "communication kernels that no range encloses"}},
      .run = Run};
}

}  // namespace nsys
