// SPDX-License-Identifier: MIT
// Time that the host spends blocked in CUDA synchronization.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "trace/intervals.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace nsys {

// What HostSyncSpans reads; to be added to the reads of a skill that calls it.
void AddHostSyncReads(Reads& reads);

// The union of all synchronization intervals that block a host thread, cut to [begin_ns, end_ns),
// or nothing when the capture has no synchronization table. A stream that waits for an event
// (ENUM_CUPTI_SYNC_TYPE 2) blocks no host thread and does not count, unless the API call that made
// the record is a …Synchronize: some tracers mislabel those. With `device`, only records of
// contexts whose kernels ran there: the device column of these records is 0 for every process in
// practice.
std::optional<SpanSet> HostSyncSpans(const Trace& trace, std::optional<int64_t> device,
                                     int64_t begin_ns, int64_t end_ns);

}  // namespace nsys
