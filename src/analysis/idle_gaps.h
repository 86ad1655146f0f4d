// SPDX-License-Identifier: MIT
// Idle gaps of the streams of a device, and what the host did meanwhile.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/trace.h"

namespace nsys {

// One stretch in which a stream had nothing to run: from the largest end so far to the next start.
struct IdleGap {
  LaneId lane = LaneId::kNone;
  int64_t start_ns = 0;
  int64_t end_ns = 0;
  StringId before = StringId::kNone;  // kernel that ended last, and kernel that starts next; kNone
                                      // for a CUDA graph
  StringId after = StringId::kNone;
  bool before_is_graph = false;
  bool after_is_graph = false;
  int64_t after_correlation = 0;
  int64_t length_ns() const { return end_ns - start_ns; }
};

struct StreamActivity {
  // Gaps longer than the threshold; longest first, then by start, stream, correlation id.
  std::vector<IdleGap> gaps;
  size_t streams = 0;  // streams with work
  Span span;           // first start to last end of their kernels and graphs
};

// Gaps of more than `min_gap_ns` on each stream of `device`, between kernels and whole-traced CUDA
// graphs that lie inside the window. Needs kTime, kLane, kCorrelation, kName of kernels and kTime,
// kLane, kCorrelation of graphs.
StreamActivity FindIdleGaps(const Trace& trace, int64_t device, const std::optional<Window>& window,
                            int64_t min_gap_ns);

struct ApiShare {
  std::string name;
  int64_t ns = 0;
};

// What went on during a gap.
struct GapActivity {
  // API time by function, each call cut to the gap; only calls of the stream's process where it is
  // known. Longest first, then by name.
  std::vector<ApiShare> apis;
  int64_t calls_ns = 0;   // time in which any of these calls was running
  int64_t copies_ns = 0;  // time in which a copy or memset ran on the gap's device
};
// Reads what overlaps the gap and a 1/512 part of the rest.
GapActivity ActivityWithin(Views& views, const IdleGap& gap);

enum class HostActivity { kSynchronization, kMemoryTransfer, kKernelLaunch, kOther, kNoCalls };

// What the host mostly did: the kind with the most API time; ties go to the first of the
// enumeration.
HostActivity DominantActivity(const std::vector<ApiShare>& shares);

}  // namespace nsys
