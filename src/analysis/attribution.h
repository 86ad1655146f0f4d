// SPDX-License-Identifier: MIT
// Which annotated code launched which kernel: a kernel belongs to the push-pop ranges that enclose
// its launch call on the launching thread (trace/nvtx_stacks.h). Containment is that of the call:
// the kernel may run long after the range has closed. One attribution for every skill.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "analysis/skill.h"
#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/launches.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace nsys {

// What the functions below read, of the kernels in focus alone.
Reads AttributionReads(const Focus& focus = {});

// The same for skills whose kernels are those in the window.
Reads AttributionReadsIn(const Params& params, const std::optional<Window>& window);

// An abstention when NVTX rows exist but none is a push-pop range, so that no stack can be built.
std::optional<Answer> AbstainWithoutPushPop(const Trace& trace);

// "3 start-end ranges left out: …", or nothing when the capture has none.
std::optional<std::string> StartEndNote(const Trace& trace);

// The kernels that lie inside a window and whose call is known, by row of the kernel.
struct Launches {
  std::vector<Launch> launches;
  size_t without_call = 0;  // the others: mostly launched before the capture began
};
Launches LaunchesInside(Views& views, const std::optional<Window>& window);

// The distinct calls of `launches`, ascending, and the position of one of them.
std::vector<uint32_t> CallsOf(std::span<const Launch> launches);
size_t PositionOf(const std::vector<uint32_t>& calls, uint32_t call);

// How ranges are told apart: by their normal label (trace/nvtx_labels.h) or by every character.
enum class LabelKind { kNormal, kRaw };

// The distinct paths of ranges around launches, as a tree: one node per path, however many ranges
// and kernels share it. A parent's number is smaller than its children's.
class PathTree {
 public:
  static constexpr uint32_t kNoNode = 0xFFFFFFFF;

  PathTree(Views& views, LabelKind kind) : views_(&views), kind_(kind) {}

  size_t size() const { return nodes_.size(); }
  uint32_t parent(uint32_t node) const { return nodes_[node].parent; }  // kNoNode: outermost
  uint32_t depth(uint32_t node) const { return nodes_[node].depth; }    // outermost: 0

  // The last label of the path: the text that all ranges of this node carry, else what their texts
  // have in common, which is their normal label.
  std::string_view Text(uint32_t node) const;
  // The normal label, also of a tree of raw texts: an id of Views::labels().
  StringId NormalLabelOf(uint32_t node) const;
  // The nodes from the outermost to `node`; and their texts joined with " > ".
  std::vector<uint32_t> Path(uint32_t node) const;
  std::string PathText(uint32_t node) const;
  // Whether the texts of path `a` come before those of `b`, label by label.
  bool PathLess(uint32_t a, uint32_t b) const;

  // The node below `parent` (or kNoNode) for a range with this raw text, made when it is new.
  uint32_t Child(uint32_t parent, StringId raw);

 private:
  struct Node {
    uint32_t parent;
    uint32_t depth;
    StringId label;  // of labels() or, in a raw tree, of the trace's strings
    StringId raw;    // kNone: the ranges carry several texts
  };
  Views* views_;
  LabelKind kind_;
  std::vector<Node> nodes_;
  std::unordered_map<uint64_t, uint32_t> children_;  // (parent, label) -> node
};

// The kernels inside a window with the path of ranges around their launch.
struct Attribution {
  struct Kernel {
    uint32_t kernel = 0;  // row of trace.kernels
    uint32_t node = 0;    // of `paths`: its whole path
  };
  PathTree paths;
  std::vector<Kernel> kernels;  // in the order of their launches
  size_t outside = 0;           // launched outside of any range
  size_t without_call = 0;      // no launch call in the capture
};

// Made once per window and kind of label, in one sweep over ranges and launches.
const Attribution& AttributeKernels(Views& views, const std::optional<Window>& window,
                                    LabelKind kind);

}  // namespace nsys
