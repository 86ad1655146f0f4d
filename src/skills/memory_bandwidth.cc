// SPDX-License-Identifier: MIT
// How fast were the copies of a device, in each direction?
//
// Copies of one device that touch the window, in full, grouped by copy kind.
// avg_bandwidth = Σ bytes / Σ ns; peak_bandwidth = the largest bytes / ns of one copy with a
// duration (bytes / ns = GB/s). Order: exact bytes descending, then copy kind. `_metadata` lists
// the longest copies of more than 10 MB.
#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/copy_kind.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

constexpr int64_t kLargeCopyBytes = 10'000'000;

struct Group {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t ns = 0;
  int64_t max_bytes = 0;
  double peak_gbps = 0;
};

Object MakeRow(int32_t kind, const Group& group) {
  return {{"copyKind", int64_t{kind}},
          {"op_count", group.count},
          {"total_mb", BytesToMb(group.bytes, 2, Rounding::kHalfAway)},
          {"avg_kb", RoundHalfAway(Ratio(group.bytes, group.count) / 1e3, 1)},
          {"max_mb", BytesToMb(group.max_bytes, 2, Rounding::kHalfAway)},
          {"total_dur_ms", NsToMs(group.ns, 2, Rounding::kHalfAway)},
          {"avg_dur_us", MeanUs(group.ns, group.count, 1, Rounding::kHalfAway)},
          {"avg_bandwidth_gbps", RoundHalfAway(Ratio(group.bytes, group.ns), 2)},
          {"peak_bandwidth_gbps", RoundHalfAway(group.peak_gbps, 2)},
          {"direction", CopyKindName(kind)},
          {"total_ns", group.ns}};
}

// The `limit` longest of the copies `found` that are large.
std::vector<uint32_t> LargeCopies(const CopyTable& copies, std::vector<uint32_t> found,
                                  int64_t limit) {
  std::erase_if(found, [&](uint32_t row) { return copies.bytes[row] <= kLargeCopyBytes; });
  std::sort(found.begin(), found.end(), [&](uint32_t a, uint32_t b) {
    if (copies.duration_ns(a) != copies.duration_ns(b)) {
      return copies.duration_ns(a) > copies.duration_ns(b);
    }
    if (copies.start_ns[a] != copies.start_ns[b]) {
      return copies.start_ns[a] < copies.start_ns[b];
    }
    if (copies.kind[a] != copies.kind[b]) {
      return copies.kind[a] < copies.kind[b];
    }
    return copies.bytes[a] > copies.bytes[b];
  });
  found.resize(std::min(found.size(), static_cast<size_t>(limit)));
  return found;
}

// One large copy, for the row about the data and for people.
void AddLargeCopy(const CopyTable& copies, uint32_t row, List& list, Answer& answer) {
  const int64_t bytes = copies.bytes[row];
  const int64_t ns = copies.duration_ns(row);
  list.emplace_back(Object{{"copyKind", int64_t{copies.kind[row]}},
                           {"bytes", bytes},
                           {"start", copies.start_ns[row]},
                           {"end", copies.end_ns[row]},
                           {"dur_ns", ns}});
  answer.notes.push_back(
      fmt::format("Large copy: {} {:.1f} MB in {} ({:.2f} GB/s), starts at {} ns.",
                  CopyKindName(copies.kind[row]), static_cast<double>(bytes) / 1e6,
                  FormatDuration(ns), Ratio(bytes, ns), copies.start_ns[row]));
}

Result<Answer> Run(const Query& query) {
  const CopyTable& copies = query.trace.copies;
  const int64_t device = query.params.Int("device");
  const LanesOnDevice on_device(query.trace, device);
  std::map<int32_t, Group> by_kind;
  std::vector<uint32_t> found;
  for (uint32_t row = 0; row < copies.size(); ++row) {
    if (!on_device(copies.lane[row]) ||
        !Touches(query.window, copies.start_ns[row], copies.end_ns[row])) {
      continue;
    }
    found.push_back(row);
    Group& group = by_kind[copies.kind[row]];
    ++group.count;
    group.bytes += copies.bytes[row];
    group.ns += copies.duration_ns(row);
    group.max_bytes = std::max(group.max_bytes, copies.bytes[row]);
    group.peak_gbps = std::max(group.peak_gbps, Ratio(copies.bytes[row], copies.duration_ns(row)));
  }
  Answer answer;
  if (found.empty()) {
    return answer;
  }
  std::vector<std::pair<int32_t, Group>> groups(by_kind.begin(), by_kind.end());
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return a.second.bytes > b.second.bytes; });
  for (const auto& [kind, group] : groups) {
    answer.rows.push_back(MakeRow(kind, group));
  }
  List large;
  for (const uint32_t row : LargeCopies(copies, std::move(found), query.params.Int("limit"))) {
    AddLargeCopy(copies, row, large, answer);
  }
  answer.about.push_back(
      {{"_metadata", true}, {"anomalies", std::move(large)}, {"device_id", device}});
  return answer;
}

