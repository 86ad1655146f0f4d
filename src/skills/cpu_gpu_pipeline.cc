// SPDX-License-Identifier: MIT
// How do CPU threads feed the GPUs: do kernels queue, or do the GPUs wait?
//
// Kernels inside the window whose launch call the capture holds, by the thread of the call;
// definitions in analysis/dispatch.h. queue delay = start of the kernel − end of its launch call,
// at least 0; average = Σ delays / kernels. pct_of_dispatches = 100 · kernels of the thread /
// kernels of all threads. Order: kernels descending, then thread.

#include <fmt/core.h>

#include "analysis/cells.h"
#include "analysis/dispatch.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

Object MakeRow(const Trace& trace, const ThreadDispatches& one, int64_t all_kernels) {
  Value global_tid;
  Value pid;
  Value tid;
  if (one.thread != ThreadId::kNone) {
    const Thread& thread = trace.threads[Index(one.thread)];
    global_tid = thread.global_tid;
    pid = thread.pid();
    tid = thread.tid();
  }
  return {{"cpu_tid", std::move(global_tid)},
          {"dispatches", one.kernels},
          {"avg_queue_delay_us", MeanUs(one.queue_ns, one.kernels, 1)},
          {"min_queue_delay_us", NsToUs(one.shortest_queue_ns, 1)},
          {"max_queue_delay_us", NsToUs(one.longest_queue_ns, 1)},
          {"starvation_events", one.starved},
          {"avg_kernel_us", MeanUs(one.kernel_ns, one.kernels, 1)},
          {"pct_of_dispatches", Percent(one.kernels, all_kernels, 1).value_or(0)},
          {"pid", std::move(pid)},
          {"tid", std::move(tid)},
          {"launch_calls", one.calls},
          {"long_queue_events", one.long_queues},
          {"gpu_idle_before_launch_events", one.starved},
          {"gpu_idle_before_launch_ms", NsToMs(one.starved_idle_ns, 3)}};
}

void AddNotes(const Dispatches& dispatches, Answer& answer) {
  const int64_t starved = dispatches.starved();
  if (starved > 0) {
    answer.notes.push_back(
        fmt::format("{} began right after the GPU had idled for more than {}, waiting for the "
                    "launch: there the "
                    "CPU holds the GPU up. Idle periods that end with a copy are not counted.",
                    Counted(starved, "kernel"), FormatDuration(kStarvedNs)));
  } else if (dispatches.kernels > 0) {
    answer.notes.push_back(
        fmt::format("No launch ended an idle period of more than {}; periods that end with a copy "
                    "are not counted (pipeline_bubble_metrics has all idle time).",
                    FormatDuration(kStarvedNs)));
  }
  answer.notes.emplace_back(
      "A long queue delay is no fault: the GPU still had work when the kernel was launched.");
  if (dispatches.unlinked > 0) {
    answer.notes.push_back(fmt::format(
        "{} of {} kernels have no launch call in the capture (launched before it began, say) and "
        "count nowhere.",
        FormatCount(dispatches.unlinked), FormatCount(dispatches.unlinked + dispatches.kernels)));
  }
}

Result<Answer> Run(const Query& query) {
  const Dispatches& dispatches = DispatchesOf(query.views, std::nullopt, query.window);
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Answer answer;
  for (size_t i = 0; i < dispatches.threads.size() && i < limit; ++i) {
    answer.rows.push_back(MakeRow(query.trace, dispatches.threads[i], dispatches.kernels));
  }
  if (dispatches.threads.size() > limit) {
    answer.notes.push_back(fmt::format("{} of {} shown (-p limit=N).",
                                       FormatCount(query.params.Int("limit")),
                                       Counted(std::ssize(dispatches.threads), "thread")));
  }
  AddNotes(dispatches, answer);
  return answer;
}

Reads SkillReads() {
  Reads reads;
  AddDispatchReads(reads);
  return reads;
}

}  // namespace

Skill skill_cpu_gpu_pipeline() {
  return {
      .name = "cpu_gpu_pipeline",
      .category = Category::kSystem,
      .title = "CPU-GPU Pipeline Analysis",
      .doc =
          "How CPU threads feed the GPUs: launches per thread, how long kernels queue, and how "
          "often a GPU waits for the CPU.",
      .needs = {TableId::kRuntime, TableId::kKernel},
      .reads = SkillReads(),
      .params = {Param::Count("limit", 10, "largest number of threads to list")},
      .columns =
          {{"cpu_tid", Unit::kId,
            "launching thread: the whole globalTid word, which tells processes apart; null when "
            "unknown",
            "PID/TID", PidTidText},
           {"dispatches", Unit::kCount,
            "kernels that it launched; those of one CUDA graph count one each", "Kernels"},
           {"avg_queue_delay_us", Unit::kUs,
            "mean of: start of the kernel − end of its launch call, at least 0", "Mean queue"},
           {"min_queue_delay_us", Unit::kUs, "shortest queue delay", "Min queue"},
           {"max_queue_delay_us", Unit::kUs, "longest queue delay", "Max queue"},
           {"starvation_events", Unit::kCount,
            "kernels for which the GPU waited: no work on their device for more than 1 ms right up "
            "to their start, and their launch call began within that time",
            "GPU waited"},
           {"avg_kernel_us", Unit::kUs, "mean kernel duration", "Mean kernel"},
           {"pct_of_dispatches", Unit::kPct, "dispatches / dispatches of all threads", "Share"},
           {"pid", Unit::kId, "process id of the thread"},
           {"tid", Unit::kId, "thread id"},
           {"launch_calls", Unit::kCount, "distinct API calls that launched them"},
           {"long_queue_events", Unit::kCount,
            "kernels with a queue delay of more than 1 ms: the GPU has a backlog, not a lack"},
           {"gpu_idle_before_launch_events", Unit::kCount, "the same as starvation_events"},
           {"gpu_idle_before_launch_ms", Unit::kMs,
            "the idle time right before those kernels, each stretch once"}},
      .empty_text = "no kernel with a known launch call in the window",
      .run = Run};
}

}  // namespace nsys
