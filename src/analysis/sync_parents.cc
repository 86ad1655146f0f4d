// SPDX-License-Identifier: MIT
#include "analysis/sync_parents.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <tuple>

#include "base/text.h"
#include "trace/nvtx_stacks.h"
#include "trace/once_per_text.h"

namespace nsys {
namespace {

bool IsWordCharacter(char c) { return IsDigit(c) || IsLetter(c) || c == '_'; }

// Where the suffix of a CUDA entry point that begins at `at` ends.
size_t SkipEntrySuffix(std::string_view text, size_t at) {
  for (const std::string_view suffix : {"_ptds", "_ptsz"}) {
    if (text.substr(at).starts_with(suffix)) {
      at += suffix.size();
      break;
    }
  }
  if (text.substr(at).starts_with("_v")) {
    size_t end = at + 2;
    while (end < text.size() && IsDigit(text[end])) {
      ++end;
    }
    at = end > at + 2 ? end : at;
  }
  return at;
}

// Ranges of one label, seen as one.
struct Label {
  StringId normal = StringId::kNone;
  StringId raw = StringId::kNone;  // kNone: several
  int64_t syncs = 0;
  int64_t sync_ns = 0;

  void Meet(StringId text) { raw = syncs == 0 || raw == text ? text : StringId::kNone; }
};
struct ParentLabel : Label {
  int64_t ranges = 0;
  std::map<StringId, Label> children;  // by normal label
};

class Sweep {
 public:
  Sweep(Views& views, const std::optional<Window>& window, std::span<const std::string> patterns)
      : views_(views),
        trace_(views.trace()),
        window_(window),
        patterns_(patterns),
        open_(trace_.threads.size()),
        waits_([this](StringId text) { return HoldsPattern(text); }) {}

  std::vector<SyncParent> Run() {
    const NvtxTable& nvtx = trace_.nvtx;
    std::vector<uint32_t> together;  // ranges that start at one time: the longest first
    for (uint32_t row = 0; row < nvtx.size();) {
      together.clear();
      const int64_t start = nvtx.start_ns[row];
      for (; row < nvtx.size() && nvtx.start_ns[row] == start; ++row) {
        if (TakesPart(row)) {
          together.push_back(row);
        }
      }
      if (together.size() > 1) {
        std::sort(together.begin(), together.end(), [&](uint32_t a, uint32_t b) {
          return std::tuple(-nvtx.end_ns[a], trace_.Text(nvtx.text[a])) <
                 std::tuple(-nvtx.end_ns[b], trace_.Text(nvtx.text[b]));
        });
      }
      for (const uint32_t range : together) {
        Open(range);
      }
    }
    return Finish();
  }

 private:
  static constexpr int64_t kNothing = std::numeric_limits<int64_t>::min();

  struct OpenRange {
    uint32_t row;
    int64_t credited_until;  // end of the children credited so far
  };

  bool TakesPart(uint32_t row) const {
    const NvtxTable& nvtx = trace_.nvtx;
    const int32_t type = nvtx.event_type[row];
    return (type == kNvtxPushPop || type == kNvtxStartEnd) && nvtx.text[row] != StringId::kNone &&
           nvtx.end_ns[row] > nvtx.start_ns[row] &&
           trace_.nvtx_lanes[Index(nvtx.lane[row])].thread != ThreadId::kNone &&
           Contains(window_, nvtx.start_ns[row], nvtx.end_ns[row]);
  }

  bool HoldsPattern(StringId text) const {
    return std::any_of(patterns_.begin(), patterns_.end(), [&](const std::string& pattern) {
      return HoldsWord(trace_.Text(text), pattern);
    });
  }

