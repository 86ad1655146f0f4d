// SPDX-License-Identifier: MIT
// When did a GPU's streams have nothing to run, and what did the host do meanwhile?
//
// Gaps as defined in analysis/idle_gaps.h, more than min_gap_ns long. total_idle = Σ of all gaps;
// device_idle = time with no kernel on any stream of the device (overlap_breakdown's idle_ms);
// pct_of_profile = 100 · total_idle / (kernel span · streams). A stream that idles beside a busy
// one costs nothing: what can be won back is at most min(total_idle, device_idle).
#include <algorithm>
#include <iterator>

#include <fmt/core.h>

#include "analysis/cells.h"
#include "analysis/device_busy.h"
#include "analysis/idle_gaps.h"
#include "analysis/overlap.h"
#include "analysis/runner.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr size_t kAttributedGaps = 5;
constexpr size_t kTopApis = 3;

struct ActivityText {
  std::string_view name;
  std::string_view description;
};

ActivityText Describe(HostActivity activity) {
  switch (activity) {
    case HostActivity::kSynchronization:
      return {"synchronization", "the host waited for the GPU in a CUDA synchronization call"};
    case HostActivity::kMemoryTransfer:
      return {"memory_transfer", "the host was in copy or memset calls"};
    case HostActivity::kKernelLaunch:
      return {"kernel_launch", "the host was launching kernels"};
    case HostActivity::kOther:
      return {"unknown", "the host was in other CUDA calls"};
    case HostActivity::kNoCalls:
      return {"cpu_stall", "the host made no CUDA call: busy elsewhere, or waiting"};
  }
  return {};
}

Object Attribution(Views& views, const IdleGap& gap) {
  const GapActivity activity = ActivityWithin(views, gap);
  const std::vector<ApiShare>& shares = activity.apis;
  List top;
  for (size_t i = 0; i < shares.size() && i < kTopApis; ++i) {
    top.emplace_back(Object{{"name", shares[i].name}, {"total_ms", NsToMs(shares[i].ns, 2)}});
  }
  const ActivityText text = Describe(DominantActivity(shares));
  std::string description(text.description);
  if (!shares.empty() && activity.calls_ns * 2 < gap.length_ns()) {
    description = "the host was mostly outside CUDA calls; where it was not, " + description;
  }
  return {{"category", text.name},
          {"description", std::move(description)},
          {"top_apis", std::move(top)},
          {"cuda_call_ms", NsToMs(activity.calls_ns, 2)},
          {"copy_ms", NsToMs(activity.copies_ns, 2)}};
}

Value WorkName(const Trace& trace, StringId name, bool is_graph) {
  return is_graph ? Value("CUDA graph") : TextCell(trace, name);
}

Object MakeRow(const Trace& trace, const IdleGap& gap) {
  const Lane& lane = trace.lanes[Index(gap.lane)];
  return {{"streamId", lane.stream},
          {"deviceId", lane.device},
          {"start_ns", gap.start_ns},
          {"end_ns", gap.end_ns},
          {"gap_ns", gap.length_ns()},
          {"before_kernel", WorkName(trace, gap.before, gap.before_is_graph)},
          {"after_kernel", WorkName(trace, gap.after, gap.after_is_graph)}};
}

int64_t CountGaps(const std::vector<IdleGap>& gaps, int64_t more_than_ns, int64_t at_most_ns) {
  return std::count_if(gaps.begin(), gaps.end(), [&](const IdleGap& gap) {
    return gap.length_ns() > more_than_ns && gap.length_ns() <= at_most_ns;
  });
}

