// SPDX-License-Identifier: MIT
// Which kernels are so small and so frequent that launching them may cost more than running them?
//
// Kernels of one device inside the window with their launch calls, grouped by short name
// (analysis/launch_overhead.h). Kept: at least `min_launches` kernels with a mean below 10 us.
// api = end − start of the launch call; queue = start of the kernel − end of its call, where that
// is positive. Means: Σ api / calls, Σ queue / queued kernels, Σ kernel / kernels.
// Order: exact Σ api descending, kernels descending, name. Launches of CUDA graphs are one row
// apart: their time belongs to no single kernel.
#include <algorithm>
#include <cmath>

#include <fmt/core.h>

#include "analysis/launch_overhead.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

double RoundedMs(int64_t ns) { return NsToMs(ns, 3, Rounding::kHalfAway); }

double RoundedMeanUs(int64_t total_ns, int64_t count, int decimals) {
  return MeanUs(total_ns, count, decimals, Rounding::kHalfAway);
}

Object MakeRow(const Trace& trace, const LaunchedKernel& one, int64_t device) {
  return {{"kernel_name", trace.Text(one.name)},
          {"device_id", device},
          {"launch_count", one.kernels},
          {"total_api_ms", RoundedMs(one.api_ns)},
          {"avg_api_us", RoundedMeanUs(one.api_ns, one.calls, 1)},
          {"max_api_us", NsToUs(one.max_api_ns, 1, Rounding::kHalfAway)},
          {"queue_count", one.queued},
          {"total_queue_ms", RoundedMs(one.queue_ns)},
          {"avg_queue_us", RoundedMeanUs(one.queue_ns, one.queued, 1)},
          {"total_kernel_ms", RoundedMs(one.kernel_ns)},
          {"avg_kernel_us", RoundedMeanUs(one.kernel_ns, one.kernels, 3)},
          {"span_start_ns", one.first_ns},
          {"span_end_ns", one.last_ns},
          {"api_calls", one.calls},
          {"total_api_ns", one.api_ns},
          {"total_kernel_ns", one.kernel_ns}};
}

void AddGraphLaunches(const GraphLaunches& graphs, int64_t device, Answer& answer) {
  if (graphs.calls == 0) {
    return;
  }
  answer.about.push_back({{"_graph_launches", true},
                          {"launch_count", graphs.calls},
                          {"total_api_ms", RoundedMs(graphs.api_ns)},
                          {"avg_api_us", RoundedMeanUs(graphs.api_ns, graphs.calls, 1)},
                          {"kernel_count", graphs.kernels},
                          {"whole_graph_count", graphs.whole_graphs},
                          {"device_id", device}});
  const std::string started = graphs.kernels > 0
                                  ? Counted(graphs.kernels, "kernel")
                                  : Counted(graphs.whole_graphs, "graph") + " traced as a whole";
  answer.notes.push_back(fmt::format("CUDA graphs, not listed: {} of {} in all started {}.",
                                     Counted(graphs.calls, "launch call"),
                                     FormatDuration(graphs.api_ns), started));
}

void AddNotes(const LaunchOverhead& found, int64_t min_launches, Answer& answer) {
  if (!found.small.empty()) {
    answer.notes.push_back(
        fmt::format("{} of {} kernel names with at least {} launches and a mean below 10 us.",
                    answer.rows.size(), found.small.size(), min_launches));
  }
  if (found.unknown > 0) {
    answer.notes.push_back(fmt::format(
        "{} in the window; the launch call of {} was not recorded, and those are left out.",
        Counted(found.launched + found.unknown + found.graphs.kernels, "kernel"),
        FormatCount(found.unknown)));
  }
  if (!answer.rows.empty()) {
    answer.notes.emplace_back(
        "Kernels wait in the queue side by side, so summed queue time exceeds the wall clock; a "
        "long queue means that the host is ahead of the GPU. API time above kernel time: fuse the "
        "kernels or launch them as a CUDA graph.");
  }
}

// What the runner does not check: without processes, launches of two of them cannot be told apart.
std::optional<Answer> AbstainWithoutProcesses(const Trace& trace) {
  Object missing;
  for (const auto& [table, column] :
       {std::pair(TableId::kKernel, "globalPid"), std::pair(TableId::kRuntime, "globalTid")}) {
    const SourceTable* source = trace.schema.Find(table);
    if (source != nullptr && source->Find(column) == nullptr) {
      missing.Set(CanonicalName(table), List{column});
    }
  }
  if (missing.empty()) {
    return std::nullopt;
  }
  return Answer::Abstain(
      "This export does not tell which process launched which kernel (globalPid, globalTid); "
      "export it again with a newer nsys.",
      {{"missing_columns", std::move(missing)}});
}

