// SPDX-License-Identifier: MIT
#include "perfetto/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "base/text.h"
#include "perfetto/clock_repair.h"
#include "perfetto/extras.h"
#include "perfetto/placement.h"
#include "perfetto/regions.h"
#include "perfetto/track_names.h"

namespace nsys::perfetto {
namespace {

constexpr std::string_view kAnchorPrefix = "CriticalPath/MeasuredBatch/";
constexpr std::string_view kAnchorSuffix = "/batch_0";

// The start of the first measured batch, drawn or not: aligned times do not depend on the trim.
std::optional<int64_t> FindAnchor(const Trace& trace, const Ranges& ranges) {
  std::vector<int8_t> is_anchor(trace.strings.size(), -1);
  std::optional<int64_t> anchor;
  for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
    const StringId name = trace.nvtx.text[row];
    if (name == StringId::kNone || ranges.Kind(row) != RangeKind::kPushPop) {
      continue;
    }
    int8_t& known = is_anchor[Index(name)];
    if (known < 0) {
      const std::string_view text = trace.strings.Get(name);
      known = text.starts_with(kAnchorPrefix) && text.ends_with(kAnchorSuffix) ? 1 : 0;
    }
    if (known != 0) {
      const int64_t start = ranges.Covered(row).begin_ns;
      anchor = std::min(anchor.value_or(start), start);
    }
  }
  return anchor;
}

void WarnOfAbsentTables(const Trace& trace, std::vector<std::string>& warnings) {
  const auto warn = [&](TableId table, std::string_view consequence) {
    if (!trace.schema.Has(table)) {
      warnings.push_back(fmt::format("no table {}: {}", CanonicalName(table), consequence));
    }
  };
  warn(TableId::kStringIds,
       "kernels and API calls are named by numbers, and no call can be told to be a "
       "synchronization");
  warn(TableId::kKernel, "no kernels are drawn");
  warn(TableId::kNvtx, "no NVTX ranges are drawn");
  warn(TableId::kRuntime,
       "no API calls, no launch arrows and no NVTX ranges over kernels are drawn");
}

void Warn(const Trace& trace, Layout& layout) {
  std::vector<std::string>& warnings = layout.warnings;
  WarnOfAbsentTables(trace, warnings);
  const Counts& counts = layout.counts;
  if (counts.repaired_ranges > 0) {
    warnings.push_back(fmt::format("{} on the clock of the system put back on that of the trace",
                                   Counted(counts.repaired_ranges, "NVTX range")));
  }
  if (counts.ambiguous_ranges > 0) {
    warnings.push_back(fmt::format(
        "{} with one end on the clock of the system and one on that of the trace; left as recorded",
        Counted(counts.ambiguous_ranges, "NVTX range")));
  }
  if (counts.clamped > 0) {
    warnings.push_back(fmt::format("{} ending before the start; drawn with no length",
                                   Counted(counts.clamped, "row")));
  }
}

int64_t CountClamped(const Trace& trace) {
  int64_t clamped = 0;
  for (const TableId table :
       {TableId::kKernel, TableId::kMemcpy, TableId::kRuntime, TableId::kNvtx}) {
    clamped += trace.rows_clamped[static_cast<size_t>(table)];
  }
  return clamped;
}

bool IsEmpty(const Layout& layout) {
  const Counts& counts = layout.counts;
  return counts.kernels == 0 && counts.copies == 0 && layout.call_slices.empty() &&
         layout.range_slices.empty() && layout.projections.empty() && layout.extra_slices.empty() &&
         layout.counter_samples.empty();
}

Error NothingDrawn(const Options& options) {
  if (options.trim) {
    return {.code = ErrorCode::kTrimOutOfRange,
            .message = "the window has no kernel, memcpy, linked API call or NVTX range",
            .hint = "widen the window"};
  }
  return {.code = ErrorCode::kProfile,
          .message = "the trace has no kernel, memcpy, linked API call or NVTX range",
          .hint = "record with: nsys profile --trace=cuda,nvtx"};
}

Status RepairRanges(const Trace& trace, Layout& layout) {
  ClockRepair repair = RepairClocks(trace);
  if (layout.options.strict_clocks && repair.ambiguous > 0) {
    return Error{.code = ErrorCode::kProfile,
                 .message = fmt::format("{} with one end on the clock of the system and one on "
                                        "that of the trace",
                                        Counted(repair.ambiguous, "NVTX range")),
                 .hint = "without --strict-clocks they are drawn as recorded"};
  }
  layout.counts.ambiguous_ranges = repair.ambiguous;
  layout.counts.repaired_ranges = static_cast<int64_t>(repair.repaired.size());
  layout.repaired = std::move(repair.repaired);
  return {};
}

// Everything but the extras.
void LayOut(const Trace& trace, Layout& layout) {
  const Processes processes = NumberProcesses(trace);
  const CallIndex index(trace, {}, processes.of_thread);
  const LaunchLinks links = LinkWork(trace, processes, index);
  const Devices devices = FindDevices(trace, processes, links);
  const GroupPlan groups(processes, devices, layout.options.host_tracks);
  const Ranges ranges(trace, layout.repaired);
  const Parts parts{.trace = trace,
                    .options = layout.options,
                    .processes = processes,
                    .index = index,
                    .links = links,
                    .devices = devices,
                    .groups = groups,
                    .ranges = ranges};
  FindRegions(trace, processes, index, links.kernels, ranges, layout);
  TrackPlan plan;
  Hull drawn;
  PlaceWork(parts, plan, drawn, layout);
  PlaceCalls(parts, plan, drawn, layout);
  PlaceRanges(parts, plan, drawn, layout);
  plan.Finish(groups, layout);
  layout.origin_ns = drawn.span() ? drawn.span()->begin_ns : 0;
  const std::optional<int64_t> anchor = FindAnchor(trace, ranges);
  layout.anchored = anchor.has_value();
  layout.anchor_ns = anchor.value_or(layout.origin_ns);
}

}  // namespace

