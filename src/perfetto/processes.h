// SPDX-License-Identifier: MIT
// The source processes of a Perfetto trace. A process is its whole word (host, VM and pid), since a
// pid alone repeats across hosts and containers. Where the tables of the GPU and those of the
// processor write different words for one pid, and each only one, both mean the same process.
#pragma once

#include <cstdint>
#include <vector>

#include "trace/trace.h"

namespace nsys::perfetto {

struct SourceProcess {
  int64_t word = 0;  // thread bits zero
  int64_t pid = 0;
};

struct Processes {
  // By (pid, word). Always with the process 0, to which belongs what the capture assigns to none.
  std::vector<SourceProcess> list;
  ProcessId unknown = ProcessId::kNone;  // the process 0
  // Places in `list`, or kNone where the capture does not tell.
  std::vector<ProcessId> of_lane;    // by LaneId
  std::vector<ProcessId> of_thread;  // by ThreadId

  ProcessId OfThread(ThreadId thread) const {
    return thread == ThreadId::kNone ? ProcessId::kNone : of_thread[Index(thread)];
  }
  // `process`, or the process 0 for kNone.
  ProcessId Known(ProcessId process) const {
    return process == ProcessId::kNone ? unknown : process;
  }
};

Processes NumberProcesses(const Trace& trace);

}  // namespace nsys::perfetto
