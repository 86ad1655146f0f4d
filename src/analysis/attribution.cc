// SPDX-License-Identifier: MIT
#include "analysis/attribution.h"

#include <algorithm>
#include <functional>
#include <set>

#include <fmt/core.h>

#include "base/sort_runs.h"
#include "base/text.h"
#include "trace/launches.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

std::string EventTypeName(int32_t type) {
  switch (type) {
    case 33:
      return "category";
    case 34:
      return "mark";
    case 39:
      return "thread name";
    case kNvtxStartEnd:
      return "start-end range";
    case 70:
      return "push-pop range from text";
    case 71:
      return "start-end range from text";
    case 75:
      return "domain";
    case 76:
      return "end of a domain";
    default:
      return "other";
  }
}

// Finds the node of one path after the other. Consecutive launches mostly share their outer
// ranges, whose nodes are then known without a look-up.
class PathFinder {
 public:
  PathFinder(const Trace& trace, PathTree& tree) : nvtx_(trace.nvtx), tree_(tree) {}

  uint32_t NodeOf(std::span<const uint32_t> path) {
    size_t shared = 0;
    while (shared < path.size() && shared < ranges_.size() && ranges_[shared] == path[shared]) {
      ++shared;
    }
    ranges_.assign(path.begin(), path.end());
    nodes_.resize(path.size());
    for (size_t i = shared; i < path.size(); ++i) {
      nodes_[i] = tree_.Child(i == 0 ? PathTree::kNoNode : nodes_[i - 1], nvtx_.text[path[i]]);
    }
    return nodes_.back();
  }

 private:
  const NvtxTable& nvtx_;
  PathTree& tree_;
  std::vector<uint32_t> ranges_;
  std::vector<uint32_t> nodes_;
};

Attribution Attribute(Views& views, const std::optional<Window>& window, LabelKind kind) {
  const Trace& trace = views.trace();
  Launches found = LaunchesInside(views, window);
  Attribution result{.paths = PathTree(views, kind), .without_call = found.without_call};
  std::vector<Launch>& launches = found.launches;
  const std::vector<uint32_t> calls = CallsOf(launches);
  SortByCall(launches);
  result.kernels.reserve(launches.size());
  PathFinder finder(trace, result.paths);
  auto next = launches.begin();
  ForEachPath(trace, calls, [&](size_t position, std::span<const uint32_t> path) {
    const uint32_t node = path.empty() ? PathTree::kNoNode : finder.NodeOf(path);
    for (; next != launches.end() && next->call == calls[position]; ++next) {
      if (path.empty()) {
        ++result.outside;
      } else {
        result.kernels.push_back({next->kernel, node});
      }
    }
  });
  return result;
}

}  // namespace

Reads AttributionReads(const Focus& focus) {
  Reads reads = {
      {TableId::kKernel, {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName}},
      {TableId::kRuntime,
       {Column::kTime, Column::kThread, Column::kCorrelation},
       RowKind::kLaunches},
      {TableId::kNvtx,
       {Column::kTime, Column::kThread, Column::kName, Column::kKind},
       RowKind::kLaunches}};
  reads.Narrow(focus);
  return reads;
}

Reads AttributionReadsIn(const Params& /*params*/, const std::optional<Window>& window) {
  return AttributionReads({.window = AsSpan(window)});
}

std::optional<Answer> AbstainWithoutPushPop(const Trace& trace) {
  const auto& types = trace.nvtx.event_type;
  if (types.empty() || std::find(types.begin(), types.end(), kNvtxPushPop) != types.end()) {
    return std::nullopt;
  }
  const std::set<int32_t> distinct(types.begin(), types.end());
  if (distinct.contains(kNvtxStartEnd)) {
    return Answer::Abstain(
        "This capture annotates with start-end ranges only. They may end on another thread and "
        "overlap at will, so no range can be "
        "said to enclose a launch; annotate with push-pop ranges (nvtxRangePush, "
        "torch.cuda.nvtx.range).",
        {{"nvtx_event_types", std::to_string(kNvtxStartEnd)}});
  }
  std::vector<std::string> numbers;
  std::vector<std::string> words;
  for (const int32_t type : distinct) {
    numbers.push_back(std::to_string(type));
    words.push_back(fmt::format("{} ({})", type, EventTypeName(type)));
  }
  return Answer::Abstain(
      fmt::format("The NVTX rows of this capture are no push-pop ranges, but of type {}.",
                  Join(words, ", ")),
      {{"nvtx_event_types", Join(numbers, ",")}});
}

