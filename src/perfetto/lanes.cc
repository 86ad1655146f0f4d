// SPDX-License-Identifier: MIT
#include "perfetto/lanes.h"

#include <algorithm>

namespace nsys::perfetto {

uint32_t LaneTree::Append(int64_t value) {
  if (size_ == capacity_) {
    Grow();
  }
  Set(size_, value);
  return size_++;
}

void LaneTree::Grow() {
  std::vector<Node> wider(size_t{4} * capacity_);
  std::copy(nodes_.begin() + capacity_, nodes_.end(), wider.begin() + 2 * int64_t{capacity_});
  capacity_ *= 2;
  nodes_ = std::move(wider);
  for (uint32_t node = capacity_ - 1; node > 0; --node) {
    nodes_[node] = {.least = std::min(nodes_[2 * node].least, nodes_[2 * node + 1].least),
                    .most = std::max(nodes_[2 * node].most, nodes_[2 * node + 1].most)};
  }
}

void LaneTree::Set(uint32_t lane, int64_t value) {
  uint32_t node = capacity_ + lane;
  nodes_[node] = {.least = value, .most = value};
  for (node /= 2; node > 0; node /= 2) {
    nodes_[node] = {.least = std::min(nodes_[2 * node].least, nodes_[2 * node + 1].least),
                    .most = std::max(nodes_[2 * node].most, nodes_[2 * node + 1].most)};
  }
}

uint32_t LaneTree::FirstAtMost(int64_t limit) const {
  uint32_t node = 1;
  if (nodes_[node].least > limit) {
    return kNoLane;
  }
  while (node < capacity_) {
    node = nodes_[2 * node].least <= limit ? 2 * node : 2 * node + 1;
  }
  return node - capacity_ < size_ ? node - capacity_ : kNoLane;
}

uint32_t LaneTree::FirstAtLeast(int64_t limit) const {
  uint32_t node = 1;
  if (nodes_[node].most < limit) {
    return kNoLane;
  }
  while (node < capacity_) {
    node = nodes_[2 * node].most >= limit ? 2 * node : 2 * node + 1;
  }
  return node - capacity_ < size_ ? node - capacity_ : kNoLane;
}

uint32_t IntervalLanes::Place(Span slice) {
  const int64_t end_ns = std::max(slice.end_ns, slice.begin_ns + 1);
  const uint32_t lane = ends_.FirstAtMost(slice.begin_ns);
  if (lane == kNoLane) {
    return ends_.Append(end_ns);
  }
  ends_.Set(lane, end_ns);
  return lane;
}

uint32_t LaminarLanes::Place(Span slice) {
  for (uint32_t lane = tops_.FirstAtMost(slice.begin_ns); lane != kNoLane;
       lane = tops_.FirstAtMost(slice.begin_ns)) {
    std::vector<int64_t>& stack = stacks_[lane];
    while (!stack.empty() && stack.back() <= slice.begin_ns) {
      stack.pop_back();
    }
    Note(lane);
  }
  uint32_t lane = room_.FirstAtLeast(slice.end_ns);
  if (lane == kNoLane) {
    lane = tops_.Append(INT64_MAX);
    room_.Append(INT64_MAX);
    stacks_.emplace_back();
  }
  stacks_[lane].push_back(slice.end_ns);
  Note(lane);
  return lane;
}

void LaminarLanes::Note(uint32_t lane) {
  const std::vector<int64_t>& stack = stacks_[lane];
  const int64_t top = stack.empty() ? INT64_MAX : stack.back();
  tops_.Set(lane, top);
  room_.Set(lane, stack.size() < kMostNested ? top : INT64_MIN);
}

}  // namespace nsys::perfetto
