// SPDX-License-Identifier: MIT
// Which annotated code is behind a stretch of time?
//
// Candidates, their kernels, confidence and order as in analysis/range_candidates.h: push-pop
// ranges that overlap [start_ns, end_ns), with the kernels of that window that were launched in
// them. overlap_pct = overlap / length of the window.
#include <fmt/core.h>

#include "analysis/attribution.h"
#include "analysis/range_candidates.h"
#include "analysis/runner.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr size_t kTopKernels = 3;

List TopList(const Trace& trace, const RangeCandidate& candidate) {
  List list;
  for (const KernelSum& kernel : candidate.top_kernels) {
    list.push_back(Object{{"kernel_name", trace.Text(kernel.name)},
                          {"count", kernel.kernels},
                          {"total_ms", NsToMs(kernel.total_ns, 3)}});
  }
  return list;
}

std::string ReasonFor(const RangeCandidate& candidate) {
  std::string text = candidate.contains
                         ? std::string("covers the whole window")
                         : fmt::format("covers {:.1f} % of the window", candidate.overlap_pct);
  return candidate.kernels == 0
             ? text + "; launched none of its kernels"
             : text + fmt::format("; launched {} of its kernels", candidate.kernels);
}

List Limitations() {
  return {"overlap in time is context, not proof that this code caused the work",
          "a path of ranges is no line of source; finer ranges or stack samples tell more"};
}

Object MakeRow(const Trace& trace, const RangeSelection& selection,
               const RangeCandidate& candidate) {
  const NvtxTable& nvtx = trace.nvtx;
  const uint32_t range = candidate.range;
  Object evidence{
      {"global_tid",
       trace.threads[Index(trace.nvtx_lanes[Index(nvtx.lane[range])].thread)].global_tid},
      {"selection_start_ns", selection.begin_ns},
      {"selection_end_ns", selection.end_ns},
      {"selection_device_id", selection.device},
      {"nvtx_start_ns", nvtx.start_ns[range]},
      {"nvtx_end_ns", nvtx.end_ns[range]},
      {"overlap_ns", candidate.overlap_ns},
      {"overlap_pct", candidate.overlap_pct},
      {"contains_selection", candidate.contains},
      {"kernel_count", candidate.kernels},
      {"total_kernel_ms", NsToMs(candidate.kernel_ns, 3)},
      {"compute_kernel_count", candidate.kernels - candidate.communication_kernels},
      {"nccl_kernel_count", candidate.communication_kernels},
      {"top_kernels", TopList(trace, candidate)}};
  return {{"candidate", candidate.path},
          {"candidate_type", "nvtx_path"},
          {"nvtx_text", trace.Text(nvtx.text[range])},
          {"nvtx_depth", int64_t{candidate.depth}},
          {"confidence", candidate.confidence},
          {"reason", ReasonFor(candidate)},
          {"evidence", std::move(evidence)},
          {"limitations", Limitations()}};
}

Answer NoCandidates(const RangeSelection& selection, std::string error) {
  return Answer::Problem({{"error", std::move(error)},
                          {"selection", Object{{"start_ns", selection.begin_ns},
                                               {"end_ns", selection.end_ns},
                                               {"device_id", selection.device}}},
                          {"limitations", Limitations()}});
}

