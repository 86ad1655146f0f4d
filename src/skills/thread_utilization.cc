// SPDX-License-Identifier: MIT
// Which CPU threads ran, by the samples that the profiler took of the processors?
//
// Samples inside the window by thread. cpu_pct = 100 · cycles of the thread / cycles of all samples
// in the window: a share of what was sampled, which adds up to 100; it says nothing about how busy
// a core was. Order: cycles descending, then thread.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/cells.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

struct ThreadShare {
  ThreadId thread = ThreadId::kNone;
  int64_t samples = 0;
  int64_t cycles = 0;
};

// The name of the highest priority; kNone for a thread without one.
StringId NameOf(const Trace& trace, int64_t global_tid) {
  const auto& names = trace.thread_names;
  const auto at =
      std::lower_bound(names.begin(), names.end(), global_tid,
                       [](const ThreadName& name, int64_t word) { return name.global_tid < word; });
  return at != names.end() && at->global_tid == global_tid ? at->name : StringId::kNone;
}

Object MakeRow(const Trace& trace, const ThreadShare& share, int64_t all_cycles,
               int64_t all_samples) {
  Value tid;
  Value global_tid;
  Value pid;
  Value name;
  if (share.thread != ThreadId::kNone) {
    const Thread& thread = trace.threads[Index(share.thread)];
    tid = thread.tid();
    global_tid = thread.global_tid;
    pid = thread.pid();
    name = TextCell(trace, NameOf(trace, thread.global_tid));
  }
  return {{"tid", std::move(tid)},
          {"thread_name", std::move(name)},
          {"cpu_pct", Percent(share.cycles, all_cycles, 2).value_or(0)},
          {"global_tid", std::move(global_tid)},
          {"pid", std::move(pid)},
          {"cycles", share.cycles},
          {"samples", share.samples},
          {"sample_pct", Percent(share.samples, all_samples, 2).value_or(0)}};
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  const SampleTable& samples = trace.samples;
  std::map<ThreadId, ThreadShare> by_thread;
  int64_t all_cycles = 0;
  int64_t all_samples = 0;
  for (size_t row = 0; row < samples.size(); ++row) {
    if (!Contains(query.window, samples.start_ns[row], samples.start_ns[row])) {
      continue;
    }
    ThreadShare& share = by_thread[samples.thread[row]];
    share.thread = samples.thread[row];
    // The loader bounds the cycles of each sample, not the number of samples.
    share.cycles = SaturatingAdd(share.cycles, samples.cycles[row]);
    all_cycles = SaturatingAdd(all_cycles, samples.cycles[row]);
    ++share.samples;
    ++all_samples;
  }
  std::vector<ThreadShare> shares;
  for (const auto& [thread, share] : by_thread) {
    shares.push_back(share);
  }
  std::stable_sort(shares.begin(), shares.end(),
                   [](const auto& a, const auto& b) { return a.cycles > b.cycles; });
  Answer answer;
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  for (size_t i = 0; i < shares.size() && i < limit; ++i) {
    answer.rows.push_back(MakeRow(trace, shares[i], all_cycles, all_samples));
  }
  if (shares.empty()) {
    return answer;
  }
  answer.notes.push_back(fmt::format(
      "Shares of the cycles in {} of {}; they add up to 100 % and do not say how busy a core was.",
      Counted(all_samples, "sample"), Counted(std::ssize(shares), "thread")));
  if (all_cycles == 0) {
    answer.notes.emplace_back(
        "The samples carry no cycle counts (a virtual machine, perhaps): go by their number.");
  }
  return answer;
}

constexpr std::string_view kSql = R"sql(WITH threads AS (
  SELECT k.globalTid AS word, COUNT(*) AS samples, SUM(k.cpuCycles) AS cycles
  FROM COMPOSITE_EVENTS k
  WHERE k.start IS NOT NULL AND k.cpuCycles BETWEEN 0 AND 1099511627776
    AND ({trim_start_ns} IS NULL OR k.start BETWEEN {trim_start_ns} AND {trim_end_ns})
  GROUP BY k.globalTid
)
SELECT t.word & 16777215 AS tid,
       (SELECT s.value
        FROM ThreadNames n
        JOIN StringIds s ON s.id = n.nameId
        WHERE n.globalTid = t.word
        ORDER BY COALESCE(n.priority, 0) DESC, s.value
        LIMIT 1) AS thread_name,
       COALESCE(nsys_round(100.0 * t.cycles / SUM(t.cycles) OVER (), 2), 0.0) AS cpu_pct,
       t.word AS global_tid,
       (t.word >> 24) & 16777215 AS pid,
       t.cycles,
       t.samples,
       nsys_round(100.0 * t.samples / SUM(t.samples) OVER (), 2) AS sample_pct
FROM threads t
ORDER BY t.cycles DESC, t.word IS NULL, t.word
LIMIT {limit})sql";

}  // namespace

Skill skill_thread_utilization() {
  return {
      .name = "thread_utilization",
      .category = Category::kSystem,
      .title = "CPU Thread Utilization",
      .doc = "Which CPU threads ran: shares of the sampled processor cycles by thread.",
      .needs = {TableId::kSamples},
      .reads = {{TableId::kSamples, {Column::kWhole}}, {TableId::kThreadNames, {Column::kWhole}}},
      .params = {Param::Count("limit", 10, "largest number of threads to list")},
      .columns = {{"tid", Unit::kId, "thread id, null when unknown; repeats across processes",
                   "PID/TID", PidTidText},
                  {"thread_name", Unit::kText,
                   "its name of the highest priority, null when it has none", "Thread"},
                  {"cpu_pct", Unit::kPct,
                   "cycles of the thread / cycles of all samples in the window; no use of a core",
                   "Share of cycles"},
                  {"global_tid", Unit::kId, "the whole globalTid word, which is unique"},
                  {"pid", Unit::kId, "process id"},
                  {"cycles", Unit::kCount, "summed cycles of its samples"},
                  {"samples", Unit::kCount, "number of its samples", "Samples"},
                  {"sample_pct", Unit::kPct, "samples / all samples in the window",
                   "Share of samples"}},
      .empty_text = "no sample in the window",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
