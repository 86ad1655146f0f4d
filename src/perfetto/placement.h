// SPDX-License-Identifier: MIT
// The steps that put rows on tracks. Each fills its columns of the layout with numbers of the
// TrackPlan, which TrackPlan::Finish turns into places in Layout::tracks.
#pragma once

#include <cstdint>

#include "perfetto/devices.h"
#include "perfetto/layout.h"
#include "perfetto/links.h"
#include "perfetto/processes.h"
#include "perfetto/ranges.h"
#include "perfetto/tracks.h"
#include "trace/call_index.h"
#include "trace/intervals.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// What the steps look at.
struct Parts {
  const Trace& trace;
  const Options& options;
  const Processes& processes;
  const CallIndex& index;
  const LaunchLinks& links;
  const Devices& devices;
  const GroupPlan& groups;
  const Ranges& ranges;
};

// Kernels and copies on their streams, kernels on the Core Timeline, copies on usage tracks. Adds
// what is drawn to `drawn`.
void PlaceWork(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout);

// API calls: those that launched something drawn, and what Options::api_scope wants besides.
void PlaceCalls(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout);

// NVTX rows on the threads that wrote them, and ranges over the kernels launched in them. Sets the
// end of open ranges: Layout::last_ns.
void PlaceRanges(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout);

}  // namespace nsys::perfetto
