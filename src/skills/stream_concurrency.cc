// SPDX-License-Identifier: MIT
// How much do the streams do, and how much of it at the same time?
//
// Kernels of all devices inside the window, one row per stream (process, device, context, stream).
// stream_util = union of its kernels / (last end − first start); sum_util = Σ of all kernel
// durations / span of all kernels, above 100 % when streams or GPUs work at once.
// Order: exact kernel time descending, device, stream.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <optional>

#include <fmt/core.h>

#include "analysis/cells.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "base/sort_runs.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

struct Stream {
  LaneId lane{};
  int64_t total_ns = 0;
  int64_t max_ns = 0;
  Hull hull;
  std::vector<Span> kernels;
  Span span() const { return hull.span().value_or(Span{}); }
};

// What a device's kernels do at the same time as each other and as its copies.
struct DeviceConcurrency {
  int64_t most_at_once = 0;
  int64_t two_or_more_ns = 0;
  std::optional<int64_t> copy_ns;  // nothing without a copy table
  std::optional<int64_t> copy_overlapped_ns;
};

std::vector<Stream> CollectStreams(const Query& query) {
  const KernelTable& kernels = query.trace.kernels;
  std::vector<Stream> by_lane(query.trace.lanes.size());
  for (size_t row = 0; row < kernels.size(); ++row) {
    const Span span = kernels.span(row);
    if (!Contains(query.window, span.begin_ns, span.end_ns)) {
      continue;
    }
    Stream& stream = by_lane[Index(kernels.lane[row])];
    stream.lane = kernels.lane[row];
    stream.total_ns += span.length_ns();
    stream.max_ns = std::max(stream.max_ns, span.length_ns());
    stream.hull.Add(span);
    stream.kernels.push_back(span);
  }
  std::erase_if(by_lane, [](const Stream& stream) { return stream.kernels.empty(); });
  return by_lane;
}

// The largest number of spans that hold one point, and the length of the points in two or more.
void CountDepth(const std::vector<Span>& spans, DeviceConcurrency& out) {
  // At one time ends sort before starts: spans are half-open.
  std::vector<std::pair<int64_t, int>> edges;
  for (const Span& span : spans) {
    if (span.length_ns() == 0) {
      continue;
    }
    edges.emplace_back(span.begin_ns, 1);
    edges.emplace_back(span.end_ns, -1);
  }
  SortByRuns(edges, std::less<>());
  int64_t depth = 0;
  int64_t since = 0;
  for (const auto& [time, step] : edges) {
    if (depth >= 2) {
      out.two_or_more_ns += time - since;
    }
    since = time;
    depth += step;
    out.most_at_once = std::max(out.most_at_once, depth);
  }
}

std::map<std::optional<int64_t>, DeviceConcurrency> Concurrency(
    const Query& query, const std::vector<Stream>& streams) {
  const Trace& trace = query.trace;
  std::map<std::optional<int64_t>, std::vector<Span>> kernels;
  for (const Stream& stream : streams) {
    auto& spans = kernels[trace.lanes[Index(stream.lane)].device];
    spans.insert(spans.end(), stream.kernels.begin(), stream.kernels.end());
  }
  std::map<std::optional<int64_t>, std::vector<Span>> copies;
  for (size_t row = 0; row < trace.copies.size(); ++row) {
    if (!Contains(query.window, trace.copies.start_ns[row], trace.copies.end_ns[row])) {
      continue;
    }
    copies[trace.DeviceOf(trace.copies, row)].push_back(trace.copies.span(row));
  }
  std::map<std::optional<int64_t>, DeviceConcurrency> result;
  for (auto& [device, spans] : kernels) {
    DeviceConcurrency& one = result[device];
    CountDepth(spans, one);
    if (trace.schema.Has(TableId::kMemcpy)) {
      const SpanSet copying = Union(std::move(copies[device]));
      one.copy_ns = Length(copying);
      one.copy_overlapped_ns = Length(Intersect(copying, Union(std::move(spans))));
    }
  }
  return result;
}

