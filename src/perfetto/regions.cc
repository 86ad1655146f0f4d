// SPDX-License-Identifier: MIT
#include "perfetto/regions.h"

#include <algorithm>
#include <queue>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nsys::perfetto {
namespace {

// A range by the name it is listed with.
struct NamedRow {
  uint32_t row = 0;
  StringId name = StringId::kNone;
};

// The distinct names of ranges: the first `names.size()` of them, and how many more there are.
struct NameList {
  std::vector<NamedRow> names;  // in order of their rows
  uint32_t cut = 0;
};

// The ranges of one process or thread that are active, linked in order of their rows. New ones
// mostly come last, those that end are unlinked at once.
class ActiveRanges {
 public:
  void Start(NamedRow range, int64_t end_ns);
  // Takes out what ends at or before `time`.
  void EndBefore(int64_t time);
  size_t size() const { return ends_.size(); }

  template <typename Visit>
  void ForEach(const Visit& visit) const {
    for (uint32_t node = first_; node != kNone; node = nodes_[node].next) {
      visit(nodes_[node].range);
    }
  }

  bool changed = true;        // since the last list was made
  uint32_t last_set = kNone;  // of that list

 private:
  struct Node {
    NamedRow range;
    uint32_t before = kNone;
    uint32_t next = kNone;
  };
  using End = std::pair<int64_t, uint32_t>;  // time and node

  uint32_t FreeNode();

