// SPDX-License-Identifier: MIT
// When exactly did the longest executions of a kernel run?
//
// Kernels of one device that touch the window, whose name holds a literal text, longest first.
// Order: duration descending, start, correlation id, stream.
#include <algorithm>

#include "analysis/cells.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "skills/skills.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

std::vector<uint32_t> Matching(const Query& query) {
  const Trace& trace = query.trace;
  const KernelTable& kernels = trace.kernels;
  const LanesOnDevice on_device(trace, query.params.Int("device"));
  const std::string& wanted = query.params.Text("name");
  OncePerText matches(
      [&](StringId name) { return trace.Text(name).find(wanted) != std::string_view::npos; });
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < kernels.size(); ++row) {
    if (on_device(kernels.lane[row]) &&
        Touches(query.window, kernels.start_ns[row], kernels.end_ns[row]) &&
        matches(kernels.name[row])) {
      rows.push_back(row);
    }
  }
  return rows;
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  const KernelTable& kernels = trace.kernels;
  std::vector<uint32_t> found = Matching(query);
  const size_t shown = std::min(found.size(), static_cast<size_t>(query.params.Int("limit")));
  std::partial_sort(found.begin(), found.begin() + static_cast<std::ptrdiff_t>(shown), found.end(),
                    [&](uint32_t a, uint32_t b) {
                      if (kernels.duration_ns(a) != kernels.duration_ns(b)) {
                        return kernels.duration_ns(a) > kernels.duration_ns(b);
                      }
                      if (kernels.start_ns[a] != kernels.start_ns[b]) {
                        return kernels.start_ns[a] < kernels.start_ns[b];
                      }
                      if (kernels.correlation[a] != kernels.correlation[b]) {
                        return kernels.correlation[a] < kernels.correlation[b];
                      }
                      if (kernels.lane[a] != kernels.lane[b]) {
                        return kernels.lane[a] < kernels.lane[b];
                      }
                      return trace.Text(kernels.name[a]) < trace.Text(kernels.name[b]);
                    });
  Answer answer;
  for (size_t i = 0; i < shown; ++i) {
    const uint32_t row = found[i];
    const Lane& lane = trace.LaneOf(kernels, row);
    answer.rows.push_back(
        {{"kernel_name", TextCell(trace, kernels.demangled_name[row])},
         {"short_name", TextCell(trace, kernels.short_name[row])},
         {"start_ns", kernels.start_ns[row]},
         {"end_ns", kernels.end_ns[row]},
         {"duration_ms", NsToMs(kernels.duration_ns(row), 3, Rounding::kHalfAway)},
         {"stream_id", lane.stream},
         {"device_id", lane.device},
         {"duration_ns", kernels.duration_ns(row)},
         {"pid", PidCell(lane)}});
  }
  answer.notes.push_back(FormatCount(static_cast<int64_t>(shown)) + " of " +
                         FormatCount(static_cast<int64_t>(found.size())) + " matching executions.");
  return answer;
}

// The name to show: demangled, else short, else that there is none.
std::string NameCell(const Object& row) {
  for (const char* key : {"kernel_name", "short_name"}) {
    if (const std::string* text = row.Find(key)->AsText()) {
      return *text;
    }
  }
  return "(no name)";
}

constexpr std::string_view kSql = R"sql(SELECT k.demangled AS kernel_name,
       (SELECT value FROM StringIds WHERE id = k.shortName) AS short_name,
       k.start AS start_ns,
       k.[end] AS end_ns,
       ROUND((k.[end] - k.start) / 1e6 * 1000) / 1000 AS duration_ms,
       k.streamId AS stream_id,
       k.deviceId AS device_id,
       k.[end] - k.start AS duration_ns,
       (k.globalPid >> 24) & 16777215 AS pid
FROM kernels k
WHERE k.deviceId = {device} AND instr(k.name, {name}) > 0 AND k.[end] >= k.start
  -- what touches the window, in full
  AND ({trim_start_ns} IS NULL OR (k.[end] >= {trim_start_ns} AND k.start <= {trim_end_ns}))
ORDER BY duration_ns DESC, start_ns, k.correlationId, k.streamId, k.globalPid, k.contextId, k.name
LIMIT {limit})sql";

}  // namespace

Skill skill_kernel_instances() {
  return {
      .name = "kernel_instances",
      .category = Category::kKernels,
      .title = "Kernel Instance Details",
      .doc =
          "Lists single kernel executions with exact start and end, longest first; the places to "
          "mark on a timeline.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = {{TableId::kKernel,
                 {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}}},
      .params = {Param::Device(),
                 Param::Text(
                     "name", "",
                     "part of the demangled kernel name, literal and case-sensitive; empty: all"),
                 Param::Count("limit", 10, "largest number of executions to list")},
      .window_rule = WindowRule::kTouch,
      .columns = {{"kernel_name", Unit::kText, "demangled name, null when the capture has none",
                   "Kernel", NameCell},
                  {"short_name", Unit::kText, "function name, null when the capture has none"},
                  {"start_ns", Unit::kTimeNs, "start on the capture's clock", "Start ns"},
                  {"end_ns", Unit::kTimeNs, "end on the capture's clock", "End ns"},
                  {"duration_ms", Unit::kMs, "end − start", "Duration",
                   DurationCell("duration_ns")},
                  {"stream_id", Unit::kId, "CUDA stream", "Stream"},
                  {"device_id", Unit::kId, "CUDA device", "Device"},
                  {"duration_ns", Unit::kNs, "end − start, exact"},
                  {"pid", Unit::kId, "process id, null when the capture does not tell"}},
      .empty_text = "no execution matches; names are case-sensitive, and top_kernels lists them",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