  void Open(uint32_t row) {
    const NvtxTable& nvtx = trace_.nvtx;
    auto& open = open_[Index(trace_.nvtx_lanes[Index(nvtx.lane[row])].thread)];
    while (!open.empty() && nvtx.end_ns[open.back().row] < nvtx.start_ns[row]) {
      open.pop_back();
    }
    if (waits_(nvtx.text[row])) {
      // Start-end ranges may lie buried, though closed, below open ones.
      std::erase_if(open, [&](const OpenRange& range) {
        return nvtx.end_ns[range.row] < nvtx.start_ns[row];
      });
      for (OpenRange& parent : open) {
        Credit(row, parent);
      }
    }
    open.push_back({row, kNothing});
  }

  void Credit(uint32_t child, OpenRange& parent) {
    const NvtxTable& nvtx = trace_.nvtx;
    const bool same = nvtx.span(child) == nvtx.span(parent.row);
    // A child that ends by the end of an earlier one lies within it.
    if (same || nvtx.end_ns[parent.row] < nvtx.end_ns[child] ||
        nvtx.end_ns[child] <= parent.credited_until) {
      return;
    }
    const int64_t begin = std::max(nvtx.start_ns[child], parent.credited_until);
    const int64_t ns = nvtx.end_ns[child] - begin;
    ParentLabel& group = parents_[views_.labels().Of(nvtx.text[parent.row])];
    group.Meet(nvtx.text[parent.row]);
    group.ranges += parent.credited_until == kNothing ? 1 : 0;
    Label& own = group.children[views_.labels().Of(nvtx.text[child])];
    own.Meet(nvtx.text[child]);
    for (Label* label : {static_cast<Label*>(&group), &own}) {
      ++label->syncs;
      label->sync_ns += ns;
    }
    parent.credited_until = nvtx.end_ns[child];
  }

  std::string TextOf(StringId normal, const Label& label) {
    return std::string(label.raw != StringId::kNone ? trace_.Text(label.raw)
                                                    : views_.labels().Get(normal));
  }

  std::vector<SyncParent> Finish() {
    std::vector<SyncParent> result;
    for (const auto& [label, group] : parents_) {
      std::tuple<int64_t, int64_t, std::string> first;  // least: most time, most waits, text
      for (const auto& [child, sums] : group.children) {
        std::tuple key(-sums.sync_ns, -sums.syncs, TextOf(child, sums));
        if (std::get<2>(first).empty() || key < first) {
          first = std::move(key);
        }
      }
      result.push_back({.text = TextOf(label, group),
                        .top_child = std::get<2>(first),
                        .ranges = group.ranges,
                        .syncs = group.syncs,
                        .sync_ns = group.sync_ns});
    }
    std::sort(result.begin(), result.end(), [](const SyncParent& a, const SyncParent& b) {
      return std::tuple(-a.sync_ns, a.text) < std::tuple(-b.sync_ns, b.text);
    });
    return result;
  }

  Views& views_;
  const Trace& trace_;
  const std::optional<Window>& window_;
  std::span<const std::string> patterns_;
  std::vector<std::vector<OpenRange>> open_;  // by ThreadId
  OncePerText<std::function<bool(StringId)>> waits_;
  std::map<StringId, ParentLabel> parents_;  // by normal label
};

}  // namespace

bool HoldsWord(std::string_view text, std::string_view pattern) {
  const std::string lower = LowerAscii(text);
  for (size_t at = lower.find(pattern); at != std::string::npos; at = lower.find(pattern, at + 1)) {
    const size_t end = at + pattern.size();
    const bool free_before =
        at == 0 || !IsWordCharacter(pattern.front()) || !IsWordCharacter(lower[at - 1]);
    const size_t behind = IsWordCharacter(pattern.back()) ? SkipEntrySuffix(lower, end) : end;
    const bool free_behind = behind == lower.size() || !IsWordCharacter(pattern.back()) ||
                             !IsWordCharacter(lower[behind]);
    if (free_before && free_behind) {
      return true;
    }
  }
  return false;
}

std::vector<SyncParent> FindSyncParents(Views& views, const std::optional<Window>& window,
                                        std::span<const std::string> patterns) {
  return Sweep(views, window, patterns).Run();
}

}  // namespace nsys