// What all streams together did; repeated in every row.
struct Totals {
  Hull hull;
  int64_t kernel_ns = 0;
  size_t kernels = 0;
  size_t streams = 0;
  int64_t span_ns() const { return hull.span().value_or(Span{}).length_ns(); }
};

Totals Total(const std::vector<Stream>& streams) {
  Totals totals{.streams = streams.size()};
  for (const Stream& stream : streams) {
    totals.hull.Add(stream.span());
    totals.kernel_ns += stream.total_ns;
    totals.kernels += stream.kernels.size();
  }
  return totals;
}

double RoundedMs(int64_t ns, int decimals) { return NsToMs(ns, decimals, Rounding::kHalfAway); }

std::optional<double> RoundedPct(int64_t part_ns, int64_t whole_ns) {
  return Percent(part_ns, whole_ns, 1, Rounding::kHalfAway);
}

Value CopyMs(std::optional<int64_t> ns) { return ns ? Value(RoundedMs(*ns, 3)) : Value(); }

Object MakeRow(const Trace& trace, const Stream& stream, const Totals& totals,
               const DeviceConcurrency& device) {
  const Lane& lane = trace.lanes[Index(stream.lane)];
  return {{"deviceId", lane.device},
          {"streamId", lane.stream},
          {"kernel_count", stream.kernels.size()},
          {"total_gpu_ms", RoundedMs(stream.total_ns, 2)},
          {"avg_kernel_us",
           MeanUs(stream.total_ns, std::ssize(stream.kernels), 1, Rounding::kHalfAway)},
          {"max_kernel_ms", RoundedMs(stream.max_ns, 3)},
          {"stream_span_ms", RoundedMs(stream.span().length_ns(), 2)},
          {"stream_util_pct", RoundedPct(Length(Union(stream.kernels)), stream.span().length_ns())},
          {"active_streams", totals.streams},
          {"total_kernels", totals.kernels},
          {"global_span_ms", RoundedMs(totals.span_ns(), 2)},
          {"sum_util_pct", RoundedPct(totals.kernel_ns, totals.span_ns())},
          {"pid", PidCell(lane)},
          {"total_gpu_ns", stream.total_ns},
          {"device_max_concurrent_kernels", device.most_at_once},
          {"device_concurrent_ms", RoundedMs(device.two_or_more_ns, 3)},
          {"device_copy_ms", CopyMs(device.copy_ns)},
          {"device_copy_overlapped_ms", CopyMs(device.copy_overlapped_ns)}};
}

void AddNotes(const Totals& totals,
              const std::map<std::optional<int64_t>, DeviceConcurrency>& concurrency,
              Answer& answer) {
  answer.notes.push_back(fmt::format(
      "{}, {} in {}; kernel time summed over all streams is {:.1f} % of that.",
      Counted(static_cast<int64_t>(totals.streams), "active stream"),
      Counted(static_cast<int64_t>(totals.kernels), "kernel"), FormatDuration(totals.span_ns()),
      RoundedPct(totals.kernel_ns, totals.span_ns()).value_or(0)));
  for (const auto& [device, one] : concurrency) {
    std::string note = fmt::format(
        "Device {}: at most {} at once, two or more for {}", device ? std::to_string(*device) : "?",
        Counted(one.most_at_once, "kernel"), FormatDuration(one.two_or_more_ns));
    if (one.copy_ns) {
      note += fmt::format("; copies {}, of which {} beside kernels", FormatDuration(*one.copy_ns),
                          FormatDuration(*one.copy_overlapped_ns));
    }
    answer.notes.push_back(note + ".");
  }
}

