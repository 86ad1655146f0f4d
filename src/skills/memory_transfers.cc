// SPDX-License-Identifier: MIT
// How much was copied in each direction, and how long did it take?
//
// Copies of all devices inside the window, grouped by copy kind: count, Σ bytes, Σ (end − start).
// Order: exact time descending, then copy kind.
#include <algorithm>
#include <map>

#include "analysis/copy_kind.h"
#include "base/number.h"
#include "skills/skills.h"

namespace nsys {
namespace {

struct Group {
  int32_t kind = 0;
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t ns = 0;
};

Result<Answer> Run(const Query& query) {
  const CopyTable& copies = query.trace.copies;
  std::map<int32_t, Group> by_kind;
  for (size_t row = 0; row < copies.size(); ++row) {
    if (!Contains(query.window, copies.start_ns[row], copies.end_ns[row])) {
      continue;
    }
    Group& group = by_kind[copies.kind[row]];
    group.kind = copies.kind[row];
    ++group.count;
    group.bytes += copies.bytes[row];
    group.ns += copies.duration_ns(row);
  }
  std::vector<Group> groups;
  for (const auto& [kind, group] : by_kind) {
    groups.push_back(group);
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const Group& a, const Group& b) { return a.ns > b.ns; });
  Answer answer;
  for (const Group& group : groups) {
    answer.rows.push_back({{"copyKind", int64_t{group.kind}},
                           {"count", group.count},
                           {"total_mb", BytesToMb(group.bytes, 2, Rounding::kHalfAway)},
                           {"total_ms", NsToMs(group.ns, 2, Rounding::kHalfAway)},
                           {"direction", CopyKindName(group.kind)},
                           {"total_bytes", group.bytes},
                           {"total_ns", group.ns}});
  }
  answer.notes.emplace_back(
      "Summed over all GPUs; copies that run at the same time count in full each.");
  return answer;
}

constexpr std::string_view kSql = R"sql(SELECT k.copyKind,
       COUNT(*) AS count,
       ROUND(SUM(k.bytes) / 1e6 * 100) / 100 AS total_mb,
       ROUND(SUM(k.[end] - k.start) / 1e6 * 100) / 100 AS total_ms,
       k.direction,
       SUM(k.bytes) AS total_bytes,
       SUM(k.[end] - k.start) AS total_ns
FROM memcpy k
WHERE k.[end] >= k.start {trim_clause}
GROUP BY k.copyKind
ORDER BY total_ns DESC, k.copyKind)sql";

}  // namespace

Skill skill_memory_transfers() {
  return {.name = "memory_transfers",
          .category = Category::kMemory,
          .title = "Memory Transfer Summary",
          .doc = "Sums memory copies by direction (H2D, D2H, D2D, P2P, …), over all GPUs.",
          .needs = {TableId::kMemcpy},
          .reads = {{TableId::kMemcpy, {Column::kTime, Column::kBytes, Column::kKind}}},
          .columns = {{"copyKind", Unit::kId, "number of ENUM_CUDA_MEMCPY_OPER"},
                      {"count", Unit::kCount, "number of copies", "Copies"},
                      {"total_mb", Unit::kMb, "bytes copied / 10^6", "MB"},
                      {"total_ms", Unit::kMs, "summed duration", "Time", DurationCell("total_ns")},
                      {"direction", Unit::kText, "the copy kind in words", "Direction"},
                      {"total_bytes", Unit::kCount, "bytes copied, exact"},
                      {"total_ns", Unit::kNs, "summed duration, exact"}},
          .empty_text = "no memory copies in the window",
          .run = Run,
          .sql = kSql};
}

}  // namespace nsys