Object MakeSummary(const Query& query, const StreamActivity& activity, int64_t total_ns) {
  constexpr int64_t kMs = 1'000'000;
  const int64_t device = query.params.Int("device");
  const auto& overlap = OverlapOf(query.views, device, query.window);
  const double available =
      static_cast<double>(activity.span.length_ns()) * static_cast<double>(activity.streams);
  const double pct =
      available > 0 ? RoundHalfEven(100.0 * static_cast<double>(total_ns) / available, 1) : 0;
  Object summary{
      {"_summary", true},
      {"gap_count", activity.gaps.size()},
      {"total_idle_ms", NsToMs(total_ns, 2)},
      {"device_idle_ms", overlap ? Value(NsToMs(overlap->idle_ns, 2)) : Value()},
      {"pct_of_profile", pct},
      {"gaps_1_5ms", CountGaps(activity.gaps, kMs - 1, 5 * kMs)},
      {"gaps_5_50ms", CountGaps(activity.gaps, 5 * kMs, 50 * kMs)},
      {"gaps_gt50ms", CountGaps(activity.gaps, 50 * kMs, std::numeric_limits<int64_t>::max())},
      {"profile_start_ns", activity.span.begin_ns},
      {"profile_end_ns", activity.span.end_ns},
      {"gpu_id", device},
      {"gaps_lt1ms", CountGaps(activity.gaps, 0, kMs - 1)}};
  if (activity.gaps.empty()) {
    summary.Set("min_gap_threshold_ns", query.params.Int("min_gap_ns"));
    summary.Set(
        "note",
        fmt::format(
            "No stream of device {} pauses for more than {}; for shorter gaps lower min_gap_ns.",
            device, FormatDuration(query.params.Int("min_gap_ns"))));
  }
  return summary;
}

void AddNotes(const StreamActivity& activity, const Object& summary, int64_t total_ns,
              Answer& answer) {
  if (const Value* note = summary.Find("note")) {
    answer.notes.push_back(*note->AsText());
    return;
  }
  answer.notes.push_back(fmt::format(
      "{} on {}, {} in all, {:.1f} % of their span.", Counted(std::ssize(activity.gaps), "gap"),
      Counted(static_cast<int64_t>(activity.streams), "stream"), FormatDuration(total_ns),
      *summary.Find("pct_of_profile")->AsDouble()));
  if (const double* idle = summary.Find("device_idle_ms")->AsDouble()) {
    answer.notes.push_back(
        fmt::format("The device has no kernel at all for {:.2f} ms; copies may run then (see "
                    "pipeline_bubble_metrics).",
                    *idle));
  }
  if (answer.rows.size() < activity.gaps.size()) {
    answer.notes.push_back(fmt::format("{} of {} shown; -p limit=N shows more.",
                                       FormatCount(std::ssize(answer.rows)),
                                       Counted(std::ssize(activity.gaps), "gap")));
  }
  answer.notes.emplace_back("Idle time before the first and after the last kernel does not count.");
}

// A window inside a stall holds no gap between its kernels, and is idle all the same.
void NoteEdges(const Query& query, const StreamActivity& activity, Answer& answer) {
  if (!query.window) {
    return;
  }
  const auto part = RecordedPart(query.trace, *query.window);
  const int64_t beside =
      part ? part->length_ns() - ClippedLength(activity.span, part->begin_ns, part->end_ns) : 0;
  if (beside > 0) {
    answer.notes.push_back(fmt::format(
        "The window has {} more before the first and after the last of the kernels that lie wholly "
        "inside it; pipeline_bubble_metrics tells how much of it is idle.",
        FormatDuration(beside)));
  }
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  const int64_t device = query.params.Int("device");
  const StreamActivity activity =
      FindIdleGaps(trace, device, query.window, query.params.Int("min_gap_ns"));
  if (activity.streams == 0) {
    return NoKernelsProblem(query, device);
  }
  Answer answer;
  int64_t total_ns = 0;
  for (const IdleGap& gap : activity.gaps) {
    total_ns += gap.length_ns();
  }
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  for (size_t i = 0; i < activity.gaps.size() && i < limit; ++i) {
    Object row = MakeRow(trace, activity.gaps[i]);
    if (i < kAttributedGaps && trace.schema.Has(TableId::kRuntime)) {
      row.Set("attribution", Attribution(query.views, activity.gaps[i]));
    }
    answer.rows.push_back(std::move(row));
  }
  Object summary = MakeSummary(query, activity, total_ns);
  AddNotes(activity, summary, total_ns, answer);
  NoteEdges(query, activity, answer);
  answer.about.push_back(std::move(summary));
  return answer;
}