Result<Answer> Run(const Query& query) {
  std::vector<Stream> streams = CollectStreams(query);
  Answer answer;
  if (streams.empty()) {
    return answer;
  }
  const auto concurrency = Concurrency(query, streams);
  const Totals totals = Total(streams);
  std::stable_sort(streams.begin(), streams.end(),
                   [](const Stream& a, const Stream& b) { return a.total_ns > b.total_ns; });
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  for (size_t i = 0; i < streams.size() && i < limit; ++i) {
    const auto device = query.trace.lanes[Index(streams[i].lane)].device;
    answer.rows.push_back(MakeRow(query.trace, streams[i], totals, concurrency.at(device)));
  }
  AddNotes(totals, concurrency, answer);
  return answer;
}

// Captures without a copy table give no answer by this statement.
constexpr std::string_view kSql = R"sql(WITH picked AS (
  SELECT k.deviceId AS device, k.streamId AS stream, k.globalPid AS process,
         k.contextId AS context, k.start AS begins, k.[end] AS ends
  FROM {kernel_table} k
  WHERE k.[end] >= k.start {trim_clause}
),
copies AS (
  SELECT k.deviceId AS device, k.start AS begins, k.[end] AS ends
  FROM {memcpy_table} k
  WHERE k.[end] >= k.start {trim_clause}
),
-- Of each kernel what no earlier one of its stream covers: summed, the time with at least one.
streams AS (
  SELECT device, stream, process, context, COUNT(*) AS kernels, SUM(ends - begins) AS total_ns,
         MAX(ends - begins) AS max_ns, MIN(begins) AS first_ns, MAX(ends) AS last_ns,
         SUM(MAX(ends - MAX(begins, covered), 0)) AS busy_ns
  FROM (SELECT *, COALESCE(MAX(ends) OVER (
          PARTITION BY device, stream, process, context ORDER BY begins, ends
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), begins) AS covered
        FROM picked)
  GROUP BY device, stream, process, context
),
totals AS (
  SELECT COUNT(*) AS streams, SUM(kernels) AS kernels, SUM(total_ns) AS total_ns,
         MAX(last_ns) - MIN(first_ns) AS span_ns
  FROM streams
),
-- How many kernels of a device run at once, from each begin and end to the next.
edges AS (
  SELECT device, begins AS at_ns, 1 AS step FROM picked WHERE ends > begins
  UNION ALL
  SELECT device, ends, -1 FROM picked WHERE ends > begins
),
depths AS (
  SELECT device, at_ns, SUM(step) OVER in_order AS depth, LEAD(at_ns) OVER in_order AS next_ns
  FROM edges
  WINDOW in_order AS (PARTITION BY device ORDER BY at_ns, step ROWS UNBOUNDED PRECEDING)
),
devices AS (
  SELECT device, MAX(depth) AS most_at_once,
         SUM(CASE WHEN depth >= 2 THEN next_ns - at_ns ELSE 0 END) AS concurrent_ns
  FROM depths
  GROUP BY device
),
-- Kernels and copies together are copies + kernels - either.
spans AS (
  SELECT device, 'kernel' AS what, begins, ends FROM picked
  UNION ALL SELECT device, 'copy', begins, ends FROM copies
  UNION ALL SELECT device, 'either', begins, ends FROM picked
  UNION ALL SELECT device, 'either', begins, ends FROM copies
),
lengths AS (
  SELECT device, what, SUM(MAX(ends - MAX(begins, covered), 0)) AS ns
  FROM (SELECT *, COALESCE(MAX(ends) OVER (
          PARTITION BY device, what ORDER BY begins, ends
          ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), begins) AS covered
        FROM spans)
  GROUP BY device, what
),
beside AS (
  SELECT device, SUM(CASE what WHEN 'copy' THEN ns ELSE 0 END) AS copy_ns,
         SUM(CASE what WHEN 'either' THEN -ns ELSE ns END) AS overlapped_ns
  FROM lengths
  GROUP BY device
)
SELECT s.device AS deviceId,
       s.stream AS streamId,
       s.kernels AS kernel_count,
       ROUND(s.total_ns / 1e6 * 100) / 100 AS total_gpu_ms,
       ROUND(CAST(s.total_ns AS REAL) / s.kernels / 1e3 * 10) / 10 AS avg_kernel_us,
       ROUND(s.max_ns / 1e6 * 1000) / 1000 AS max_kernel_ms,
       ROUND((s.last_ns - s.first_ns) / 1e6 * 100) / 100 AS stream_span_ms,
       ROUND(100.0 * s.busy_ns / (s.last_ns - s.first_ns) * 10) / 10 AS stream_util_pct,
       t.streams AS active_streams,
       t.kernels AS total_kernels,
       ROUND(t.span_ns / 1e6 * 100) / 100 AS global_span_ms,
       ROUND(100.0 * t.total_ns / t.span_ns * 10) / 10 AS sum_util_pct,
       (s.process >> 24) & 16777215 AS pid,
       s.total_ns AS total_gpu_ns,
       COALESCE(d.most_at_once, 0) AS device_max_concurrent_kernels,
       ROUND(COALESCE(d.concurrent_ns, 0) / 1e6 * 1000) / 1000 AS device_concurrent_ms,
       ROUND(b.copy_ns / 1e6 * 1000) / 1000 AS device_copy_ms,
       ROUND(b.overlapped_ns / 1e6 * 1000) / 1000 AS device_copy_overlapped_ms
