// SPDX-License-Identifier: MIT
// Which kernels cost the most GPU time?
//
// Kernels of all devices inside the window, grouped by display name.
// total = Σ (end − start); avg = total / invocations. Order: exact total descending, then name.
#include <fmt/core.h>

#include "analysis/kernel_totals.h"
#include "base/number.h"
#include "skills/skills.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

Object MakeRow(const Trace& trace, const KernelTotal& group, int64_t all_ns) {
  const TensorCoreUse tensor = TensorCoreClass(trace.Text(group.name));
  return {{"kernel_name", trace.Text(group.name)},
          {"invocations", group.count},
          {"total_ms", NsToMs(group.total_ns, 2, Rounding::kHalfAway)},
          {"avg_ms", MeanMs(group.total_ns, group.count, 2, Rounding::kHalfAway)},
          {"min_ms", NsToMs(group.min_ns, 2, Rounding::kHalfAway)},
          {"max_ms", NsToMs(group.max_ns, 2, Rounding::kHalfAway)},
          {"tc_eligible", tensor.eligible},
          {"tc_active", tensor.active},
          {"span_start_ns", group.first_ns},
          {"span_end_ns", group.last_ns},
          {"total_ns", group.total_ns},
          {"min_ns", group.min_ns},
          {"max_ns", group.max_ns},
          {"share_pct", Percent(group.total_ns, all_ns, 1, Rounding::kHalfAway)}};
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  const std::vector<KernelTotal>& groups = KernelTotals(query.views, std::nullopt, query.window);
  int64_t total = 0;
  for (const KernelTotal& group : groups) {
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

constexpr std::string_view kSql = R"sql(SELECT k.name AS kernel_name,
       COUNT(*) AS invocations,
       ROUND(SUM(k.[end] - k.start) / 1e6 * 100) / 100 AS total_ms,
       ROUND(CAST(SUM(k.[end] - k.start) AS REAL) / COUNT(*) / 1e6 * 100) / 100 AS avg_ms,
       ROUND(MIN(k.[end] - k.start) / 1e6 * 100) / 100 AS min_ms,
       ROUND(MAX(k.[end] - k.start) / 1e6 * 100) / 100 AS max_ms,
       MAX(k.is_tc_eligible) AS tc_eligible,
       MAX(k.uses_tc) AS tc_active,
       MIN(k.start) AS span_start_ns,
       MAX(k.[end]) AS span_end_ns,
       SUM(k.[end] - k.start) AS total_ns,
       MIN(k.[end] - k.start) AS min_ns,
       MAX(k.[end] - k.start) AS max_ns,
       ROUND(100.0 * SUM(k.[end] - k.start) / SUM(SUM(k.[end] - k.start)) OVER () * 10) / 10
         AS share_pct
FROM kernels k
WHERE k.[end] >= k.start {trim_clause}
GROUP BY k.name
ORDER BY total_ns DESC, kernel_name
LIMIT {limit})sql";

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
                  {"total_ns", Unit::kNs, "summed execution time, exact"},
                  {"min_ns", Unit::kNs, "shortest execution, exact"},
                  {"max_ns", Unit::kNs, "longest execution, exact"},
                  {"share_pct", Unit::kPct,
                   "total / total of all kernels of the window, the unlisted included", "Share"}},
      .empty_text = "no kernels in the window",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
