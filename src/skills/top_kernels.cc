// SPDX-License-Identifier: MIT
// Which kernels cost the most GPU time?
//
// Kernels of all devices inside the window, grouped by display name.
// total = Σ (end − start); avg = total / invocations. Order: exact total descending, then name.
#include <algorithm>
#include <unordered_map>

#include <fmt/core.h>

#include "analysis/selection.h"
#include "base/number.h"
#include "skills/skills.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

struct Group {
  StringId name{};
  int64_t invocations = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  Hull hull;

  void Add(Span span) {
    const int64_t duration = span.length_ns();
    min_ns = invocations == 0 ? duration : std::min(min_ns, duration);
    max_ns = invocations == 0 ? duration : std::max(max_ns, duration);
    hull.Add(span);
    total_ns += duration;
    ++invocations;
  }
};

std::vector<Group> GroupByName(const Query& query) {
  const KernelTable& kernels = query.trace.kernels;
  std::vector<Group> groups;
  std::unordered_map<uint32_t, size_t> position;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!Contains(query.window, kernels.start_ns[row], kernels.end_ns[row])) {
      continue;
    }
    const auto [at, added] = position.try_emplace(Index(kernels.name[row]), groups.size());
    if (added) {
      groups.push_back({.name = kernels.name[row]});
    }
    groups[at->second].Add(kernels.span(row));
  }
  return groups;
}

Object MakeRow(const Trace& trace, const Group& group, int64_t all_ns) {
  const TensorCoreUse tensor = TensorCoreClass(trace.Text(group.name));
  const double average = Ratio(group.total_ns, group.invocations) / 1e6;
  const Span span = group.hull.span().value_or(Span{});
  return {{"kernel_name", trace.Text(group.name)},
          {"invocations", group.invocations},
          {"total_ms", NsToMs(group.total_ns, 2, Rounding::kHalfAway)},
          {"avg_ms", RoundHalfAway(average, 2)},
          {"min_ms", NsToMs(group.min_ns, 2, Rounding::kHalfAway)},
          {"max_ms", NsToMs(group.max_ns, 2, Rounding::kHalfAway)},
          {"tc_eligible", tensor.eligible},
          {"tc_active", tensor.active},
          {"span_start_ns", span.begin_ns},
          {"span_end_ns", span.end_ns},
          {"total_ns", group.total_ns},
          {"min_ns", group.min_ns},
          {"max_ns", group.max_ns},
          {"share_pct", Percent(group.total_ns, all_ns, 1, Rounding::kHalfAway)}};
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  std::vector<Group> groups = GroupByName(query);
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    if (a.total_ns != b.total_ns) {
      return a.total_ns > b.total_ns;
    }
    return trace.Text(a.name) < trace.Text(b.name);
  });
  int64_t total = 0;
  for (const Group& group : groups) {
    total += group.total_ns;
  }
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Answer answer;
  for (size_t i = 0; i < groups.size() && i < limit; ++i) {
    answer.rows.push_back(MakeRow(trace, groups[i], total));
  }
  answer.notes.push_back(
      fmt::format("{} of {} kernel names; all GPUs together: {:.2f} ms of kernel time.",
                  answer.rows.size(), groups.size(), static_cast<double>(total) / 1e6));
  return answer;
}

std::string TensorCell(const Object& row) {
  if (*row.Find("tc_active")->AsBool()) {
    return "yes";
  }
  return *row.Find("tc_eligible")->AsBool() ? "no" : "-";
}

std::string AverageCell(const Object& row) {
  return FormatDuration(*row.Find("total_ns")->AsInt() / *row.Find("invocations")->AsInt());
}

}  // namespace

Skill skill_top_kernels() {
  return {
      .name = "top_kernels",
      .category = Category::kKernels,
      .title = "Top GPU Kernels by Total Time",
      .doc = "Ranks kernels by summed execution time, over all GPUs. Start here to find hotspots.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = {{TableId::kKernel, {Column::kTime, Column::kName}}},
      .params = {Param::Count("limit", 15, "largest number of kernels to list")},
      .columns = {{"kernel_name", Unit::kText, "demangled name, else short name", "Kernel"},
                  {"invocations", Unit::kCount, "number of executions", "Count"},
                  {"total_ms", Unit::kMs, "summed execution time", "Total",
                   DurationCell("total_ns")},
                  {"avg_ms", Unit::kMs, "mean execution time", "Mean", AverageCell},
                  {"min_ms", Unit::kMs, "shortest execution", "Min", DurationCell("min_ns")},
                  {"max_ms", Unit::kMs, "longest execution", "Max", DurationCell("max_ns")},
                  {"tc_eligible", Unit::kFlag,
                   "whether the name says matrix product, convolution or attention"},
                  {"tc_active", Unit::kFlag, "whether the name says that Tensor Cores are used",
                   "Tensor Core", TensorCell},
                  {"span_start_ns", Unit::kTimeNs, "start of the first execution"},
                  {"span_end_ns", Unit::kTimeNs, "end of the last execution"},
                  {"total_ns", Unit::kCount, "summed execution time, exact"},
                  {"min_ns", Unit::kCount, "shortest execution, exact"},
                  {"max_ns", Unit::kCount, "longest execution, exact"},
                  {"share_pct", Unit::kPct,
                   "total / total of all kernels of the window, the unlisted included", "Share"}},
      .empty_text = "no kernels in the window",
      .run = Run};
}

}  // namespace nsys
