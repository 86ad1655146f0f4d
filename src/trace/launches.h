// SPDX-License-Identifier: MIT
// Which API call launched which GPU work. A correlation id is unique within a process only and may
// be used again in a long capture, so the link is by (process, correlation id), and of several
// calls the latest that does not start after the work. Contexts of one process may count their ids
// on their own: where an id has several calls and work of several contexts, the latest call comes
// first whose thread is known, by ids with one call, to launch into the context of the work.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "trace/call_index.h"
#include "trace/trace.h"

namespace nsys {

inline constexpr uint32_t kNoCall = 0xFFFFFFFF;

// The clocks of CPU and GPU are aligned to about a microsecond. When every candidate call starts
// after the work, one that starts within this much of it still counts as its launch.
inline constexpr int64_t kClockSkewNs = 50'000;

// A kernel and the API call that launched it, as rows of their tables.
struct Launch {
  uint32_t kernel = 0;
  uint32_t call = 0;
};

// Sorts by call, then by kernel. Calls lie in order of their start, so this is order by time too.
void SortByCall(std::vector<Launch>& launches);

// For each row of `events`, the row of trace.calls that launched it, or kNoCall. Where the process
// of either side is unknown, the correlation id alone decides, unless calls of several processes
// would do. Needs kTime, kCorrelation of both, kLane of `events` and kThread of the calls.
// O(events · log calls + calls).
// With `wanted`, one byte per row of trace.calls, only the calls that it marks are candidates.
std::vector<uint32_t> LinkLaunches(const Trace& trace, const GpuEvents& events,
                                   std::span<const uint8_t> wanted = {});

// The same with an index of the candidates that is there already.
std::vector<uint32_t> LinkLaunches(const Trace& trace, const GpuEvents& events,
                                   const CallIndex& index);

}  // namespace nsys
