// SPDX-License-Identifier: MIT
#include "analysis/layers.h"

#include <algorithm>
#include <array>
#include <unordered_map>

#include "base/text.h"

namespace nsys {
namespace {

constexpr size_t kLeastLabels = 2;
constexpr size_t kSampledDepths = 5;
constexpr size_t kSamplesPerDepth = 3;

// Words whose number tells when, not which part of the model.
constexpr std::array<std::string_view, 7> kTimeWords = {"iteration", "iter",       "step",  "epoch",
                                                        "batch",     "microbatch", "sample"};

// Whether the separator at `at` opens a number that stands as a part of its own: "[3]", ".3." or
// ".3" at the end, "_3_" or "_3" at the end, and the same with "-".
bool OpensNumber(std::string_view label, size_t at) {
  size_t end = at + 1;
  while (end < label.size() && IsDigit(label[end])) {
    ++end;
  }
  if (end == at + 1) {
    return false;
  }
  const bool last = end == label.size();
  switch (label[at]) {
    case '[':
      return !last && label[end] == ']';
    case '.':
      return last || label[end] == '.';
    case '_':
    case '-':
      return last || label[end] == '_';
    default:
      return false;
  }
}

bool FollowsTimeWord(std::string_view label, size_t at) {
  size_t begin = at;
  while (begin > 0 && IsLetter(label[begin - 1])) {
    --begin;
  }
  const std::string word = LowerAscii(label.substr(begin, at - begin));
  return std::find(kTimeWords.begin(), kTimeWords.end(), word) != kTimeWords.end();
}

// A label at a depth.
uint64_t PlaceOf(uint32_t depth, StringId label) { return (uint64_t{depth} << 32) | Index(label); }

// On how many whole paths each label stands at each depth.
std::unordered_map<uint64_t, size_t> CountLabels(const PathTree& paths,
                                                 const std::vector<uint8_t>& is_whole) {
  std::vector<size_t> whole_paths(is_whole.begin(), is_whole.end());
  std::unordered_map<uint64_t, size_t> counts;
  for (size_t i = paths.size(); i > 0; --i) {  // children first: their numbers are larger
    const auto node = static_cast<uint32_t>(i - 1);
    if (paths.parent(node) != PathTree::kNoNode) {
      whole_paths[paths.parent(node)] += whole_paths[node];
    }
    counts[PlaceOf(paths.depth(node), paths.NormalLabelOf(node))] += whole_paths[node];
  }
  return counts;
}

// The depth with most entries, the outer one of equals; nothing below two entries.
std::optional<uint32_t> Fullest(const std::map<uint32_t, size_t>& by_depth) {
  std::optional<uint32_t> best;
  size_t most = kLeastLabels - 1;
  for (const auto& [depth, count] : by_depth) {
    if (count > most) {
      most = count;
      best = depth;
    }
  }
  return best;
}

// The texts of the labels found: as the ranges carry them, where all of one label agree.
std::vector<std::string> NamesOf(Views& views, const PathTree& paths,
                                 const LayerDetection& detection) {
  std::unordered_map<uint32_t, std::string_view> text_of;
  for (uint32_t node = 0; node < paths.size(); ++node) {
    const StringId label = paths.NormalLabelOf(node);
    if (paths.depth(node) != *detection.depth || !detection.labels.contains(label)) {
      continue;
    }
    const auto [at, is_new] = text_of.try_emplace(Index(label), paths.Text(node));
    if (!is_new && at->second != paths.Text(node)) {
      at->second = views.labels().Get(label);
    }
  }
  std::vector<std::string> names;
  for (const auto& [label, text] : text_of) {
    names.emplace_back(text);
  }
  std::sort(names.begin(), names.end());
  return names;
}

void AddSamples(const PathTree& paths, const std::vector<uint8_t>& is_whole,
                LayerDetection& detection) {
  std::map<uint32_t, std::set<std::string_view>> texts;
  for (uint32_t node = 0; node < paths.size(); ++node) {
    if (is_whole[node] == 0) {
      continue;
    }
    auto& at_depth = texts[paths.depth(node)];
    at_depth.insert(paths.Text(node));
    if (at_depth.size() > kSamplesPerDepth) {
      at_depth.erase(std::prev(at_depth.end()));
    }
  }
  for (const auto& [depth, first] : texts) {
    detection.depths.push_back(depth);
    if (detection.samples.size() < kSampledDepths) {
      detection.samples[depth] = {first.begin(), first.end()};
    }
  }
}

}  // namespace

bool IsNumberedLabel(std::string_view label) {
  for (size_t at = 0; at < label.size(); ++at) {
    if (OpensNumber(label, at) && !FollowsTimeWord(label, at)) {
      return true;
    }
  }
  return false;
}

LayerDetection DetectLayers(Views& views, const PathTree& paths,
                            const std::vector<uint8_t>& is_whole) {
  std::map<uint32_t, size_t> numbered;
  std::map<uint32_t, size_t> repeated;
  std::unordered_map<uint32_t, bool> is_numbered;  // decided once per label
  const auto counts = CountLabels(paths, is_whole);
  const auto label_is_numbered = [&](StringId label) {
    const auto [at, is_new] = is_numbered.try_emplace(Index(label), false);
    if (is_new) {
      at->second = IsNumberedLabel(views.labels().Get(label));
    }
    return at->second;
  };
  for (const auto& [place, count] : counts) {
    const auto depth = static_cast<uint32_t>(place >> 32);
    numbered[depth] += label_is_numbered(StringId{static_cast<uint32_t>(place)}) ? 1 : 0;
    repeated[depth] += count > 1 ? 1 : 0;
  }
  LayerDetection found{
      .method = "numbered_pattern", .grouping = "layer", .depth = Fullest(numbered)};
  const bool layers = found.depth.has_value();
  if (!layers) {
    found.method = "repeated_siblings";
    found.grouping = "operation";
    found.confidence = 0.6;
    found.depth = Fullest(repeated);
  }
  if (!found.depth) {
    found.method = "fallback_top_level";
    found.grouping = "flat";
    found.confidence = 0.2;
    AddSamples(paths, is_whole, found);
    return found;
  }
  for (const auto& [place, count] : counts) {
    const StringId label{static_cast<uint32_t>(place)};
    if ((place >> 32) == *found.depth && (layers ? label_is_numbered(label) : count > 1)) {
      found.labels.insert(label);
    }
  }
  found.names = NamesOf(views, paths, found);
  if (layers) {
    found.confidence = std::min(1.0, static_cast<double>(found.names.size()) / 3.0);
  }
  return found;
}

}  // namespace nsys