bool IsOfThread(const Track& track) {
  switch (track.kind) {
    case TrackKind::kNvtxKernel:
    case TrackKind::kNvtxRangeKernel:
    case TrackKind::kNvtxThread:
    case TrackKind::kNvtxRange:
    case TrackKind::kApi:
    case TrackKind::kOsrt:
      return true;
    case TrackKind::kOverhead:
      return track.source_tid != 0;
    default:
      return false;
  }
}

Span Layout::RangeSpan(const Trace& trace, uint32_t row) const {
  if (repaired.empty() && (trace.nvtx.open.empty() || trace.nvtx.open[row] == 0)) {
    return trace.nvtx.span(row);  // nearly always
  }
  Span span = Ranges(trace, repaired).Covered(row);
  if (span.end_ns == INT64_MAX && IsOpen(KindOfRange(trace, row))) {
    span.end_ns = std::max(last_ns, span.begin_ns);
  }
  return span;
}

bool Layout::IsRepaired(uint32_t row) const { return FindRepaired(repaired, row) != nullptr; }

Reads LayoutReads(const Options& options) {
  ColumnSet kernel = {Column::kTime, Column::kLane,  Column::kCorrelation,
                      Column::kName, Column::kShape, Column::kGraph};
  if (options.kernel_naming == KernelNaming::kMangled) {
    kernel.Add(Column::kMangled);
  }
  Reads reads = {
      {TableId::kKernel, kernel},
      {TableId::kMemcpy,
       {Column::kTime, Column::kLane, Column::kCorrelation, Column::kBytes, Column::kKind,
        Column::kMemory, Column::kRoute}},
      {TableId::kRuntime, {Column::kTime, Column::kThread, Column::kCorrelation, Column::kName}},
      {TableId::kNvtx,
       {Column::kTime, Column::kThread, Column::kName, Column::kKind, Column::kAttributes}},
      {TableId::kStringIds, {Column::kWhole}},
      {TableId::kCudaDevice, {Column::kWhole}},
      {TableId::kGpu, {Column::kWhole}},
      {TableId::kThreadNames, {Column::kWhole}},
      {TableId::kProcesses, {Column::kWhole}},
      {TableId::kExportSettings, {Column::kWhole}},
      {TableId::kSessionStart, {Column::kWhole}},
  };
  reads.Add(ExtraReads(options));
  return reads;
}

Result<Layout> MakeLayout(const Trace& trace, const Options& options) {
  Layout layout;
  layout.options = options;
  NSYS_TRY(RepairRanges(trace, layout));
  layout.counts.clamped = CountClamped(trace);
  LayOut(trace, layout);
  const bool nothing_usual = IsEmpty(layout);
  AddExtras(trace, layout);
  AddDetails(trace, layout);
  if (nothing_usual && IsEmpty(layout)) {
    return NothingDrawn(options);
  }
  if (!layout.anchored) {
    layout.anchor_ns = layout.origin_ns;  // which extras may have moved
  }
  Warn(trace, layout);
  return layout;
}

}  // namespace nsys::perfetto
