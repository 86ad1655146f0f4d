// SPDX-License-Identifier: MIT
// How much time goes into compiling and loading GPU code?
//
// API calls inside the window that compile, link or load code (kLoading below), by exact name:
// occurrences, total = Σ durations, max, avg = total / occurrences. A runtime call that loads
// through the driver counts under both names; the total of all names is taken per thread, where a
// call within a call counts once. Order: exact total descending, then name.
#include <algorithm>
#include <limits>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "analysis/api_time.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

// Parts of names, letters compared without case.
constexpr std::string_view kLoading[] = {
    "CompilePTX",         "nvrtcCompileProgram", "cuLink",
    "cuModuleLoad",       "cudaModuleLoad",      "cuLibraryLoad",
    "cudaLibraryLoad",    "cuLibraryGetKernel",  "cudaLibraryGetKernel",
    "cuLibraryGetModule", "cuKernelGetFunction",
};
// Asks how code is loaded and loads none; listed, since the name suggests otherwise.
constexpr std::string_view kQuestion = "cuModuleGetLoadingMode";

bool Asks(std::string_view api) { return ContainsIgnoreCase(api, kQuestion); }

bool Loads(std::string_view api) {
  return std::any_of(std::begin(kLoading), std::end(kLoading),
                     [&](std::string_view part) { return ContainsIgnoreCase(api, part); });
}

// When the first kernel of each process starts.
std::map<ProcessId, int64_t> FirstKernels(const Trace& trace) {
  std::vector<ProcessId> of_lane;
  for (const Lane& lane : trace.lanes) {
    of_lane.push_back(trace.FindProcess(lane.global_pid));
  }
  std::map<ProcessId, int64_t> first;
  std::vector<uint8_t> seen(trace.lanes.size(), 0);
  for (size_t row = 0; row < trace.kernels.size(); ++row) {  // by start
    const size_t lane = Index(trace.kernels.lane[row]);
    if (seen[lane] == 0) {
      seen[lane] = 1;
      first.try_emplace(of_lane[lane], trace.kernels.start_ns[row]);
    }
  }
  return first;
}

// By API: the time before the first kernel of the calling process, or of an unknown one.
std::map<std::string_view, int64_t> TimeBeforeKernels(const Trace& trace,
                                                      const std::vector<uint32_t>& calls) {
  const auto first = FirstKernels(trace);
  const auto unknown = first.find(ProcessId::kNone);
  const int64_t otherwise =
      unknown == first.end() ? std::numeric_limits<int64_t>::max() : unknown->second;
  std::map<std::string_view, int64_t> by_name;
  for (const uint32_t row : calls) {
    const auto own = first.find(trace.ProcessOf(trace.calls.thread[row]));
    const int64_t until = own == first.end() ? otherwise : own->second;
    by_name[trace.Text(trace.calls.name[row])] +=
        ClippedLength(trace.calls.span(row), std::numeric_limits<int64_t>::min(), until);
  }
  return by_name;
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  const std::vector<uint32_t> calls =
      CallsNamed(trace, query.window, [](std::string_view api) { return Loads(api) || Asks(api); });
  std::vector<NamedTime> times = TimeByName(trace, calls);
  std::sort(times.begin(), times.end(), MoreTime);
  const bool knows_kernels = trace.schema.Has(TableId::kKernel) && trace.kernels.size() > 0;
  auto before = TimeBeforeKernels(trace, calls);
  Answer answer;
  for (const NamedTime& time : times) {
    answer.rows.push_back(
        {{"api_name", time.name},
         {"occurrences", time.count},
         {"total_ms", NsToMs(time.total_ns, 2)},
         {"max_ms", NsToMs(time.longest_ns, 2)},
         {"avg_ms", MeanMs(time.total_ns, time.count, 2)},
         {"total_ns", time.total_ns},
         {"before_first_kernel_ms", knows_kernels ? Value(NsToMs(before[time.name], 2)) : Value()},
         {"loads_code", Loads(time.name)}});
  }
  const std::vector<uint32_t> loading = CallsNamed(trace, query.window, Loads);
  if (!loading.empty()) {
    answer.notes.push_back(fmt::format(
        "Threads spend {} in calls that load code (calls within calls counted once). Load ahead "
        "of the loop, or cache compiled code, if it falls into the loop.",
        FormatDuration(ThreadTime(trace, loading))));
  }
  return answer;
}

