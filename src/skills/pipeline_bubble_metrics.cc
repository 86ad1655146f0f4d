// SPDX-License-Identifier: MIT
// How long is each GPU really idle, copies and graphs counted as work?
//
// Kernels, copies, memsets and whole-traced CUDA graphs, cut to the window (else to the span of all
// kernels and graphs, else of all activity). Per device: active = length of their union; span =
// first start to last end of that union; bubble = span − active; bubble_pct = 100 · bubble / span.
#include <optional>
#include <utility>

#include <fmt/core.h>

#include "analysis/device_busy.h"
#include "analysis/host_sync.h"
#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

// Idle time between the window's edges and the device's first and last work, which its span lacks.
void AddEdgeIdle(const Window& window, const Span& work, Object& row) {
  if (window.end_ns == std::numeric_limits<int64_t>::max()) {
    return;
  }
  row.Set("lead_idle_ms", NsToMs(work.begin_ns - window.begin_ns, 2));
  row.Set("tail_idle_ms", NsToMs(window.end_ns - work.end_ns, 2));
}

Object MakeRow(const Query& query, std::optional<int64_t> device, const DeviceBusy& busy,
               std::optional<double> sync_ms) {
  const int64_t span_ns = busy.span().length_ns();
  Object row{{"deviceId", device},
             {"total_span_ms", NsToMs(span_ns, 2)},
             {"active_ms", NsToMs(busy.active_ns(), 2)},
             {"bubble_ms", NsToMs(busy.idle_ns(), 2)},
             {"bubble_pct", Percent(busy.idle_ns(), span_ns, 2).value_or(0)}};
  if (sync_ms) {
    row.Set("sync_ms", *sync_ms);
  }
  row.Set("kernel_ms", NsToMs(busy.kernel_ns, 2));
  row.Set("copy_only_ms", NsToMs(busy.copy_only_ns(), 2));
  if (query.window) {
    AddEdgeIdle(*query.window, busy.span(), row);
  }
  return row;
}

Result<Answer> Run(const Query& query) {
  Answer answer;
  const auto window = ActivityWindow(query.trace, query.window);
  if (!window) {
    return answer;
  }
  const BusyDevices& devices = BusyDevicesOf(query.views, *window);
  if (devices.empty()) {
    return answer;
  }
  const auto sync = HostSyncSpans(query.views, std::nullopt, window->begin_ns, window->end_ns);
  // One figure for all processes, so it stands in the first row alone.
  std::optional<double> sync_ms;
  if (sync) {
    sync_ms = NsToMs(Length(*sync), 3);
    answer.notes.push_back(fmt::format(
        "At least one host thread waits in CUDA synchronization for {} (all processes together).",
        FormatDuration(Length(*sync))));
  }
  for (const auto& [device, busy] : devices) {
    answer.rows.push_back(MakeRow(query, device, busy, std::exchange(sync_ms, {})));
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
  AddDeviceBusyReads(reads);
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