std::optional<std::string> StartEndNote(const Trace& trace) {
  const auto& types = trace.nvtx.event_type;
  const auto count = std::count(types.begin(), types.end(), kNvtxStartEnd);
  if (count == 0) {
    return std::nullopt;
  }
  return fmt::format("{} left out: they need not nest.", Counted(count, "start-end range"));
}

Launches LaunchesInside(Views& views, const std::optional<Window>& window) {
  const KernelTable& kernels = views.trace().kernels;
  const std::vector<uint32_t>& links = views.KernelCalls();
  Launches found;
  for (uint32_t kernel = 0; kernel < links.size(); ++kernel) {
    if (!Contains(window, kernels.start_ns[kernel], kernels.end_ns[kernel])) {
      continue;
    }
    if (links[kernel] == kNoCall) {
      ++found.without_call;
    } else {
      found.launches.push_back({kernel, links[kernel]});
    }
  }
  return found;
}

std::vector<uint32_t> CallsOf(std::span<const Launch> launches) {
  std::vector<uint32_t> calls;
  calls.reserve(launches.size());
  for (const Launch& launch : launches) {
    calls.push_back(launch.call);
  }
  SortByRuns(calls, std::less<>());
  calls.erase(std::unique(calls.begin(), calls.end()), calls.end());
  return calls;
}

size_t PositionOf(const std::vector<uint32_t>& calls, uint32_t call) {
  return static_cast<size_t>(std::lower_bound(calls.begin(), calls.end(), call) - calls.begin());
}

std::string_view PathTree::Text(uint32_t node) const {
  const Node& at = nodes_[node];
  return at.raw != StringId::kNone ? views_->trace().Text(at.raw) : views_->labels().Get(at.label);
}

StringId PathTree::NormalLabelOf(uint32_t node) const {
  return kind_ == LabelKind::kNormal ? nodes_[node].label : views_->labels().Of(nodes_[node].raw);
}

std::vector<uint32_t> PathTree::Path(uint32_t node) const {
  std::vector<uint32_t> path(nodes_[node].depth + 1);
  for (size_t i = path.size(); i > 0; --i) {
    path[i - 1] = node;
    node = nodes_[node].parent;
  }
  return path;
}

std::string PathTree::PathText(uint32_t node) const {
  std::string text;
  for (const uint32_t at : Path(node)) {
    text += text.empty() ? "" : " > ";
    text += Text(at);
  }
  return text;
}

bool PathTree::PathLess(uint32_t a, uint32_t b) const {
  const std::vector<uint32_t> path_a = Path(a);
  const std::vector<uint32_t> path_b = Path(b);
  return std::lexicographical_compare(
      path_a.begin(), path_a.end(), path_b.begin(), path_b.end(),
      [&](uint32_t x, uint32_t y) { return x != y && Text(x) < Text(y); });
}

uint32_t PathTree::Child(uint32_t parent, StringId raw) {
  const StringId label = kind_ == LabelKind::kNormal ? views_->labels().Of(raw) : raw;
  const uint64_t key = (uint64_t{parent} << 32) | Index(label);
  const auto [at, is_new] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (is_new) {
    const uint32_t depth = parent == kNoNode ? 0 : nodes_[parent].depth + 1;
    nodes_.push_back({.parent = parent, .depth = depth, .label = label, .raw = raw});
  } else if (nodes_[at->second].raw != raw) {
    nodes_[at->second].raw = StringId::kNone;
  }
  return at->second;
}

const Attribution& AttributeKernels(Views& views, const std::optional<Window>& window,
                                    LabelKind kind) {
  const ViewKey key{
      .device = {}, .window = window, .text = kind == LabelKind::kRaw ? "raw" : "normal"};
  return views.Once<Attribution>(key, [&] { return Attribute(views, window, kind); });
}

}  // namespace nsys
