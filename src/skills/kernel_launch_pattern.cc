// SPDX-License-Identifier: MIT
// How steadily does each stream get work?
//
// Kernels of all devices inside the window, one row per stream (process, device, context, stream).
// span = first start to last end of its kernels; dispatch_rate = kernels / span; occupancy = union
// of its work / span. gap = start − largest end so far on the stream, where that is positive; the
// work is its kernels and, since they keep it busy too, CUDA graphs that were traced as a whole.
// sync_stalls = gaps of more than 1 ms; the name is the reference's, no synchronization is read.
// Order: kernels descending, stream, device, process, context.
#include <algorithm>

#include <fmt/core.h>

#include "analysis/cells.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr int64_t kStallNs = 1'000'000;

struct Stream {
  LaneId lane = LaneId::kNone;
  int64_t kernels = 0;
  int64_t kernel_ns = 0;
  Hull hull;               // of its kernels
  std::vector<Span> work;  // kernels, then whole graphs
  Span span() const { return hull.span().value_or(Span{}); }
};

struct Gaps {
  int64_t count = 0;
  int64_t total_ns = 0;
  Span longest;
  int64_t stalls = 0;
};

std::vector<Stream> CollectStreams(const Query& query) {
  const Trace& trace = query.trace;
  std::vector<Stream> by_lane(trace.lanes.size());
  const KernelTable& kernels = trace.kernels;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const Span span = kernels.span(row);
    if (!Contains(query.window, span.begin_ns, span.end_ns)) {
      continue;
    }
    Stream& stream = by_lane[Index(kernels.lane[row])];
    stream.lane = kernels.lane[row];
    ++stream.kernels;
    stream.kernel_ns += span.length_ns();
    stream.hull.Add(span);
    stream.work.push_back(span);
  }
  for (size_t row = 0; row < trace.graphs.size(); ++row) {
    Stream& stream = by_lane[Index(trace.graphs.lane[row])];
    const Span span = trace.graphs.span(row);
    // Only what lies between its kernels matters: the span is theirs.
    const Span bounds = stream.span();
    if (stream.kernels > 0 && span.begin_ns < bounds.end_ns && span.end_ns > bounds.begin_ns) {
      stream.work.push_back(
          {std::max(span.begin_ns, bounds.begin_ns), std::min(span.end_ns, bounds.end_ns)});
    }
  }
  std::erase_if(by_lane, [](const Stream& stream) { return stream.kernels == 0; });
  for (Stream& stream : by_lane) {
    std::sort(stream.work.begin(), stream.work.end(),
              [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
  }
  return by_lane;
}

// Gaps between `work`, which is sorted by start. A stream may overlap itself, so a gap opens at the
// largest end so far and not at the previous one.
Gaps FindGaps(const std::vector<Span>& work) {
  Gaps gaps;
  int64_t end_ns = work.front().begin_ns;
  for (const Span& next : work) {
    const int64_t gap_ns = next.begin_ns - end_ns;
    if (gap_ns > 0) {
      ++gaps.count;
      gaps.total_ns += gap_ns;
      gaps.stalls += gap_ns > kStallNs ? 1 : 0;
      if (gap_ns > gaps.longest.length_ns()) {
        gaps.longest = {end_ns, next.begin_ns};
      }
    }
    end_ns = std::max(end_ns, next.end_ns);
  }
  return gaps;
}

Object MakeRow(const Trace& trace, const Stream& stream) {
  const Lane& lane = trace.lanes[Index(stream.lane)];
  const int64_t span_ns = stream.span().length_ns();
  const Gaps gaps = FindGaps(stream.work);
  const auto rate = static_cast<double>(stream.kernels) / (static_cast<double>(span_ns) / 1e6);
  return {
      {"streamId", lane.stream},
      {"kernel_count", stream.kernels},
      {"span_ms", NsToMs(span_ns, 2, Rounding::kHalfAway)},
      {"total_kernel_ms", NsToMs(stream.kernel_ns, 2, Rounding::kHalfAway)},
      {"dispatch_rate_per_ms", span_ns > 0 ? Value(RoundHalfAway(rate, 1)) : Value()},
      {"occupancy_pct", Percent(Length(Union(stream.work)), span_ns, 1, Rounding::kHalfAway)},
      {"avg_kernel_us", MeanUs(stream.kernel_ns, stream.kernels, 1, Rounding::kHalfAway)},
      {"max_gap_ms", NsToMs(gaps.longest.length_ns(), 3, Rounding::kHalfAway)},
      {"avg_gap_us",
       gaps.count > 0 ? Value(MeanUs(gaps.total_ns, gaps.count, 1, Rounding::kHalfAway)) : Value()},
      {"sync_stalls", gaps.stalls},
      {"deviceId", lane.device},
      {"pid", PidCell(lane)},
      {"span_ns", span_ns},
      {"max_gap_ns", gaps.longest.length_ns()},
      {"max_gap_start_ns", gaps.count > 0 ? Value(gaps.longest.begin_ns) : Value()}};
}

Result<Answer> Run(const Query& query) {
  std::vector<Stream> streams = CollectStreams(query);
  const auto& lanes = query.trace.lanes;
  std::sort(streams.begin(), streams.end(), [&](const Stream& a, const Stream& b) {
    if (a.kernels != b.kernels) {
      return a.kernels > b.kernels;
    }
    const Lane& lane_a = lanes[Index(a.lane)];
    const Lane& lane_b = lanes[Index(b.lane)];
    // Lanes are in the order of device, stream, process, context.
    return lane_a.stream != lane_b.stream ? lane_a.stream < lane_b.stream : a.lane < b.lane;
  });
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Answer answer;
  for (size_t i = 0; i < streams.size() && i < limit; ++i) {
    answer.rows.push_back(MakeRow(query.trace, streams[i]));
  }
  if (!streams.empty()) {
    answer.notes.push_back(fmt::format("{} of {} with kernels, all GPUs.", answer.rows.size(),
                                       Counted(static_cast<int64_t>(streams.size()), "stream")));
    answer.notes.emplace_back(
        "Gaps are pauses of one stream, whatever other streams do; gpu_idle_gaps says what the "
        "host did meanwhile.");
  }
  return answer;
}

constexpr std::string_view kSql = R"sql(WITH picked AS (
  SELECT k.deviceId AS device, k.streamId AS stream, k.globalPid AS process,
         k.contextId AS context, k.start AS begins, k.[end] AS ends
  FROM {kernel_table} k
  WHERE k.[end] >= k.start {trim_clause}
),
streams AS MATERIALIZED (
  SELECT device, stream, process, context, COUNT(*) AS kernels, SUM(ends - begins) AS kernel_ns,
         MIN(begins) AS first_ns, MAX(ends) AS last_ns
  FROM picked
  GROUP BY device, stream, process, context
),
-- Kernels, and between them the graphs that were traced as a whole.
work AS (
  SELECT * FROM picked
  UNION ALL
  SELECT s.device, s.stream, s.process, s.context, MAX(g.start, s.first_ns),
         MIN(g.[end], s.last_ns)
  FROM {graph_trace_table} g
  JOIN streams s ON s.device IS g.deviceId AND s.stream IS g.streamId
                AND s.process IS g.globalPid AND s.context IS g.contextId
  WHERE g.[end] >= g.start AND g.start < s.last_ns AND g.[end] > s.first_ns
),
-- To where earlier work of the stream reaches; what lies between that and the next is a gap.
covered AS (
  SELECT *, COALESCE(MAX(ends) OVER (
           PARTITION BY device, stream, process, context ORDER BY begins, ends
           ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), begins) AS until_ns
  FROM work
),
gaps AS (
  SELECT *, MAX(begins - until_ns, 0) AS gap_ns,
         MAX(MAX(begins - until_ns, 0)) OVER (
           PARTITION BY device, stream, process, context) AS longest_ns
  FROM covered
),
pauses AS (
  SELECT device, stream, process, context, SUM(gap_ns > 0) AS gaps, SUM(gap_ns) AS total_ns,
         MAX(longest_ns) AS longest_ns, SUM(gap_ns > 1000000) AS stalls,
         MIN(CASE WHEN gap_ns > 0 AND gap_ns = longest_ns THEN until_ns END) AS longest_from_ns,
         SUM(MAX(ends - MAX(begins, until_ns), 0)) AS busy_ns
  FROM gaps
  GROUP BY device, stream, process, context
)
SELECT s.stream AS streamId,
       s.kernels AS kernel_count,
       ROUND((s.last_ns - s.first_ns) / 1e6 * 100) / 100 AS span_ms,
       ROUND(s.kernel_ns / 1e6 * 100) / 100 AS total_kernel_ms,
       ROUND(s.kernels / (NULLIF(s.last_ns - s.first_ns, 0) / 1e6) * 10) / 10
         AS dispatch_rate_per_ms,
       ROUND(100.0 * p.busy_ns / (s.last_ns - s.first_ns) * 10) / 10 AS occupancy_pct,
       ROUND(CAST(s.kernel_ns AS REAL) / s.kernels / 1e3 * 10) / 10 AS avg_kernel_us,
       ROUND(p.longest_ns / 1e6 * 1000) / 1000 AS max_gap_ms,
       ROUND(CAST(p.total_ns AS REAL) / NULLIF(p.gaps, 0) / 1e3 * 10) / 10 AS avg_gap_us,
       p.stalls AS sync_stalls,
       s.device AS deviceId,
       (s.process >> 24) & 16777215 AS pid,
       s.last_ns - s.first_ns AS span_ns,
       p.longest_ns AS max_gap_ns,
       p.longest_from_ns AS max_gap_start_ns