  std::vector<Node> nodes_;
  std::vector<uint32_t> free_;
  std::priority_queue<End, std::vector<End>, std::greater<>> ends_;
  uint32_t first_ = kNone;
  uint32_t last_ = kNone;
};

uint32_t ActiveRanges::FreeNode() {
  if (free_.empty()) {
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  const uint32_t node = free_.back();
  free_.pop_back();
  return node;
}

void ActiveRanges::Start(NamedRow range, int64_t end_ns) {
  const uint32_t node = FreeNode();
  uint32_t before = last_;
  while (before != kNone && nodes_[before].range.row > range.row) {
    before = nodes_[before].before;
  }
  const uint32_t next = before == kNone ? first_ : nodes_[before].next;
  nodes_[node] = {.range = range, .before = before, .next = next};
  (before == kNone ? first_ : nodes_[before].next) = node;
  (next == kNone ? last_ : nodes_[next].before) = node;
  ends_.emplace(end_ns, node);
  changed = true;
}

void ActiveRanges::EndBefore(int64_t time) {
  while (!ends_.empty() && ends_.top().first <= time) {
    const uint32_t node = ends_.top().second;
    ends_.pop();
    const auto [range, before, next] = nodes_[node];
    (before == kNone ? first_ : nodes_[before].next) = next;
    (next == kNone ? last_ : nodes_[next].before) = before;
    free_.push_back(node);
    changed = true;
  }
}

class RegionSweep {
 public:
  RegionSweep(const Trace& trace, const Processes& processes, const CallIndex& index,
              const Links& kernels, const Ranges& ranges, Layout& layout)
      : trace_(trace),
        processes_(processes),
        index_(index),
        kernels_(kernels),
        ranges_(ranges),
        layout_(layout),
        stamps_(trace.strings.size() + 1, 0) {}

  void Run() {
    FindLaunches();
    Sweep();
    MergeCalls();
    layout_.kernel_regions.assign(trace_.kernels.size(), kNone);
    for (size_t row = 0; row < trace_.kernels.size(); ++row) {
      if (kernels_.key[row] != kNoKey) {
        layout_.kernel_regions[row] = set_of_key_[kernels_.key[row]];
      }
    }
  }

 private:
  void FindLaunches();
  void Sweep();
  void Visit(uint32_t call);
  void MergeCalls();
  uint32_t ScopeOfCall(uint32_t call) const;
  uint32_t ScopeOfRange(uint32_t row) const;
  void ListActive(const ActiveRanges& active);
  void TakeName(NamedRow range);
  uint32_t SetOf(const NameList& list);
  bool ByThread() const { return layout_.options.nvtx_scope == NvtxScope::kThread; }

  const Trace& trace_;
  const Processes& processes_;
  const CallIndex& index_;
  const Links& kernels_;
  const Ranges& ranges_;
  Layout& layout_;
  std::vector<uint32_t> key_of_call_;     // of calls that launched kernels, else kNoKey
  std::vector<uint32_t> process_of_key_;  // that of its kernels, or kNone
  std::vector<uint32_t> set_of_key_;
  std::vector<ActiveRanges> active_;  // by process, or by thread and one for no thread
  std::unordered_map<uint32_t, NameList> list_of_call_;  // of keys with several calls
  std::unordered_map<uint64_t, uint32_t> set_of_hash_;
  std::vector<uint32_t> stamps_;  // by text, the last one for no name: when it was last listed
  uint32_t stamp_ = 0;
  NameList list_;  // the one being made
};

void RegionSweep::FindLaunches() {
  process_of_key_.assign(index_.keys(), kNone);
  set_of_key_.assign(index_.keys(), kNone);
  for (size_t row = 0; row < trace_.kernels.size(); ++row) {
    const uint32_t key = kernels_.key[row];
    if (key != kNoKey && process_of_key_[key] == kNone) {
      process_of_key_[key] = Index(kernels_.process[row]);
    }
  }
  key_of_call_.assign(trace_.calls.size(), kNoKey);
  for (uint32_t key = 0; key < index_.keys(); ++key) {
    if (process_of_key_[key] != kNone) {
      for (const uint32_t call : index_.Calls(key)) {
        key_of_call_[call] = key;
      }
    }
  }
  active_.resize(ByThread() ? trace_.threads.size() + 1 : processes_.list.size());
}

uint32_t RegionSweep::ScopeOfCall(uint32_t call) const {
  if (!ByThread()) {
    return process_of_key_[key_of_call_[call]];
  }
  const ThreadId thread = trace_.calls.thread[call];
  return thread == ThreadId::kNone ? static_cast<uint32_t>(trace_.threads.size()) : Index(thread);
}

uint32_t RegionSweep::ScopeOfRange(uint32_t row) const {
  const ThreadId thread = trace_.nvtx_lanes[Index(trace_.nvtx.lane[row])].thread;
  if (!ByThread()) {
    return Index(processes_.Known(processes_.OfThread(thread)));
  }
  return thread == ThreadId::kNone ? kNone : Index(thread);
}

// At one time ranges end first, then calls start, then ranges: a launch at the border of a range is
// not inside it.
void RegionSweep::Sweep() {
  const std::vector<uint32_t> order = ranges_.StartOrder();
  uint32_t call = 0;
  const auto visit_until = [&](int64_t time) {
    for (; call < trace_.calls.size() && trace_.calls.start_ns[call] <= time; ++call) {
      if (key_of_call_[call] != kNoKey) {
        Visit(call);
      }
    }
  };
  for (size_t i = 0; i < trace_.nvtx.size(); ++i) {
    const uint32_t row = order.empty() ? static_cast<uint32_t>(i) : order[i];
    const Span span = ranges_.Covered(row);
    const uint32_t scope = ScopeOfRange(row);
    if (!Covers(ranges_.Kind(row)) || span.end_ns <= span.begin_ns || scope == kNone) {
      continue;
    }
    visit_until(span.begin_ns);
    active_[scope].EndBefore(span.begin_ns);
    active_[scope].Start({.row = row, .name = trace_.nvtx.text[row]}, span.end_ns);
  }
  visit_until(INT64_MAX);
}

void RegionSweep::Visit(uint32_t call) {
  ActiveRanges& active = active_[ScopeOfCall(call)];
  active.EndBefore(trace_.calls.start_ns[call]);
  const uint32_t key = key_of_call_[call];
  if (index_.Calls(key).size() > 1) {
    ListActive(active);
    list_of_call_[call] = list_;
    return;
  }
  if (active.changed) {
    ListActive(active);
    active.last_set = SetOf(list_);
    active.changed = false;
  }
  set_of_key_[key] = active.last_set;
}

void RegionSweep::TakeName(NamedRow range) {
  const size_t place = range.name == StringId::kNone ? stamps_.size() - 1 : Index(range.name);
  if (stamps_[place] == stamp_) {
    return;
  }
  stamps_[place] = stamp_;
  if (static_cast<int64_t>(list_.names.size()) < layout_.options.max_regions) {
    list_.names.push_back(range);
  } else {
    ++list_.cut;
  }
}

void RegionSweep::ListActive(const ActiveRanges& active) {
  ++stamp_;
  list_.names.clear();
  list_.cut = 0;
  active.ForEach([&](NamedRow range) { TakeName(range); });
}

// Kernels that several calls could have launched have the names around all of these.
void RegionSweep::MergeCalls() {
  std::vector<NamedRow> all;
  for (uint32_t key = 0; key < index_.keys(); ++key) {
    const std::span<const uint32_t> calls = index_.Calls(key);
    if (process_of_key_[key] == kNone || calls.size() < 2) {
      continue;
    }
    all.clear();
    uint32_t cut = 0;
    for (const uint32_t call : calls) {
      const NameList& list = list_of_call_[call];
      all.insert(all.end(), list.names.begin(), list.names.end());
      cut = std::max(cut, list.cut);
    }
    std::sort(all.begin(), all.end(),
              [](const NamedRow& a, const NamedRow& b) { return a.row < b.row; });
    ++stamp_;
    list_.names.clear();
    list_.cut = cut;
    for (const NamedRow& range : all) {
      TakeName(range);
    }
    set_of_key_[key] = SetOf(list_);
  }
}

// The number of the set with these names, made when there is none; kNone when there are no names.
uint32_t RegionSweep::SetOf(const NameList& list) {
  if (list.names.empty() && list.cut == 0) {
    return kNone;
  }
  uint64_t hash = list.cut;
  for (const NamedRow& range : list.names) {
    hash = (hash ^ Index(range.name)) * 0x9E3779B97F4A7C15U;
    hash ^= hash >> 29;
  }
  const auto next = static_cast<uint32_t>(layout_.region_sets.size());
  const auto [at, added] = set_of_hash_.try_emplace(hash, next);
  if (!added) {
    const Layout::RegionSet& set = layout_.region_sets[at->second];
    const auto first = layout_.region_names.begin() + set.begin;
    const bool same = set.cut == list.cut && set.count == list.names.size() &&
                      std::equal(list.names.begin(), list.names.end(), first,
                                 [](const NamedRow& a, StringId b) { return a.name == b; });
    if (same) {
      return at->second;
    }
  }
  layout_.region_sets.push_back({.begin = static_cast<uint32_t>(layout_.region_names.size()),
                                 .count = static_cast<uint32_t>(list.names.size()),
                                 .cut = list.cut});
  for (const NamedRow& range : list.names) {
    layout_.region_names.push_back(range.name);
  }
  return next;
}

}  // namespace

void FindRegions(const Trace& trace, const Processes& processes, const CallIndex& index,
                 const Links& kernels, const Ranges& ranges, Layout& layout) {
  RegionSweep(trace, processes, index, kernels, ranges, layout).Run();
}

}  // namespace nsys::perfetto
