// SPDX-License-Identifier: MIT
// Values over time: GPU memory in use, and what a GPU counted.
#pragma once

#include "perfetto/extra_groups.h"
#include "perfetto/extra_tracks.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// What each process has allocated on each device since the capture began, less what it released,
// by kind of memory: a sample at each change. Where only the protobuf trace is to show it, no group
// is made for it, and its tracks are marked.
void AddMemoryCounters(const Trace& trace, const Layout& layout, const ExtraGroups& groups,
                       ExtraTracks& tracks);

// A track per metric of a GPU, under the groups of its device. Metrics of a GPU that cannot be told
// to be a device of the trace are left out with a warning.
void AddMetricCounters(const Trace& trace, Layout& layout, const ExtraGroups& groups,
                       ExtraTracks& tracks);

}  // namespace nsys::perfetto