FROM streams s
JOIN totals t
JOIN beside b ON b.device IS s.device
LEFT JOIN devices d ON d.device IS s.device
ORDER BY s.total_ns DESC, s.device, s.stream, s.process, s.context
LIMIT {limit})sql";

}  // namespace

Skill skill_stream_concurrency() {
  return {
      .name = "stream_concurrency",
      .category = Category::kKernels,
      .title = "Stream Concurrency Analysis",
      .doc =
          "Kernel time and occupancy of each stream, kernels that run at once, and copies that "
          "kernels hide.",
      .needs = {TableId::kKernel},
      .reads = {{TableId::kKernel, {Column::kTime, Column::kLane}},
                {TableId::kMemcpy, {Column::kTime, Column::kLane}}},
      .params = {Param::Count("limit", 10, "largest number of streams to list")},
      .columns =
          {{"deviceId", Unit::kId, "CUDA device", "Device"},
           {"streamId", Unit::kId, "CUDA stream", "Stream"},
           {"kernel_count", Unit::kCount, "kernels of the stream", "Kernels"},
           {"total_gpu_ms", Unit::kMs, "summed kernel time of the stream", "Kernel time",
            DurationCell("total_gpu_ns")},
           {"avg_kernel_us", Unit::kUs, "mean kernel duration", "Mean"},
           {"max_kernel_ms", Unit::kMs, "longest kernel", "Max"},
           {"stream_span_ms", Unit::kMs, "first start to last end", "Span"},
           {"stream_util_pct", Unit::kPct,
            "time with a kernel of the stream / span; null when the span is 0", "Busy"},
           {"active_streams", Unit::kCount, "streams with kernels, all devices"},
           {"total_kernels", Unit::kCount, "kernels of all streams"},
           {"global_span_ms", Unit::kMs, "first start to last end of all kernels"},
           {"sum_util_pct", Unit::kPct, "kernel time of all streams / that span; may exceed 100"},
           {"pid", Unit::kId, "process id, null when the capture does not tell", "PID"},
           {"total_gpu_ns", Unit::kNs, "summed kernel time of the stream, exact"},
           {"device_max_concurrent_kernels", Unit::kCount,
            "most kernels of the device at one time"},
           {"device_concurrent_ms", Unit::kMs, "time with two or more kernels of the device"},
           {"device_copy_ms", Unit::kMs,
            "time with a copy of the device; null without a copy table"},
           {"device_copy_overlapped_ms", Unit::kMs, "the part of it with a kernel of the device"}},
      .empty_text = "no kernels in the window",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
