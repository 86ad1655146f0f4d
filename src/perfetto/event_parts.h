// SPDX-License-Identifier: MIT
// The rows of the event table in their order, cut into row groups.
#pragma once

#include <cstddef>
#include <vector>

#include "perfetto/layout.h"

namespace nsys::perfetto {

// The rows come in sections; a row group holds rows of one.
enum class EventSection { kCalls, kKernels, kCopies, kNvtx };

// A row group to be.
struct EventPart {
  EventSection section = EventSection::kCalls;
  size_t rows = 0;  // some
  // Of Layout::call_slices, the kernels, the copies (of which only those are meant that are drawn)
  // or Layout::range_slices.
  size_t begin = 0;
  size_t end = 0;
  // Of Layout::projections: kNvtx is two lists merged.
  size_t projected_begin = 0;
  size_t projected_end = 0;
};

// Calls by (row, device), kernels, copies, then of every NVTX row its slices and its projections.
std::vector<EventPart> CutIntoParts(const Layout& layout, size_t rows_per_part);

// Whether the next row of kNvtx is Layout::range_slices[range], not Layout::projections[projected].
inline bool IsRangeNext(const Layout& layout, size_t range, size_t projected) {
  return projected == layout.projections.size() ||
         (range < layout.range_slices.size() &&
          layout.range_slices[range].row <= layout.projections[projected].row);
}

}  // namespace nsys::perfetto
