// SPDX-License-Identifier: MIT
// Which events of a protobuf trace go into which packet sequence and which block: a stretch of at
// most kPartEvents events of one track each. What a stretch needs of those before it is worked out
// here, so that all can be written at the same time.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/result.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// Of an item of a stream: the row is one of trace.copies, else of trace.kernels.
inline constexpr uint32_t kCopyItem = 0x80000000;

class ProtoPlan {
 public:
  // About 1.5 MiB of packets.
  static constexpr size_t kPartEvents = size_t{1} << 14;

  // One packet sequence.
  struct Part {
    uint32_t track = 0;
    size_t begin = 0;  // of the items of the track
    size_t end = 0;
    bool last = false;               // of its track
    std::vector<int64_t> open_ends;  // ends of slices that earlier parts left open, outermost first
  };

  // An error when there are more rows than items can tell apart. `part_events` is for tests.
  static Result<ProtoPlan> Make(const Trace& trace, const Layout& layout,
                                size_t part_events = kPartEvents);

  std::span<const Part> parts() const { return parts_; }
  // Parts of a block: small ones share it.
  size_t block_count() const { return block_begin_.size() - 1; }
  size_t block_begin(size_t block) const { return block_begin_[block]; }

  // The events of a track in the order in which they begin; of equal ones the longer first where
  // they nest. By kind of track: kernels and copies (kCopyItem), kernels, places in copy_usage,
  // rows of NVTX, places in projections, rows of calls. Of tables drawn on request they are places
  // in extra_slices or counter_samples, and not kept here: Part tells them as they are.
  uint32_t item(uint32_t track, size_t position) const {
    return items_[track_begin_[track] + position];
  }

 private:
  ProtoPlan() = default;
  void CountItems(const Trace& trace, const Layout& layout);
  void FillItems(const Trace& trace, const Layout& layout);
  void FillStreams(const Trace& trace, const Layout& layout);
  void SortNested(const Trace& trace, const Layout& layout);
  void CutParts(const Trace& trace, const Layout& layout, size_t part_events);
  void CutTrack(uint32_t track, size_t begin, size_t end, size_t part_events);
  void FindOpenEnds(const Trace& trace, const Layout& layout, size_t first_part);
  void JoinBlocks(size_t part_events);

  std::vector<size_t> track_begin_;  // one more than tracks
  std::vector<size_t> track_fill_;
  std::vector<uint32_t> items_;
  std::vector<Part> parts_;
  std::vector<size_t> block_begin_;
};

// Whether such an item is a slice; else it is a mark, a moment.
bool HasLength(const Trace& trace, TrackKind kind, uint32_t item);

// The span of an item of a track whose slices nest.
Span NestedSpan(const Trace& trace, const Layout& layout, TrackKind kind, uint32_t item);

}  // namespace nsys::perfetto
