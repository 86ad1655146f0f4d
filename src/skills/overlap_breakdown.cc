// SPDX-License-Identifier: MIT
// How much communication is hidden behind compute?
//
// Kernels of one device inside the window; definitions of the four parts in analysis/overlap.h.
// overlap_pct = 100 · overlap / union of communication kernels.

#include <fmt/core.h>

#include "analysis/host_sync.h"
#include "analysis/overlap.h"
#include "analysis/runner.h"
#include "analysis/selection.h"
#include "analysis/shared_streams.h"
#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

// An integer 0 without communication, as the reference prints it.
Value OverlapPct(const Overlap& overlap) {
  const auto pct = Percent(overlap.overlap_ns, Length(overlap.communication), 1);
  return pct ? Value(*pct) : Value(0);
}

Object Parts(const Overlap& overlap) {
  return {{"compute_only_ms", NsToMs(overlap.compute_only_ns, 2)},
          {"nccl_only_ms", NsToMs(overlap.communication_only_ns, 2)},
          {"overlap_ms", NsToMs(overlap.overlap_ns, 2)},
          {"idle_ms", NsToMs(overlap.idle_ns, 2)},
          {"total_ms", NsToMs(overlap.total_ns(), 2)},
          {"overlap_pct", OverlapPct(overlap)}};
}

void AddSharedStreams(const SharedStreams& shared, Object& row, Answer& answer) {
  if (!shared.matter()) {
    return;
  }
  List streams;
  for (const int64_t stream : shared.streams) {
    streams.emplace_back(std::to_string(stream));
  }
  row.Set("same_stream_diagnosis", std::move(streams));
  row.Set("same_stream_compute_pct", shared.compute_pct);
  row.Set("same_stream_nccl_pct", shared.communication_pct);
  answer.notes.push_back(
      fmt::format("Compute ({:.1f} % of its kernels) and communication ({:.1f} %) take turns on "
                  "stream {}: on one stream they cannot overlap.",
                  shared.compute_pct, shared.communication_pct, shared.StreamList()));
}

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const auto& overlap = OverlapOf(query.views, device, query.window);
  if (!overlap) {
    return NoKernelsProblem(query, device);
  }
  Answer answer;
  Object row = Parts(*overlap);
  row.Set("compute_kernels", overlap->compute_kernels);
  row.Set("nccl_kernels", overlap->communication_kernels);
  row.Set("span_start_ns", overlap->first_ns);
  row.Set("span_end_ns", overlap->last_ns);
  AddSharedStreams(FindSharedStreams(query.views, device, query.window, *overlap), row, answer);
  const std::vector<int64_t> devices = DevicesWithKernels(query.trace);
  row.Set("present_devices", List(devices.begin(), devices.end()));
  if (overlap->communication_kernels == 0) {
    answer.notes.push_back(fmt::format("No communication kernels on device {}.", device));
  }
  const Span bounds = query.window ? Span{query.window->begin_ns, query.window->end_ns}
                                   : Span{overlap->first_ns, overlap->last_ns};
  if (const auto sync = HostSyncSpans(query.views, device, bounds.begin_ns, bounds.end_ns)) {
    row.Set("sync_ms", NsToMs(Length(*sync), 3));
    if (!sync->empty()) {
      answer.notes.push_back(fmt::format("The host waits in CUDA synchronization for {}.",
                                         FormatDuration(Length(*sync))));
    }
  }
  row.Set("device_id", device);
  if (overlap->graph_only_ns > 0) {
    row.Set("graph_only_ms", NsToMs(overlap->graph_only_ns, 2));
    answer.notes.push_back(fmt::format(
        "CUDA graphs traced as a whole ran for {} of the idle time; their kernels are not known.",
        FormatDuration(overlap->graph_only_ns)));
  }
  if (query.window) {
    const auto& clipped = OverlapOf(query.views, device, query.window, KernelCut::kClipped);
    row.Set("clipped", clipped ? Value(Parts(*clipped)) : Value());
    answer.notes.emplace_back(
        "Kernels over an edge of the window and idle time beside it do not count; `clipped` (JSON) "
        "counts inner parts.");
  }
  answer.rows.push_back(std::move(row));
  return answer;
}

std::string HiddenCell(const Object& row) {
  // An integer 0 where no communication took any time.
  const double* hidden = row.Find("overlap_pct")->AsDouble();
  return hidden == nullptr ? "-" : fmt::format("{:.1f} %", *hidden);
}

Reads SkillReads() {
  Reads reads = {{TableId::kKernel, {Column::kTime, Column::kLane, Column::kName}},
                 {TableId::kGraphTrace, {Column::kTime, Column::kLane}}};
  AddHostSyncReads(reads);
  return reads;
}

}  // namespace

Skill skill_overlap_breakdown() {
  return {
      .name = "overlap_breakdown",
      .category = Category::kCommunication,
      .title = "Compute/Communication Overlap",
      .doc =
          "Divides the time of one GPU into compute only, communication only, both at once, and "
          "idle.",
      .needs = {TableId::kKernel, TableId::kStringIds},
      .reads = SkillReads(),
      .params = {Param::Device()},
      .columns =
          {{"compute_only_ms", Unit::kMs, "time with compute kernels and no communication",
            "Compute only"},
           {"nccl_only_ms", Unit::kMs, "time with communication and no compute: exposed",
            "Comm. only"},
           {"overlap_ms", Unit::kMs, "time with both", "Both"},
           {"idle_ms", Unit::kMs, "time with no kernel, first start to last end", "Idle"},
           {"total_ms", Unit::kMs,
            "first start to last end of the kernels counted; the sum of the four parts", "Total"},
           {"overlap_pct", Unit::kPct, "both / time with communication; 0 without communication",
            "Hidden", HiddenCell},
           {"compute_kernels", Unit::kCount, "number of compute kernels", "Compute kernels"},
           {"nccl_kernels", Unit::kCount, "number of communication kernels", "Comm. kernels"},
           {"span_start_ns", Unit::kTimeNs, "first start"},
           {"span_end_ns", Unit::kTimeNs, "last end"},
           {"same_stream_diagnosis", Unit::kNested,
            "streams that carry both kinds, when at least 5 % of each kind runs there"},
           {"same_stream_compute_pct", Unit::kPct,
            "share of the compute kernels on them, by count"},
           {"same_stream_nccl_pct", Unit::kPct,
            "share of the communication kernels on them, by count"},
           {"present_devices", Unit::kNested, "all devices with kernels, whatever the window"},
           {"sync_ms", Unit::kMs,
            "time the host is blocked in synchronization; absent without a synchronization table"},
           {"device_id", Unit::kId, "CUDA device"},
           {"graph_only_ms", Unit::kMs,
            "part of the idle time in which whole-traced CUDA graphs ran"},
           {"clipped", Unit::kNested, "with a window: the same figures with kernels cut to it"}},
      .empty_text = "no kernels",
      .run = Run};
}

}  // namespace nsys