constexpr std::string_view kSql = R"sql(WITH apis AS MATERIALIZED (
  SELECT id, name, loads
  FROM (SELECT id, value AS name,
               value LIKE '%CompilePTX%' OR value LIKE '%nvrtcCompileProgram%' OR
               value LIKE '%cuLink%' OR value LIKE '%cuModuleLoad%' OR
               value LIKE '%cudaModuleLoad%' OR value LIKE '%cuLibraryLoad%' OR
               value LIKE '%cudaLibraryLoad%' OR value LIKE '%cuLibraryGetKernel%' OR
               value LIKE '%cudaLibraryGetKernel%' OR value LIKE '%cuLibraryGetModule%' OR
               value LIKE '%cuKernelGetFunction%' AS loads
        FROM StringIds)
  WHERE loads OR name LIKE '%cuModuleGetLoadingMode%'
),
first_kernels AS MATERIALIZED (
  SELECT globalPid AS process, MIN(start) AS at_ns
  FROM CUPTI_ACTIVITY_KIND_KERNEL
  WHERE [end] >= start
  GROUP BY globalPid
),
-- Until the first kernel of the calling process, or of an unknown one.
calls AS (
  SELECT a.name, a.loads, k.start AS begins, k.[end] AS ends,
         COALESCE(own.at_ns, (SELECT at_ns FROM first_kernels WHERE process IS NULL),
                  9223372036854775807) AS until_ns
  FROM {runtime_table} k
  JOIN apis a ON a.id = k.nameId
  LEFT JOIN first_kernels own ON own.process = (k.globalTid & ~16777215)
  WHERE k.[end] >= k.start {trim_clause}
)
SELECT name AS api_name,
       COUNT(*) AS occurrences,
       nsys_round(SUM(ends - begins) / 1e6, 2) AS total_ms,
       nsys_round(MAX(ends - begins) / 1e6, 2) AS max_ms,
       nsys_round(CAST(SUM(ends - begins) AS REAL) / COUNT(*) / 1e6, 2) AS avg_ms,
       SUM(ends - begins) AS total_ns,
       CASE WHEN EXISTS (SELECT 1 FROM first_kernels)
            THEN nsys_round(SUM(MAX(MIN(ends, until_ns) - begins, 0)) / 1e6, 2)
       END AS before_first_kernel_ms,
       MAX(loads) AS loads_code
FROM calls
GROUP BY name
ORDER BY total_ns DESC, name)sql";

}  // namespace

Skill skill_module_loading() {
  return {.name = "module_loading",
          .category = Category::kBottlenecks,
          .title = "JIT Compilation & Module Loading Stalls",
          .doc = "API calls that compile, link or load GPU code, by name, and how long they take.",
          .needs = {TableId::kRuntime, TableId::kStringIds},
          .reads = {{TableId::kRuntime, {Column::kTime, Column::kThread, Column::kName}},
                    {TableId::kKernel, {Column::kTime, Column::kLane}}},
          .columns =
              {{"api_name", Unit::kText, "API call, as the capture names it", "API call"},
               {"occurrences", Unit::kCount, "number of calls", "Count"},
               {"total_ms", Unit::kMs, "summed duration", "Total", DurationCell("total_ns")},
               {"max_ms", Unit::kMs, "longest", "Max"},
               {"avg_ms", Unit::kMs, "total / occurrences", "Mean"},
               {"total_ns", Unit::kNs, "summed duration, exact"},
               {"before_first_kernel_ms", Unit::kMs,
                "the part of total before the first kernel of the calling process: start-up; null "
                "without kernels",
                "Before 1st kernel"},
               {"loads_code", Unit::kFlag, "no for a call that only asks how code is loaded",
                "Loads code"}},
          .empty_text = "no call that compiles or loads code in the window",
          .run = Run,
          .sql = kSql};
}

}  // namespace nsys