FROM streams s
JOIN pauses p ON p.device IS s.device AND p.stream IS s.stream AND p.process IS s.process
             AND p.context IS s.context
ORDER BY s.kernels DESC, s.stream, s.device, s.process, s.context
LIMIT {limit})sql";

}  // namespace

Skill skill_kernel_launch_pattern() {
  return {
      .name = "kernel_launch_pattern",
      .category = Category::kKernels,
      .title = "Kernel Launch Pattern Analysis",
      .doc = "How steadily each stream gets kernels: rate, occupancy, gaps and long pauses.",
      .needs = {TableId::kKernel},
      .reads = {{TableId::kKernel, {Column::kTime, Column::kLane}},
                {TableId::kGraphTrace, {Column::kTime, Column::kLane}}},
      .params = {Param::Count("limit", 10, "largest number of streams to list")},
      .columns =
          {{"streamId", Unit::kId, "CUDA stream", "Stream"},
           {"kernel_count", Unit::kCount, "kernels of the stream", "Kernels"},
           {"span_ms", Unit::kMs, "first start to last end of its kernels", "Span",
            DurationCell("span_ns")},
           {"total_kernel_ms", Unit::kMs, "summed kernel time"},
           {"dispatch_rate_per_ms", Unit::kCount, "kernels / span in ms; null when the span is 0",
            "Kernels/ms"},
           {"occupancy_pct", Unit::kPct,
            "time with a kernel or a whole-traced graph of the stream / span; null when the span "
            "is 0",
            "Busy"},
           {"avg_kernel_us", Unit::kUs, "mean kernel duration", "Mean kernel"},
           {"max_gap_ms", Unit::kMs,
            "longest time in which the stream had nothing to run; 0 if none", "Max gap",
            DurationCell("max_gap_ns")},
           {"avg_gap_us", Unit::kUs, "mean of all gaps; null if none", "Mean gap"},
           {"sync_stalls", Unit::kCount, "gaps of more than 1 ms, whatever caused them",
            "Gaps >1 ms"},
           {"deviceId", Unit::kId, "CUDA device", "Device"},
           {"pid", Unit::kId, "process id, null when the capture does not tell", "PID"},
           {"span_ns", Unit::kNs, "the span, exact"},
           {"max_gap_ns", Unit::kNs, "the longest gap, exact"},
           {"max_gap_start_ns", Unit::kTimeNs, "where it begins; null if there is none"}},
      .empty_text = "no kernels in the window",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
