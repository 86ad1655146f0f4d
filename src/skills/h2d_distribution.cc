// SPDX-License-Identifier: MIT
// When were bytes copied from the host to a device: at the start, in bursts, or all the time?
//
// Host-to-device copies of one device inside the window, by second from the first of them; a copy
// belongs wholly to the second in which it starts. avg_gbps = Σ bytes / Σ ns (bytes / ns = GB/s).
// The `_pattern` row says what the seconds look like; rules in analysis/h2d.h. Order: second.

#include <fmt/core.h>

#include "analysis/h2d.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

double Mb(int64_t bytes) { return static_cast<double>(bytes) / 1e6; }

Object MakeRow(const H2dSecond& one) {
  return {{"second", one.second},         {"ops", one.copies},
          {"total_mb", Mb(one.bytes)},    {"avg_gbps", Ratio(one.bytes, one.copy_ns)},
          {"window_start", one.first_ns}, {"window_end", one.last_ns},
          {"total_bytes", one.bytes},     {"total_ns", one.copy_ns}};
}

// "25.5 MB", or the exact number where that would read 0.
std::string Amount(int64_t bytes) {
  constexpr int64_t kLeastMb = 100'000;
  return bytes < kLeastMb ? Counted(bytes, "byte") : fmt::format("{:.1f} MB", Mb(bytes));
}

// "second 3 (120.0 MB), second 7 (98.1 MB)", at most five.
std::string SpikeWords(const H2dDistribution& found) {
  constexpr size_t kQuoted = 5;
  std::vector<std::string> words;
  for (size_t i = 0; i < found.spikes.size() && i < kQuoted; ++i) {
    const H2dSecond& one = found.seconds[found.spikes[i]];
    words.push_back(fmt::format("second {} ({})", one.second, Amount(one.bytes)));
  }
  const size_t more = found.spikes.size() - words.size();
  return Join(words, ", ") + (more > 0 ? fmt::format(" and {} more", more) : "");
}

std::string Detail(const H2dDistribution& found) {
  const double early_pct = 100.0 * Ratio(found.early_bytes, found.bytes);
  switch (found.pattern) {
    case H2dPattern::kNone:
      return "the copies carry no bytes";
    case H2dPattern::kTooShort:
      return fmt::format(
          "{}; only {} were recorded from the first copy on, and a start cannot be told "
          "from the rest in less than {:.0f} s",
          Amount(found.bytes), FormatDuration(found.seen_ns), kLeastH2dSpanNs / 1e9);
    case H2dPattern::kInitHeavy:
      return fmt::format(
          "{} of {} ({:.0f} %) in the first two seconds of copying, as when data is "
          "loaded once",
          Amount(found.early_bytes), Amount(found.bytes), early_pct);
    case H2dPattern::kSpike:
      return fmt::format("more than three times the median second ({}): {}",
                         Amount(found.median_bytes), SpikeWords(found));
    case H2dPattern::kSpreadOut:
      return fmt::format("{} over {} seconds with copies, none of which stands out",
                         Amount(found.bytes), found.seconds.size());
    case H2dPattern::kUnknown:
      break;
  }
  return fmt::format("{} in {} seconds with copies: too few to compare", Amount(found.bytes),
                     found.seconds.size());
}

Object PatternRow(const H2dDistribution& found, int64_t device) {
  Object row{{"_pattern", true}, {"type", PatternName(found.pattern)}, {"detail", Detail(found)}};
  if (found.pattern != H2dPattern::kSpike) {
    return row;
  }
  List seconds;
  List spikes;
  for (const size_t at : found.spikes) {
    const H2dSecond& one = found.seconds[at];
    seconds.emplace_back(one.second);
    spikes.emplace_back(Object{{"second", one.second},
                               {"total_mb", Mb(one.bytes)},
                               {"window_start", one.first_ns},
                               {"window_end", one.last_ns}});
  }
  row.Set("spike_seconds", std::move(seconds));
  row.Set("spikes", std::move(spikes));
  row.Set("gpu_id", device);
  return row;
}

