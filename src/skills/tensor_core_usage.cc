// SPDX-License-Identifier: MIT
// How much of the work that Tensor Cores could do is done by kernels whose names say that they use
// them?
//
// Kernels of all devices inside the window whose name says matrix product, convolution or attention
// (trace/kernel_class.h), grouped by display name.
// tc_achieved_pct = 100 · time of active executions / total time. Activity is read off the name, so
// a group is all or nothing; only the figure over all groups, in the notes, lies in between.
// Order: exact total descending, then name.
#include <fmt/core.h>

#include "analysis/kernel_totals.h"
#include "base/number.h"
#include "skills/skills.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

constexpr double kOutlierPct = 50.0;

// Of all eligible kernels, listed or not.
struct Totals {
  int64_t names = 0;
  int64_t eligible_ns = 0;
  int64_t active_ns = 0;
  int64_t kernel_ns = 0;  // of all kernels, eligible or not
};

Object MakeRow(const Trace& trace, const KernelTotal& total, bool active) {
  const int64_t active_ns = active ? total.total_ns : 0;
  const int64_t active_calls = active ? total.count : 0;
  const double pct = 100.0 * Ratio(active_ns, total.total_ns);
  return {{"kernel_name", trace.Text(total.name)},
          {"total_gpu_ms", static_cast<double>(total.total_ns) / 1e6},
          {"call_count", total.count},
          {"tc_active_ms", static_cast<double>(active_ns) / 1e6},
          {"tc_active_calls", active_calls},
          {"tc_achieved_pct", pct},
          {"tc_calls_pct", 100.0 * Ratio(active_calls, total.count)},
          {"is_outlier", pct < kOutlierPct},
          {"tc_active", active},
          {"total_ns", total.total_ns}};
}

void AddNotes(const Totals& totals, Answer& answer) {
  if (totals.names == 0) {
    return;
  }
  answer.notes.push_back(fmt::format(
      "{} of {} eligible kernel names. Over all of them, Tensor Cores are named for {:.1f} % of "
      "{} of GPU time; eligible kernels are {:.1f} % of all kernel time.",
      answer.rows.size(), totals.names, 100.0 * Ratio(totals.active_ns, totals.eligible_ns),
      FormatDuration(totals.eligible_ns), 100.0 * Ratio(totals.eligible_ns, totals.kernel_ns)));
  answer.notes.emplace_back(
      "Read off kernel names, not off a counter: it says which kernels, not how busy the Tensor "
      "Cores were. All GPUs together.");
  if (totals.active_ns < totals.eligible_ns) {
    answer.notes.emplace_back(
        "`no`: the name carries no sign of Tensor Cores. That is an FP32 or FP64 kernel on the "
        "ordinary cores, or a name that does not tell.");
  }
}

Result<Answer> Run(const Query& query) {
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Totals totals;
  Answer answer;
  for (const KernelTotal& total : KernelTotals(query.views, std::nullopt, query.window)) {
    totals.kernel_ns += total.total_ns;
    const TensorCoreUse use = TensorCoreClass(query.trace.Text(total.name));
    if (!use.eligible) {
      continue;
    }
    ++totals.names;
    totals.eligible_ns += total.total_ns;
    totals.active_ns += use.active ? total.total_ns : 0;
    if (answer.rows.size() < limit) {
      answer.rows.push_back(MakeRow(query.trace, total, use.active));
    }
  }
  AddNotes(totals, answer);
  return answer;
}

constexpr std::string_view kSql = R"sql(WITH groups AS (
  SELECT k.name AS name, COUNT(*) AS calls, SUM(k.[end] - k.start) AS total_ns,
         MAX(k.uses_tc) AS active
  FROM kernels k
  WHERE k.is_tc_eligible AND k.[end] >= k.start {trim_clause}
  GROUP BY k.name
)
SELECT name AS kernel_name,
       total_ns / 1e6 AS total_gpu_ms,
       calls AS call_count,
       -- the name decides: all executions or none
       active * total_ns / 1e6 AS tc_active_ms,
       active * calls AS tc_active_calls,
       CASE WHEN active AND total_ns > 0 THEN 100.0 ELSE 0.0 END AS tc_achieved_pct,
       active * 100.0 AS tc_calls_pct,
       NOT (active AND total_ns > 0) AS is_outlier,
       active AS tc_active,
       total_ns
FROM groups
ORDER BY total_ns DESC, name
LIMIT {limit})sql";

}  // namespace

Skill skill_tensor_core_usage() {
  return {
      .name = "tensor_core_usage",
      .category = Category::kKernels,
      .title = "Tensor Core Utilization",
      .doc =
          "Kernels that could use Tensor Cores, and whether their names say that they do, over all "
          "GPUs.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = {{TableId::kKernel, {Column::kTime, Column::kName}}},
      .params = {Param::Count("limit", 20, "largest number of kernels to list")},
      .columns = {{"kernel_name", Unit::kText, "demangled name, else short name", "Kernel"},
                  {"total_gpu_ms", Unit::kMs, "summed execution time, not rounded", "Total",
                   DurationCell("total_ns")},
                  {"call_count", Unit::kCount, "number of executions", "Count"},
                  {"tc_active_ms", Unit::kMs,
                   "the part of the time in executions whose name says Tensor Cores"},
                  {"tc_active_calls", Unit::kCount, "number of such executions"},
                  {"tc_achieved_pct", Unit::kPct,
                   "100 · tc_active_ms / total_gpu_ms; 0 without time. 0 or 100, since the name "
                   "decides"},
                  {"tc_calls_pct", Unit::kPct, "100 · tc_active_calls / call_count"},
                  {"is_outlier", Unit::kFlag, "whether tc_achieved_pct is below 50"},
                  {"tc_active", Unit::kFlag, "whether the name says that Tensor Cores are used",
                   "Tensor Core"},
                  {"total_ns", Unit::kNs, "summed execution time, exact"}},
      .empty_text =
          "no kernel in the window whose name says matrix product, convolution or "
          "attention",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
