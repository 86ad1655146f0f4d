// SPDX-License-Identifier: MIT
// Which call launched each kernel and copy, for drawing: the call of the same process and
// correlation id that starts nearest before the work, else nearest after it, however late (the
// arrow is then left out, the link is not). Skills link with a limit instead: see
// trace/launches.h.
//
// Two contexts of a process can use one correlation id at the same time. Work is then linked to a
// call whose thread is known to launch into its context, where there is such a call before it.
#pragma once

#include <cstdint>
#include <vector>

#include "perfetto/processes.h"
#include "trace/call_index.h"
#include "trace/launches.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// By row of a table of GPU work.
struct Links {
  // The process of the lane. Where the capture does not tell: the only one that has a call with the
  // correlation id, else process 0.
  std::vector<ProcessId> process;
  std::vector<uint32_t> key;   // of the CallIndex, or kNoKey
  std::vector<uint32_t> call;  // row of trace.calls, or kNoCall
};

struct LaunchLinks {
  Links kernels;
  Links copies;
};

LaunchLinks LinkWork(const Trace& trace, const Processes& processes, const CallIndex& index);

}  // namespace nsys::perfetto
