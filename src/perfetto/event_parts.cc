// SPDX-License-Identifier: MIT
#include "perfetto/event_parts.h"

#include <algorithm>

namespace nsys::perfetto {
namespace {

class Cutter {
 public:
  Cutter(const Layout& layout, size_t rows_per_part)
      : layout_(layout), rows_per_part_(rows_per_part) {}

  void CutCalls() {
    const size_t rows = layout_.call_slices.size();
    for (size_t begin = 0; begin < rows; begin += rows_per_part_) {
      const size_t end = std::min(rows, begin + rows_per_part_);
      parts_.push_back(
          {.section = EventSection::kCalls, .rows = end - begin, .begin = begin, .end = end});
    }
  }

  void CutDrawn(EventSection section, const std::vector<uint32_t>& track) {
    Begin(section, 0);
    for (size_t row = 0; row < track.size(); ++row) {
      part_.end = row + 1;
      part_.rows += track[row] != kNone ? 1U : 0U;
      EndWhenFull();
    }
    EndWhenAny();
  }

  void CutNvtx() {
    Begin(EventSection::kNvtx, 0);
    while (part_.end < layout_.range_slices.size() ||
           part_.projected_end < layout_.projections.size()) {
      if (IsRangeNext(layout_, part_.end, part_.projected_end)) {
        ++part_.end;
      } else {
        ++part_.projected_end;
      }
      ++part_.rows;
      EndWhenFull();
    }
    EndWhenAny();
  }

  std::vector<EventPart> TakeParts() { return std::move(parts_); }

 private:
  void Begin(EventSection section, size_t begin) {
    part_ = {.section = section, .begin = begin, .end = begin};
  }
  void EndWhenFull() {
    if (part_.rows < rows_per_part_) {
      return;
    }
    parts_.push_back(part_);
    part_.rows = 0;
    part_.begin = part_.end;
    part_.projected_begin = part_.projected_end;
  }
  void EndWhenAny() {
    if (part_.rows != 0) {
      parts_.push_back(part_);
    }
  }

  const Layout& layout_;
  size_t rows_per_part_;
  EventPart part_;  // that is being filled
  std::vector<EventPart> parts_;
};

}  // namespace

std::vector<EventPart> CutIntoParts(const Layout& layout, size_t rows_per_part) {
  Cutter cutter(layout, rows_per_part);
  cutter.CutCalls();
  cutter.CutDrawn(EventSection::kKernels, layout.kernel_stream_track);
  cutter.CutDrawn(EventSection::kCopies, layout.copy_stream_track);
  cutter.CutNvtx();
  return cutter.TakeParts();
}

}  // namespace nsys::perfetto
