// SPDX-License-Identifier: MIT
// Nsight can write an NVTX range that crosses the border of a capture in the clock of the target's
// system while the rest of the trace is shifted. Where the export says by how much, such ranges are
// put back into the trace.
#pragma once

#include <cstdint>
#include <vector>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

struct ClockRepair {
  std::vector<Layout::RepairedRange> repaired;  // by row
  int64_t ambiguous = 0;                        // only one end point looks shifted: left as it is
};

// Looks at the push-pop ranges with an end.
ClockRepair RepairClocks(const Trace& trace);

}  // namespace nsys::perfetto
