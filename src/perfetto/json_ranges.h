// SPDX-License-Identifier: MIT
// The begin and end events of NVTX ranges in the order in which a reader has to see them.
#pragma once

#include <cstdint>
#include <vector>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// One end of a range, or a mark.
struct RangeEvent {
  uint32_t code = 0;  // twice the place of the slice, plus 1 for its end

  bool is_end() const { return (code & 1U) != 0; }
  // A place in Layout::range_slices and, behind them, in Layout::projections.
  uint32_t slice() const { return code >> 1; }
};

// All events of all tracks: by (process, track, time). At one time ends come before begins, of ends
// the innermost first, of begins the longest first, and the end of a range without a length right
// behind its begin; so ranges that nest are a stack of begins and ends.
// O(slices), where each track is in order of its starts already.
std::vector<RangeEvent> OrderRangeEvents(const Trace& trace, const Layout& layout);

}  // namespace nsys::perfetto
