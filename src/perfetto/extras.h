// SPDX-License-Identifier: MIT
// Tracks of tables that are drawn on request (Options::extras): memsets, synchronizations, graphs
// traced as a whole, calls of the operating system's library, the profiler's own cost, memory use
// and GPU metrics.
#pragma once

#include <string_view>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

inline constexpr int64_t kFirstExtraTid = 1'500'000'000;

// What AddExtras has to have loaded, besides what the rest of the layout reads.
Reads ExtraReads(const Options& options);

// Adds the tracks, slices and samples that layout.options asks for to a layout that is complete
// otherwise. What starts before the origin moves the origin, so that no time is negative; memory
// use that only the protobuf trace shows does not, its samples stand at the origin then.
void AddExtras(const Trace& trace, Layout& layout);

// The category of the slices of such a track: "cuda_memset", "osrt", …
std::string_view ExtraCategory(TrackKind kind);

}  // namespace nsys::perfetto
