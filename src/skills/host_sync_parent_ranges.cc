// SPDX-License-Identifier: MIT
// Which annotated code made the host wait?
//
// A range whose text holds one of the `patterns` as a word is a wait; it counts for every range of
// its thread around it, once per parent: of nested waits the outermost (analysis/sync_parents.h).
// Parents are grouped by normal label (trace/nvtx_labels.h). sync_ns = time within these waits, so
// at most the time of the parent's ranges; parents contain each other, so rows do not add up.
// Order: sync_ns descending, text.
#include <algorithm>

#include <fmt/core.h>

#include "analysis/sync_parents.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

// The parts of a list with commas, in lower case, without blanks around them; empty ones left out.
std::vector<std::string> SplitPatterns(std::string_view list) {
  std::vector<std::string> parts;
  while (!list.empty()) {
    const size_t comma = std::min(list.find(','), list.size());
    std::string_view part = list.substr(0, comma);
    list.remove_prefix(std::min(comma + 1, list.size()));
    while (!part.empty() && part.front() == ' ') {
      part.remove_prefix(1);
    }
    while (!part.empty() && part.back() == ' ') {
      part.remove_suffix(1);
    }
    if (!part.empty()) {
      parts.push_back(LowerAscii(part));
    }
  }
  return parts;
}

Result<Answer> Run(const Query& query) {
  const std::vector<std::string> patterns = SplitPatterns(query.params.Text("patterns"));
  if (patterns.empty()) {
    return Answer::Problem({{"error", "patterns names no word to look for"}});
  }
  const auto parents = FindSyncParents(query.views, query.window, patterns);
  const auto limit = static_cast<size_t>(query.params.Int("limit"));
  Answer answer;
  for (size_t i = 0; i < parents.size() && i < limit; ++i) {
    const SyncParent& parent = parents[i];
    answer.rows.push_back({{"parent_range", parent.text},
                           {"n_syncs", parent.syncs},
                           {"sync_ns", parent.sync_ns},
                           {"sync_ms", NsToMs(parent.sync_ns, 3)},
                           {"top_child_label", parent.top_child},
                           {"n_ranges", parent.ranges}});
  }
  if (!parents.empty()) {
    answer.notes.push_back(fmt::format(
        "{} of {}, all threads. A range and the ranges around it count the same wait, so the rows "
        "do not add up.",
        answer.rows.size(), Counted(std::ssize(parents), "parent")));
    answer.notes.emplace_back(
        "Waits are told by words in range texts (-p patterns=a,b); sync_cost_analysis measures "
        "what CUDA recorded.");
  }
  return answer;
}

}  // namespace

Skill skill_host_sync_parent_ranges() {
  return {
      .name = "host_sync_parent_ranges",
      .category = Category::kNvtx,
      .title = "Host Synchronization by NVTX Parent",
      .doc = "Annotated ranges by the time that ranges within them spent waiting for the GPU.",
      .needs = {TableId::kNvtx},
      .reads = {{TableId::kNvtx, {Column::kTime, Column::kThread, Column::kName, Column::kKind}},
                {TableId::kStringIds, {}}},
      .params = {Param::Count("limit", 5, "largest number of parents to list"),
                 Param::NonEmptyText(
                     "patterns", "item,_local_scalar_dense,cudaStreamSynchronize",
                     "words that tell a wait, with commas; literal, case ignored, whole words")},
      .columns = {{"parent_range", Unit::kText, "text of the ranges around the waits",
                   "Parent range"},
                  {"n_syncs", Unit::kCount, "outermost waits within them", "Waits"},
                  {"sync_ns", Unit::kNs, "time within these waits", "Time waiting",
                   DurationCell("sync_ns")},
                  {"sync_ms", Unit::kMs, "the same in ms"},
                  {"top_child_label", Unit::kText, "waits that make up most of it", "Mostly in"},
                  {"n_ranges", Unit::kCount, "ranges of this text that hold a wait", "Ranges"}},
      .example = "-p patterns=loss",
      .empty_text = "no range with such a word lies within another range",
      .run = Run};
}

}  // namespace nsys
