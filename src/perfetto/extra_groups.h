// SPDX-License-Identifier: MIT
// Under which groups the rows of tables drawn on request are shown. Groups that nothing else needed
// are made first, since that shifts the numbers of others.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "perfetto/devices.h"
#include "perfetto/layout.h"
#include "perfetto/processes.h"
#include "trace/trace.h"

namespace nsys::perfetto {

class ExtraGroups {
 public:
  ExtraGroups(const Trace& trace, Layout& layout);

  // Makes the groups that the rows of `events` which are drawn need.
  void NeedLanes(const GpuEvents& events);
  void NeedThreads(const Events& events, const std::vector<ThreadId>& threads);
  // Ends the needs. All below come after it.
  void Settle();

  // The group of the lane's process and device; kNone when there is none.
  uint32_t OfLane(LaneId lane) const { return of_lane_[Index(lane)]; }
  // Of rows of the processor: the host group of the process or all its others, as for API calls.
  // What belongs to no thread is shown everywhere.
  const std::vector<uint32_t>& OfThread(ThreadId thread) const {
    return thread == ThreadId::kNone ? everywhere_
                                     : of_process_[Index(processes_.OfThread(thread))];
  }

 private:
  void FindContexts(const GpuEvents& events);
  ProcessId ProcessOf(LaneId lane) const {
    return processes_.Known(processes_.of_lane[Index(lane)]);
  }
  int64_t DeviceOf(LaneId lane) const;

  const Trace& trace_;
  Layout& layout_;
  Processes processes_;
  // By process and context: its device, or kNoNumber where kernels and copies name several.
  std::map<std::pair<ProcessId, int64_t>, int64_t> device_of_context_;
  std::vector<int64_t> devices_;  // of the groups at the start, ascending
  std::vector<uint32_t> of_lane_;
  std::vector<std::vector<uint32_t>> of_process_;  // by place in processes_.list
  std::vector<uint32_t> everywhere_;
};

}  // namespace nsys::perfetto