Result<Answer> Run(const Query& query) {
  if (auto answer = AbstainWithoutProcesses(query.trace)) {
    return *std::move(answer);
  }
  const int64_t device = query.params.Int("device");
  const int64_t min_launches = std::max<int64_t>(query.params.Int("min_launches"), 1);
  const auto limit = static_cast<size_t>(std::max<int64_t>(query.params.Int("limit"), 1));
  const LaunchOverhead found = FindSmallKernels(query.views, device, query.window, min_launches);
  Answer answer;
  for (size_t i = 0; i < found.small.size() && i < limit; ++i) {
    answer.rows.push_back(MakeRow(query.trace, found.small[i], device));
  }
  AddNotes(found, min_launches, answer);
  AddGraphLaunches(found.graphs, device, answer);
  return answer;
}

// A key in us, in the unit that reads best.
std::function<std::string(const Object&)> UsCell(std::string key) {
  return [key = std::move(key)](const Object& row) {
    return FormatDuration(std::llround(*row.Find(key)->AsDouble() * 1e3));
  };
}

// No kernel that waited is not a wait of 0.
std::string QueueCell(const Object& row) {
  return *row.Find("queue_count")->AsInt() == 0 ? "-" : UsCell("avg_queue_us")(row);
}

std::vector<ColumnSpec> Columns() {
  return {
      {"kernel_name", Unit::kText, "short name, else demangled name", "Kernel"},
      {"device_id", Unit::kId, "CUDA device"},
      {"launch_count", Unit::kCount, "kernels with a known launch call", "Launches"},
      {"total_api_ms", Unit::kMs, "summed time of the launch calls", "API time",
       DurationCell("total_api_ns")},
      {"avg_api_us", Unit::kUs, "mean time of a launch call", "Mean API", UsCell("avg_api_us")},
      {"max_api_us", Unit::kUs, "longest launch call", "Max API", UsCell("max_api_us")},
      {"queue_count", Unit::kCount, "kernels that started after their call had returned"},
      {"total_queue_ms", Unit::kMs,
       "summed wait of those from the end of the call to the start of the kernel; 0 if none"},
      {"avg_queue_us", Unit::kUs, "mean of that wait; 0 if none", "Mean queue", QueueCell},
      {"total_kernel_ms", Unit::kMs, "summed run time", "Kernel time",
       DurationCell("total_kernel_ns")},
      {"avg_kernel_us", Unit::kUs, "mean run time", "Mean kernel", UsCell("avg_kernel_us")},
      {"span_start_ns", Unit::kTimeNs, "start of the first kernel"},
      {"span_end_ns", Unit::kTimeNs, "end of the last kernel"},
      {"api_calls", Unit::kCount, "launch calls; one that launched several kernels counts once"},
      {"total_api_ns", Unit::kNs, "summed time of the launch calls, exact"},
      {"total_kernel_ns", Unit::kNs, "summed run time, exact"}};
}

}  // namespace

Skill skill_kernel_launch_overhead() {
  return {.name = "kernel_launch_overhead",
          .category = Category::kKernels,
          .title = "Kernel Launch Overhead",
          .doc =
              "Small and frequent kernels of one GPU: launch calls on the host, wait in the queue, "
              "run time.",
          .needs = {TableId::kKernel, TableId::kRuntime, TableId::kStringIds},
          .reads = {{TableId::kKernel,
                     {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
                    {TableId::kRuntime,
                     {Column::kTime, Column::kThread, Column::kCorrelation, Column::kName}},
                    {TableId::kGraphTrace, {Column::kTime, Column::kLane, Column::kCorrelation}}},
          .params = {Param::Count("limit", 20, "largest number of kernels to list, at least 1"),
                     Param::Count("min_launches", 100, "least number of launches, at least 1"),
                     Param::Device()},
          .columns = Columns(),
          .about_columns =
              {{"_graph_launches", Unit::kFlag,
                "true: the row is about launches of CUDA graphs, which are in no other row"},
               {"launch_count", Unit::kCount, "graph launch calls"},
               {"total_api_ms", Unit::kMs, "time of these calls"},
               {"avg_api_us", Unit::kUs, "mean time of a call"},
               {"kernel_count", Unit::kCount, "kernels that they started"},
               {"whole_graph_count", Unit::kCount,
                "graphs traced as a whole, whose kernels are not known"},
               {"device_id", Unit::kId, "CUDA device"}},
          .empty_text =
              "no kernel on this GPU is launched often (min_launches) and runs less than 10 us on "
              "average",
          .run = Run};
}

}  // namespace nsys
