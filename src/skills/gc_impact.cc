// SPDX-License-Identifier: MIT
// How much time do memory management calls and garbage collections take?
//
// Two kinds of events inside the window: API calls that allocate or free memory (kMemoryApis), by
// exact name; and NVTX ranges that begin and end (types 59 and 60) whose text holds the word `gc`,
// no letter beside it, or `garbage`, by normal label. total = Σ durations, avg = total /
// occurrences. Calls …Async of the pool allocator are listed, but do not block. Order: exact total
// descending, then name.
#include <algorithm>
#include <map>
#include <string_view>

#include <fmt/core.h>

#include "analysis/api_time.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"
#include "trace/nvtx_stacks.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

// Parts of names, letters compared without case.
constexpr std::string_view kMemoryApis[] = {"cudaFree", "cuMemFree", "cudaMalloc", "cuMemAlloc"};

bool ManagesMemory(std::string_view api) {
  return std::any_of(std::begin(kMemoryApis), std::end(kMemoryApis),
                     [&](std::string_view part) { return ContainsIgnoreCase(api, part); });
}

bool IsAsync(std::string_view api) { return ContainsIgnoreCase(api, "async"); }
bool Blocks(std::string_view api) { return ManagesMemory(api) && !IsAsync(api); }

bool NamesGarbageCollection(std::string_view text) {
  constexpr std::string_view kGarbage = "garbage";
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != 'g' && text[at] != 'G') {
      continue;
    }
    const std::string_view rest = text.substr(at);
    const bool before = at > 0 && IsLetter(text[at - 1]);
    const bool after = rest.size() > 2 && IsLetter(rest[2]);
    if ((rest.size() > 1 && (rest[1] == 'c' || rest[1] == 'C') && !before && !after) ||
        LowerAscii(rest.substr(0, kGarbage.size())) == kGarbage) {
      return true;
    }
  }
  return false;
}

Reads GcReads() {
  Reads reads = {{TableId::kRuntime, {Column::kTime, Column::kThread, Column::kName}},
                 {TableId::kNvtx, {Column::kTime, Column::kName, Column::kKind}, RowKind::kTexts}};
  reads.Narrow({.text = NamesGarbageCollection});
  return reads;
}

// The ranges that are about garbage collection, by normal label. Nothing that a label leaves out
// can hold the words, so texts are judged as they are and only the wanted ones get a label.
std::vector<NamedTime> CollectionTimes(const Query& query) {
  const Trace& trace = query.trace;
  const NvtxTable& nvtx = trace.nvtx;
  NormalLabels& labels = query.views.labels();
  OncePerText is_wanted([&](StringId text) { return NamesGarbageCollection(trace.Text(text)); });
  std::map<StringId, NamedTime> by_label;
  for (size_t row = 0; row < nvtx.size(); ++row) {
    const int32_t type = nvtx.event_type[row];
    const bool range = (type == kNvtxPushPop || type == kNvtxStartEnd) &&
                       nvtx.end_ns[row] > nvtx.start_ns[row] && nvtx.text[row] != StringId::kNone;
    if (!range || !Contains(query.window, nvtx.start_ns[row], nvtx.end_ns[row])) {
      continue;
    }
    if (is_wanted(nvtx.text[row])) {
      const StringId label = labels.Of(nvtx.text[row]);
      by_label[label].name = labels.Get(label);
      by_label[label].Add(nvtx.duration_ns(row));
    }
  }
  std::vector<NamedTime> times;
  for (const auto& [label, time] : by_label) {
    times.push_back(time);
  }
  return times;
}

struct Event {
  NamedTime time;
  bool is_call = false;
};

Object MakeRow(const Event& event) {
  const NamedTime& time = event.time;
  return {{"event_name", time.name},
          {"occurrences", time.count},
          {"total_ms", NsToMs(time.total_ns, 2)},
          {"max_ms", NsToMs(time.longest_ns, 2)},
          {"avg_ms", MeanMs(time.total_ns, time.count, 2)},
          {"total_ns", time.total_ns},
          {"source", event.is_call ? "cuda_api" : "nvtx"},
          {"blocking", event.is_call ? Value(!IsAsync(time.name)) : Value()}};
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  std::vector<Event> events;
  for (const NamedTime& time : TimeByName(trace, CallsNamed(trace, query.window, ManagesMemory))) {
    events.push_back({.time = time, .is_call = true});
  }
  for (const NamedTime& time : CollectionTimes(query)) {
    events.push_back({.time = time});
  }
  std::stable_sort(events.begin(), events.end(),
                   [](const Event& a, const Event& b) { return MoreTime(a.time, b.time); });
  Answer answer;
  for (const Event& event : events) {
    answer.rows.push_back(MakeRow(event));
  }
  const std::vector<uint32_t> blocking = CallsNamed(trace, query.window, Blocks);
  if (!blocking.empty()) {
    answer.notes.push_back(fmt::format(
        "Threads spend {} in calls that allocate or free and block (calls within calls counted "
        "once); a caching or pool allocator avoids them.",
        FormatDuration(ThreadTime(trace, blocking))));
  }
  for (const auto& [table, what] :
       {std::pair(TableId::kRuntime, "API calls"), std::pair(TableId::kNvtx, "NVTX ranges")}) {
    if (!trace.schema.Has(table)) {
      answer.notes.push_back(
          fmt::format("The capture has no {}; only the other kind was looked at.", what));
    }
  }
  return answer;
}

std::string BlockingCell(const Object& row) {
  const bool* blocking = row.Find("blocking")->AsBool();
  return blocking == nullptr ? "-" : *blocking ? "yes" : "no";
}

}  // namespace

Skill skill_gc_impact() {
  return {
      .name = "gc_impact",
      .category = Category::kBottlenecks,
      .title = "Garbage Collection & Memory Stalls",
      .doc =
          "Calls that allocate or free memory, and annotated garbage collections: how often, how "
          "long.",
      .needs = {TableId::kStringIds},
      .needs_one_of = {TableId::kRuntime, TableId::kNvtx},
      .reads = GcReads(),
      .columns =
          {{"event_name", Unit::kText, "API call, or range text without running ids", "Event"},
           {"occurrences", Unit::kCount, "number of calls or ranges", "Count"},
           {"total_ms", Unit::kMs, "summed duration", "Total", DurationCell("total_ns")},
           {"max_ms", Unit::kMs, "longest", "Max"},
           {"avg_ms", Unit::kMs, "total / occurrences", "Mean"},
           {"total_ns", Unit::kNs, "summed duration, exact"},
           {"source", Unit::kText, "cuda_api or nvtx", "Source"},
           {"blocking", Unit::kFlag,
            "of a call: whether it may wait for the device; no for pool calls …Async; null for "
            "ranges, which do not tell",
            "Blocks", BlockingCell}},
      .empty_text = "no memory management call and no garbage collection range in the window",
      .run = Run};
}

}  // namespace nsys