// The selection, or the problem with the parameters that should make one.
std::optional<Answer> ReadSelection(const Query& query, RangeSelection& selection) {
  selection = {.begin_ns = query.params.Int("start_ns"),
               .end_ns = query.params.Int("end_ns"),
               .least_overlap_pct = query.params.Real("min_overlap_pct")};
  if (selection.end_ns <= selection.begin_ns) {
    return Answer::Problem({{"error", "end_ns does not lie after start_ns"}});
  }
  const std::string& device = query.params.Text("device");
  if (LowerAscii(device) == "all" || device.empty()) {
    return std::nullopt;
  }
  selection.device = ParseInt(device);
  if (!selection.device) {
    return Answer::Problem(
        {{"error", fmt::format("device '{}' is neither all nor a number", device)}});
  }
  const Object devices = AvailableDevices(query.trace);
  return devices.Find(std::to_string(*selection.device)) == nullptr
             ? std::optional(NoKernelsProblem(query, *selection.device))
             : std::nullopt;
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  if (auto abstention = AbstainWithoutPushPop(trace)) {
    return *std::move(abstention);
  }
  RangeSelection selection;
  if (auto problem = ReadSelection(query, selection)) {
    return *std::move(problem);
  }
  const RangeCandidates found = FindRangeCandidates(
      query.views, selection, static_cast<size_t>(query.params.Int("limit")), kTopKernels);
  if (found.overlapping == 0) {
    return NoCandidates(selection, "no push-pop range overlaps the window");
  }
  if (found.wanted == 0) {
    return NoCandidates(selection, fmt::format("no push-pop range overlaps {} % of the window",
                                               selection.least_overlap_pct));
  }
  Answer answer;
  for (const RangeCandidate& candidate : found.first) {
    answer.rows.push_back(MakeRow(trace, selection, candidate));
  }
  answer.notes.push_back(fmt::format(
      "{} of {} that overlap the window. The kernels of a range ran in the window and were "
      "launched in the range; {} of the window's {} with a known launch came from ranges that had "
      "closed before, or from none (nvtx_kernel_map --trim shows them).",
      answer.rows.size(), Counted(static_cast<int64_t>(found.wanted), "range"),
      found.launched_elsewhere, Counted(static_cast<int64_t>(found.launches), "kernel")));
  if (auto note = StartEndNote(trace)) {
    answer.notes.push_back(*std::move(note));
  }
  return answer;
}

std::vector<ColumnSpec> Columns() {
  return {
      {"candidate", Unit::kText, "texts of the ranges around it and its own, outermost first",
       "Candidate"},
      {"candidate_type", Unit::kText, "nvtx_path"},
      {"nvtx_text", Unit::kText, "its own text"},
      {"nvtx_depth", Unit::kCount, "push-pop ranges around it", "Depth"},
      {"confidence", Unit::kCount,
       "0.55 · overlap share + 0.15 for the whole window + 0.20 for kernels + 0.025 per level, "
       "four at most; at most 0.95: a rank, no probability",
       "Confidence",
       [](const Object& row) {
         return fmt::format("{:.2f}", *row.Find("confidence")->AsDouble());
       }},
      {"reason", Unit::kText, "the same in words", "Why"},
      {"evidence", Unit::kNested,
       "the window, the range, their overlap (overlap_pct = overlap / window), and the kernels of "
       "the window that were launched in the range"},
      {"limitations", Unit::kNested, "what this does not prove"}};
}

}  // namespace

Skill skill_code_attribution_candidates() {
  return {
      .name = "code_attribution_candidates",
      .category = Category::kNvtx,
      .title = "Code Attribution Candidates",
      .doc = "Annotated ranges that may be behind a stretch of time, best first, with evidence.",
      .needs = {TableId::kNvtx, TableId::kRuntime, TableId::kKernel, TableId::kStringIds},
      .reads = AttributionReads(),
      .reads_for =
          [](const Params& params, const std::optional<Window>&) {
            const Span selection{params.Int("start_ns"), params.Int("end_ns")};
            return AttributionReads({.window = selection});
          },
      .params = {Param::Required("start_ns", ParamType::kInt, "begin of the stretch, in ns"),
                 Param::Required("end_ns", ParamType::kInt, "its end, in ns"),
                 Param::Text("device", "all", "GPU whose kernels count, or all"),
                 Param::Count("limit", 5, "largest number of candidates"),
                 Param::Real("min_overlap_pct", 0.0, "least share of the window, in %")},
      .window_rule = WindowRule::kIgnored,
      .columns = Columns(),
      .example = "-p start_ns=1001030000000 -p end_ns=1001040000000",
      .run = Run};
}

}  // namespace nsys