Result<Answer> Run(const Query& query) {
  const int64_t device = query.params.Int("device");
  const auto found = ComputeH2d(query.trace, device, query.window);
  Answer answer;
  if (!found) {
    return answer;
  }
  for (const H2dSecond& one : found->seconds) {
    answer.rows.push_back(MakeRow(one));
  }
  answer.about.push_back(PatternRow(*found, device));
  answer.notes.push_back(
      fmt::format("Pattern {}: {}.", PatternName(found->pattern), Detail(*found)));
  answer.notes.emplace_back(
      "Seconds count from the first copy; a copy belongs to the second in which it starts.");
  return answer;
}

constexpr std::string_view kSql = R"sql(WITH copies AS (
  SELECT (k.start - MIN(k.start) OVER ()) / 1000000000 AS second, k.start AS begins,
         k.[end] AS ends, CASE WHEN k.bytes > 0 THEN k.bytes ELSE 0 END AS bytes
  FROM {memcpy_table} k
  WHERE k.copyKind = 1 AND k.deviceId = {device} AND k.[end] >= k.start {trim_clause}
)
SELECT second,
       COUNT(*) AS ops,
       SUM(bytes) / 1e6 AS total_mb,
       -- bytes per nanosecond are GB/s; 0 without a duration
       COALESCE(CAST(SUM(bytes) AS REAL) / NULLIF(SUM(ends - begins), 0), 0.0) AS avg_gbps,
       MIN(begins) AS window_start,
       MAX(ends) AS window_end,
       SUM(bytes) AS total_bytes,
       SUM(ends - begins) AS total_ns
FROM copies
GROUP BY second
ORDER BY second)sql";

}  // namespace

Skill skill_h2d_distribution() {
  return {
      .name = "h2d_distribution",
      .category = Category::kMemory,
      .title = "H2D Transfer Time Distribution",
      .doc = "Host-to-device copies of one GPU, second by second, and the pattern they make.",
      .needs = {TableId::kMemcpy},
      .reads = {{TableId::kMemcpy, {Column::kTime, Column::kLane, Column::kBytes, Column::kKind}},
                {TableId::kKernel, {Column::kTime}}},
      .params = {Param::Device()},
      .columns = {{"second", Unit::kId, "whole seconds since the first copy", "Second"},
                  {"ops", Unit::kCount, "copies that start in that second", "Copies"},
                  {"total_mb", Unit::kMb, "their bytes / 10^6, not rounded", "MB"},
                  {"avg_gbps", Unit::kGbps,
                   "their summed bytes / summed duration, not rounded; 0 without duration", "GB/s"},
                  {"window_start", Unit::kTimeNs, "start of the first of them", "First start ns"},
                  {"window_end", Unit::kTimeNs, "end of the last to end", "Last end ns"},
                  {"total_bytes", Unit::kCount, "their bytes, exact"},
                  {"total_ns", Unit::kNs, "their summed duration, exact", "Copy time",
                   DurationCell("total_ns")}},
      .about_columns = {{"_pattern", Unit::kFlag, "true: the row is about all seconds"},
                        {"type", Unit::kText,
                         "none, too_short (less than 3 s from the first copy to the end), "
                         "init_heavy (more than 80 % of the bytes in seconds 0 and 1), spike (a "
                         "second above three times the median), spread_out or unknown"},
                        {"detail", Unit::kText, "the figures behind it"},
                        {"spike_seconds", Unit::kNested, "seconds that stand out; spike only"},
                        {"spikes", Unit::kNested, "their volume and times; spike only"},
                        {"gpu_id", Unit::kId, "CUDA device; spike only"}},
      .empty_text = "no host-to-device copies on this GPU in the window",
      .run = Run,
      .sql = kSql};
}

}  // namespace nsys
