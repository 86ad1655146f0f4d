// SPDX-License-Identifier: MIT
// Which collectives ran on which stream, how often and how long?
//
// Communication kernels of one device inside the window, grouped by stream and operation.
// pct = 100 · total of the group / total of all groups. Order: stream, exact total descending,
// operation. The operation is that of the NCCL call whose range encloses the launch
// (analysis/nccl_events.h); without such a range it is read off the kernel's name, although NCCL
// may run another under it.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/cells.h"
#include "analysis/collectives.h"
#include "analysis/nccl_events.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

struct Group {
  LaneId lane{};
  std::string_view operation;
  int64_t count = 0;
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  int64_t clipped_ns = 0;  // with the parts inside the window of kernels that straddle its edges
  int64_t from_nvtx = 0;   // kernels whose operation an NCCL range tells
};

std::vector<Group> GroupByStream(const Query& query, int64_t& straddling) {
  const KernelTable& kernels = query.trace.kernels;
  const LanesOnDevice on_device(query.trace, query.params.Int("device"));
  Collectives collectives(query.views);
  std::map<std::pair<LaneId, std::string_view>, Group> groups;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!on_device(kernels.lane[row])) {
      continue;
    }
    const std::string_view named = collectives.Named(row);
    if (named.empty()) {
      continue;
    }
    const std::string_view called = collectives.Called(row);
    const std::string_view operation = called.empty() ? named : called;
    const Span inside = Clip(query.window, kernels.start_ns[row], kernels.end_ns[row]);
    const bool contained = Contains(query.window, kernels.start_ns[row], kernels.end_ns[row]);
    if (!contained && inside.end_ns <= inside.begin_ns) {
      continue;
    }
    Group& group = groups[{kernels.lane[row], operation}];
    group.lane = kernels.lane[row];
    group.operation = operation;
    group.clipped_ns += inside.length_ns();
    if (!contained) {
      ++straddling;
      continue;
    }
    const int64_t duration = kernels.duration_ns(row);
    group.min_ns = group.count == 0 ? duration : std::min(group.min_ns, duration);
    group.max_ns = std::max(group.max_ns, duration);
    group.total_ns += duration;
    group.from_nvtx += called.empty() ? 0 : 1;
    ++group.count;
  }
  std::vector<Group> list;
  for (auto& [key, group] : groups) {
    if (group.count > 0) {
      list.push_back(group);
    }
  }
  return list;
}

std::string_view SourceOf(const Group& group) {
  if (group.from_nvtx == 0) {
    return "kernel name";
  }
  return group.from_nvtx == group.count ? "nvtx" : "nvtx and kernel name";
}

Object MakeRow(const Query& query, const Group& group, int64_t all_ns, Span span) {
  const Lane& lane = query.trace.lanes[Index(group.lane)];
  Object row{{"stream_id", lane.stream},
             {"type", group.operation},
             {"count", group.count},
             {"total_ms", NsToMs(group.total_ns, 2)},
             {"avg_ms", MeanMs(group.total_ns, group.count, 3)},
             {"min_ms", NsToMs(group.min_ns, 3)},
             {"max_ms", NsToMs(group.max_ns, 3)},
             {"pct", Percent(group.total_ns, all_ns, 1).value_or(0)},
             {"device_id", query.params.Int("device")},
             {"span_start_ns", span.begin_ns},
             {"span_end_ns", span.end_ns},
             {"total_ns", group.total_ns},
             {"pid", PidCell(lane)}};
  if (query.window) {
    row.Set("clipped_total_ms", NsToMs(group.clipped_ns, 3));
  }
  row.Set("type_source", SourceOf(group));
  return row;
}

Result<Answer> Run(const Query& query) {
  int64_t straddling = 0;
  std::vector<Group> groups = GroupByStream(query, straddling);
  const auto& lanes = query.trace.lanes;
  std::sort(groups.begin(), groups.end(), [&](const Group& a, const Group& b) {
    const Lane& lane_a = lanes[Index(a.lane)];
    const Lane& lane_b = lanes[Index(b.lane)];
    if (lane_a.stream != lane_b.stream) {
      return lane_a.stream < lane_b.stream;
    }
    if (a.total_ns != b.total_ns) {
      return a.total_ns > b.total_ns;
    }
    if (a.operation != b.operation) {
      return a.operation < b.operation;
    }
    return a.lane < b.lane;
  });
  int64_t all_ns = 0;
  for (const Group& group : groups) {
    all_ns += group.total_ns;
  }
  const Span span = query.window ? Span{query.window->begin_ns, query.window->end_ns}
                                 : KernelSpan(query.trace).value_or(Span{});
  Answer answer;
  for (const Group& group : groups) {
    answer.rows.push_back(MakeRow(query, group, all_ns, span));
  }
  const bool guessed = std::any_of(groups.begin(), groups.end(),
                                   [](const Group& one) { return one.from_nvtx < one.count; });
  if (guessed) {
    answer.notes.emplace_back(
        "Operations marked \"kernel name\" are no more than that: NCCL may run any collective "
        "under one kernel. Ranges of NCCL (--trace=nvtx) tell the operation.");
  }
  if (straddling > 0) {
    answer.notes.push_back(
        fmt::format("{} at an edge of the window; only "
                    "clipped_total_ms (JSON) counts their inner part.",
                    Counted(straddling, "communication kernel")));
  }
  return answer;
}

Reads SkillReads() {
  Reads reads;
  AddNcclReads(reads);
  return reads;
}

}  // namespace

Skill skill_nccl_breakdown() {
  return {
      .name = "nccl_breakdown",
      .category = Category::kCommunication,
      .title = "NCCL Collective Breakdown",
      .doc = "Communication kernels of one GPU by stream and operation: count, time and spread.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = SkillReads(),
      .params = {Param::Device()},
      .columns = {{"stream_id", Unit::kId, "CUDA stream", "Stream"},
                  {"type", Unit::kText,
                   "operation of the NCCL call, else as the kernel is named (type_source)",
                   "Operation"},
                  {"count", Unit::kCount, "number of kernels", "Count"},
                  {"total_ms", Unit::kMs, "summed duration", "Total", DurationCell("total_ns")},
                  {"avg_ms", Unit::kMs, "mean duration", "Mean"},
                  {"min_ms", Unit::kMs, "shortest", "Min"},
                  {"max_ms", Unit::kMs, "longest", "Max"},
                  {"pct", Unit::kPct, "share of the communication kernel time of this GPU",
                   "Share"},
                  {"device_id", Unit::kId, "CUDA device"},
                  {"span_start_ns", Unit::kTimeNs,
                   "start of the window, else of the first kernel of the capture"},
                  {"span_end_ns", Unit::kTimeNs,
                   "end of the window, else of the last kernel of the capture"},
                  {"total_ns", Unit::kNs, "summed duration, exact"},
                  {"pid", Unit::kId, "process id, null when the capture does not tell", "PID"},
                  {"clipped_total_ms", Unit::kMs,
                   "with a window: the time inside it, kernels over its edges included"},
                  {"type_source", Unit::kText,
                   "what tells the operation: nvtx, kernel name, or both for parts of the kernels",
                   "Known from"}},
      .empty_text = "no communication kernels on this GPU in the window",
      .run = Run};
}

}  // namespace nsys
