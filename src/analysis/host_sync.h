// SPDX-License-Identifier: MIT
// Time that the host spends blocked in CUDA synchronization.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "trace/intervals.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace nsys {

// What HostSyncSpans and SyncRowsOf read; to be added to the reads of a skill that calls them.
void AddHostSyncReads(Reads& reads);

// ENUM_CUPTI_SYNC_TYPE.
inline constexpr int32_t kEventSynchronize = 1;
inline constexpr int32_t kStreamWaitEvent = 2;
inline constexpr int32_t kStreamSynchronize = 3;
inline constexpr int32_t kContextSynchronize = 4;

// What the API call of this name waits for, or nothing when it is no …Synchronize.
std::optional<int32_t> SynchronizedBy(std::string_view call);

// What the rows of trace.syncs mean. A stream that waits for an event (type 2) blocks no host
// thread; every other row does. Some tracers label a …Synchronize call as such a wait: the call
// that made the row tells better, and its row has the type that the call's name says.
struct SyncRows {
  std::vector<int32_t> type;        // of each row
  std::vector<uint8_t> relabelled;  // of each row: whether `type` is not what the capture says
  // Of each LaneId: the device on which the kernels of its context ran, else the lane's own. The
  // device column of these records is 0 for every process in practice.
  std::vector<std::optional<int64_t>> device;

  bool Blocks(size_t row) const { return type[row] != kStreamWaitEvent; }
};
const SyncRows& SyncRowsOf(Views& views);

// The union of all synchronization intervals that block a host thread, cut to [begin_ns, end_ns),
// or nothing when the capture has no synchronization table. With `device`, only those of contexts
// whose kernels ran there.
std::optional<SpanSet> HostSyncSpans(Views& views, std::optional<int64_t> device, int64_t begin_ns,
                                     int64_t end_ns);

}  // namespace nsys
