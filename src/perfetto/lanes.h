// SPDX-License-Identifier: MIT
// Lanes of a track: how many rows of slices it takes so that no two slices of a row cross. Slices
// come in order of their start; each goes to the lowest lane where it fits. O(log lanes) per slice.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "trace/intervals.h"

namespace nsys::perfetto {

inline constexpr uint32_t kNoLane = 0xFFFFFFFF;

// A number for each lane, with the two questions of the rules below.
class LaneTree {
 public:
  uint32_t size() const { return size_; }
  uint32_t Append(int64_t value);
  void Set(uint32_t lane, int64_t value);
  int64_t Get(uint32_t lane) const { return nodes_[capacity_ + lane].least; }
  // The lowest lane whose number is at most, or at least, `limit`; kNoLane when there is none.
  uint32_t FirstAtMost(int64_t limit) const;
  uint32_t FirstAtLeast(int64_t limit) const;

 private:
  struct Node {
    int64_t least = INT64_MAX;
    int64_t most = INT64_MIN;
  };
  void Grow();

  uint32_t size_ = 0;
  uint32_t capacity_ = 1;
  std::vector<Node> nodes_ = std::vector<Node>(2);  // node 1 is the root, leaves are last
};

// Slices of a lane neither overlap nor nest; they may touch. In order of (start, end). A slice
// without length has its nanosecond for itself: Perfetto takes the longest of the slices that begin
// together first, would nest the others in it, and bind their arrows to the last.
class IntervalLanes {
 public:
  uint32_t Place(Span slice);

 private:
  LaneTree ends_;
};

// Slices of a lane nest and do not cross, to a limited depth: Perfetto loses slices that are nested
// more than 512 deep. In order of (start ascending, end descending).
class LaminarLanes {
 public:
  static constexpr size_t kMostNested = 500;
  uint32_t Place(Span slice);

 private:
  void Note(uint32_t lane);

  LaneTree tops_;                             // the innermost end, or the largest number
  LaneTree room_;                             // the same, or the least number in a full lane
  std::vector<std::vector<int64_t>> stacks_;  // ends of the open slices, outer first
};

}  // namespace nsys::perfetto