constexpr std::string_view kSql = R"sql(SELECT k.copyKind,
       COUNT(*) AS op_count,
       ROUND(SUM(k.bytes) / 1e6 * 100) / 100 AS total_mb,
       ROUND(CAST(SUM(k.bytes) AS REAL) / COUNT(*) / 1e3 * 10) / 10 AS avg_kb,
       ROUND(MAX(k.bytes) / 1e6 * 100) / 100 AS max_mb,
       ROUND(SUM(k.[end] - k.start) / 1e6 * 100) / 100 AS total_dur_ms,
       ROUND(CAST(SUM(k.[end] - k.start) AS REAL) / COUNT(*) / 1e3 * 10) / 10 AS avg_dur_us,
       -- bytes per nanosecond are GB/s; 0 without a duration
       ROUND(COALESCE(CAST(SUM(k.bytes) AS REAL) / NULLIF(SUM(k.[end] - k.start), 0), 0) * 100)
         / 100 AS avg_bandwidth_gbps,
       ROUND(MAX(COALESCE(CAST(k.bytes AS REAL) / NULLIF(k.[end] - k.start, 0), 0)) * 100)
         / 100 AS peak_bandwidth_gbps,
       k.direction,
       SUM(k.[end] - k.start) AS total_ns
FROM memcpy k
WHERE k.deviceId = {device} AND k.[end] >= k.start
  -- what touches the window, in full
  AND ({trim_start_ns} IS NULL OR (k.[end] >= {trim_start_ns} AND k.start <= {trim_end_ns}))
GROUP BY k.copyKind
ORDER BY SUM(k.bytes) DESC, k.copyKind)sql";

}  // namespace

Skill skill_memory_bandwidth() {
  return {
      .name = "memory_bandwidth",
      .category = Category::kMemory,
      .title = "Memory Bandwidth & Utilization",
      .doc =
          "Throughput of the copies of one GPU by direction: mean and peak GB/s, and the longest "
          "large copies.",
      .needs = {TableId::kMemcpy},
      .reads = {{TableId::kMemcpy, {Column::kTime, Column::kLane, Column::kBytes, Column::kKind}}},
      .params = {Param::Device(),
                 Param::Count("limit", 5, "largest number of large copies to list")},
      .window_rule = WindowRule::kTouch,
      .columns = {{"copyKind", Unit::kId, "number of ENUM_CUDA_MEMCPY_OPER"},
                  {"op_count", Unit::kCount, "number of copies", "Copies"},
                  {"total_mb", Unit::kMb, "bytes copied / 10^6", "MB"},
                  {"avg_kb", Unit::kKb, "mean bytes per copy / 10^3", "Mean kB"},
                  {"max_mb", Unit::kMb, "largest copy / 10^6 bytes"},
                  {"total_dur_ms", Unit::kMs, "summed duration", "Time", DurationCell("total_ns")},
                  {"avg_dur_us", Unit::kUs, "mean duration"},
                  {"avg_bandwidth_gbps", Unit::kGbps,
                   "summed bytes / summed duration; 0 without duration", "Mean GB/s"},
                  {"peak_bandwidth_gbps", Unit::kGbps,
                   "fastest single copy; 0 when none has a duration", "Peak GB/s"},
                  {"direction", Unit::kText, "the copy kind in words", "Direction"},
                  {"total_ns", Unit::kNs, "summed duration, exact"}},
      .about_columns =
          {{"_metadata", Unit::kFlag, "true: the row is about single copies"},
           {"anomalies", Unit::kNested,
            "the longest copies of more than 10 MB: copyKind, bytes, start, end, dur_ns"},
           {"device_id", Unit::kId, "CUDA device"}},
      .empty_text = "no memory copies on this GPU in the window",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