std::string GapCell(const Object& row) { return FormatDuration(*row.Find("gap_ns")->AsInt()); }

// What filled the gap: the host's CUDA calls, and copies on the device.
std::string MeanwhileCell(const Object& row) {
  const Value* attribution = row.Find("attribution");
  if (attribution == nullptr) {
    return "";
  }
  const Object& object = *attribution->AsObject();
  const List& top = *object.Find("top_apis")->AsList();
  std::string text = "no CUDA call";
  if (!top.empty()) {
    text = fmt::format("{:.2f} ms in CUDA calls, most {}", *object.Find("cuda_call_ms")->AsDouble(),
                       *top.front().AsObject()->Find("name")->AsText());
  }
  const double copy_ms = *object.Find("copy_ms")->AsDouble();
  return copy_ms > 0 ? fmt::format("{:.2f} ms of copies; {}", copy_ms, text) : text;
}

}  // namespace

Skill skill_gpu_idle_gaps() {
  return {
      .name = "gpu_idle_gaps",
      .category = Category::kKernels,
      .title = "GPU Idle Gaps (Bubbles)",
      .doc =
          "Gaps between the kernels of each stream of one GPU, longest first, with what the host "
          "did in the longest.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = {{TableId::kKernel,
                 {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
                {TableId::kGraphTrace, {Column::kTime, Column::kLane, Column::kCorrelation}},
                {TableId::kMemcpy, {Column::kTime, Column::kLane}},
                {TableId::kMemset, {Column::kTime, Column::kLane}},
                {TableId::kRuntime, {Column::kTime, Column::kThread, Column::kName}}},
      .params = {Param::Count("min_gap_ns", 1'000'000, "gaps have to be longer than this, in ns"),
                 Param::Count("limit", 20, "largest number of gaps to list"), Param::Device()},
      .columns =
          {{"streamId", Unit::kId, "CUDA stream", "Stream"},
           {"deviceId", Unit::kId, "CUDA device"},
           {"start_ns", Unit::kTimeNs, "largest end of a kernel of the stream so far", "From ns"},
           {"end_ns", Unit::kTimeNs, "start of the next kernel of the stream"},
           {"gap_ns", Unit::kNs, "end − start", "Gap", GapCell},
           {"before_kernel", Unit::kText, "short name of the kernel that ended last", "After"},
           {"after_kernel", Unit::kText, "short name of the kernel that starts next", "Before"},
           {"attribution", Unit::kNested,
            "first five rows: host API time and copies of the device within the gap", "Meanwhile",
            MeanwhileCell}},
      .about_columns =
          {{"_summary", Unit::kFlag, "true: the row is about all gaps"},
           {"gap_count", Unit::kCount, "gaps over the threshold"},
           {"total_idle_ms", Unit::kMs, "their sum over all streams of the device"},
           {"device_idle_ms", Unit::kMs,
            "time without any kernel on the device, as overlap_breakdown; copies may run then; "
            "null without kernels"},
           {"pct_of_profile", Unit::kPct,
            "total_idle_ms / (span of the kernels of the streams · number of streams)"},
           {"gaps_1_5ms", Unit::kCount, "gaps of 1 to 5 ms"},
           {"gaps_5_50ms", Unit::kCount, "gaps above 5 and up to 50 ms"},
           {"gaps_gt50ms", Unit::kCount, "gaps above 50 ms"},
           {"profile_start_ns", Unit::kTimeNs, "first start of the kernels and graphs looked at"},
           {"profile_end_ns", Unit::kTimeNs, "their last end"},
           {"gpu_id", Unit::kId, "CUDA device"},
           {"gaps_lt1ms", Unit::kCount, "gaps below 1 ms, when the threshold is lower"},
           {"min_gap_threshold_ns", Unit::kNs, "the threshold, when no gap exceeds it"},
           {"note", Unit::kText, "says so"}},
      .empty_text = "no gaps over the threshold",
      .run = Run};
}

}  // namespace nsys
