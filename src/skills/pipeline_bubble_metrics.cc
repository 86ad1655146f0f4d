// SPDX-License-Identifier: MIT
// How long is each GPU really idle, copies and graphs counted as work?
//
// Kernels, copies, memsets and whole-traced CUDA graphs, cut to the window (else to the span of all
// kernels and graphs, else of all activity). Per device: active = length of their union; span =
// first start to last end of that union; bubble = span − active; bubble_pct = 100 · bubble / span.
#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "analysis/host_sync.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

void AddAll(const GpuEvents& events, Hull& hull) {
  for (size_t row = 0; row < events.size(); ++row) {
    hull.Add(events.span(row));
  }
}

std::optional<Window> EffectiveWindow(const Query& query) {
  if (query.window) {
    return query.window;
  }
  const Trace& trace = query.trace;
  Hull hull;
  AddAll(trace.kernels, hull);
  AddAll(trace.graphs, hull);
  if (!hull.span()) {
    AddAll(trace.copies, hull);
    AddAll(trace.memsets, hull);
  }
  const std::optional<Span>& span = hull.span();
  return span ? std::optional(Window{span->begin_ns, span->end_ns}) : std::nullopt;
}

struct DeviceWork {
  std::vector<Span> kernels;  // and whole-traced graphs
  std::vector<Span> copies;   // and memsets
};
using WorkOfDevices = std::map<std::optional<int64_t>, DeviceWork>;

// Adds the parts of `events` inside the window to the `kind` of work of their device.
void Collect(const Trace& trace, const GpuEvents& events, const Window& window,
             std::vector<Span> DeviceWork::* kind, WorkOfDevices& out) {
  std::vector<std::vector<Span>*> by_lane(trace.lanes.size(), nullptr);
  for (size_t row = 0; row < events.size(); ++row) {
    const Span span = Clip(window, events.start_ns[row], events.end_ns[row]);
    if (span.end_ns <= span.begin_ns) {
      continue;
    }
    std::vector<Span>*& spans = by_lane[Index(events.lane[row])];
    if (spans == nullptr) {
      spans = &(out[trace.DeviceOf(events, row)].*kind);
    }
    spans->push_back(span);
  }
}

// Idle time between the window's edges and the device's first and last work, which its span lacks.
void AddEdgeIdle(const Window& window, const SpanSet& active, Object& row) {
  if (window.end_ns == std::numeric_limits<int64_t>::max()) {
    return;
  }
  row.Set("lead_idle_ms", NsToMs(active.front().begin_ns - window.begin_ns, 2));
  row.Set("tail_idle_ms", NsToMs(window.end_ns - active.back().end_ns, 2));
}

Object MakeRow(const Query& query, std::optional<int64_t> device, DeviceWork work,
               std::optional<double> sync_ms) {
  std::vector<Span> all = work.kernels;
  all.insert(all.end(), work.copies.begin(), work.copies.end());
  const SpanSet active = Union(std::move(all));
  const int64_t span_ns = active.back().end_ns - active.front().begin_ns;
  const int64_t active_ns = Length(active);
  const int64_t kernel_ns = Length(Union(std::move(work.kernels)));
  Object row{{"deviceId", device},
             {"total_span_ms", NsToMs(span_ns, 2)},
             {"active_ms", NsToMs(active_ns, 2)},
             {"bubble_ms", NsToMs(span_ns - active_ns, 2)},
             {"bubble_pct", Percent(span_ns - active_ns, span_ns, 2).value_or(0)}};
  if (sync_ms) {
    row.Set("sync_ms", *sync_ms);
  }
  row.Set("kernel_ms", NsToMs(kernel_ns, 2));
  row.Set("copy_only_ms", NsToMs(active_ns - kernel_ns, 2));
  if (query.window) {
    AddEdgeIdle(*query.window, active, row);
  }
  return row;
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  Answer answer;
  const auto window = EffectiveWindow(query);
  if (!window) {
    return answer;
  }
  WorkOfDevices by_device;
  Collect(trace, trace.kernels, *window, &DeviceWork::kernels, by_device);
  Collect(trace, trace.graphs, *window, &DeviceWork::kernels, by_device);
  Collect(trace, trace.copies, *window, &DeviceWork::copies, by_device);
  Collect(trace, trace.memsets, *window, &DeviceWork::copies, by_device);
  if (by_device.empty()) {
    return answer;
  }
  const auto sync = HostSyncSpans(trace, std::nullopt, window->begin_ns, window->end_ns);
  // One figure for all processes, so it stands in the first row alone.
  std::optional<double> sync_ms;
  if (sync) {
    sync_ms = NsToMs(Length(*sync), 3);
    answer.notes.push_back(fmt::format(
        "Some host thread waits in CUDA synchronization for {} (all processes together).",
        FormatDuration(Length(*sync))));
  }
  for (auto& [device, work] : by_device) {
    answer.rows.push_back(MakeRow(query, device, std::move(work), std::exchange(sync_ms, {})));
  }
  if (query.window) {
    answer.notes.emplace_back(
        "Idle time between the window's edges and a device's first and last work is not in its "
        "span.");
  }
  return answer;
}

Reads SkillReads() {
  Reads reads;
  for (const TableId table :
       {TableId::kKernel, TableId::kMemcpy, TableId::kMemset, TableId::kGraphTrace}) {
    reads.Add(table, {Column::kTime, Column::kLane});
  }
  AddHostSyncReads(reads);
  return reads;
}

}  // namespace

Skill skill_pipeline_bubble_metrics() {
  return {
      .name = "pipeline_bubble_metrics",
      .category = Category::kUtilization,
      .title = "Pipeline Bubble Metrics (True Idle %)",
      .doc =
          "True idle share of each GPU: time with no kernel, copy, memset or CUDA graph at all. "
          "The idle figure to quote.",
      .needs_one_of = {TableId::kKernel, TableId::kMemcpy, TableId::kMemset, TableId::kGraphTrace},
      .reads = SkillReads(),
      .window_rule = WindowRule::kClip,
      .columns =
          {{"deviceId", Unit::kId, "CUDA device", "Device"},
           {"total_span_ms", Unit::kMs, "first start to last end of its work in the window",
            "Span"},
           {"active_ms", Unit::kMs, "time with any work", "Active"},
           {"bubble_ms", Unit::kMs, "span − active", "Idle"},
           {"bubble_pct", Unit::kPct, "bubble / span", "Idle share"},
           {"sync_ms", Unit::kMs,
            "first row only: time with a host thread blocked in synchronization, all processes"},
           {"kernel_ms", Unit::kMs, "the part of active with a kernel or a CUDA graph", "Kernels"},
           {"copy_only_ms", Unit::kMs, "the part of active with copies or memsets alone",
            "Copies only"},
           {"lead_idle_ms", Unit::kMs, "with a window: from its begin to the first work"},
           {"tail_idle_ms", Unit::kMs, "with a window: from the last work to its end"}},
      .empty_text = "no GPU work in the window",
      .run = Run};
}

}  // namespace nsys
