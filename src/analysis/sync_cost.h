// SPDX-License-Identifier: MIT
// What CUDA synchronization costs: how long host threads are blocked, by kind of wait and by
// device. Rests on the reading of synchronization records in analysis/host_sync.h.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "base/value.h"
#include "trace/intervals.h"

namespace nsys {

// Stands for all types that the capture's enumeration does not name.
inline constexpr int32_t kUnnamedSync = -1;

// Time of one ENUM_CUPTI_SYNC_TYPE: the union of its intervals.
struct SyncTypeTime {
  int32_t type = 0;
  int64_t ns = 0;
};

struct SyncShare {
  int64_t blocked_ns = 0;             // union of all intervals that block a host thread
  std::vector<SyncTypeTime> by_type;  // of every type, stream waits too; by first start, then type
};

struct SyncCost {
  SyncShare all;                           // threads that wait at once count once
  std::map<int64_t, SyncShare> by_device;  // of records whose device is known
  bool some_without_device = false;        // whether records were left out of by_device
  int64_t stream_wait_ns = 0;              // waits of streams for events: part of no blocked_ns
  int64_t relabelled = 0;                  // records whose call says another type than they do
};

// What SyncCostOf reads; to be added to the reads of a skill that calls it.
void AddSyncCostReads(Reads& reads);

// Of the records that overlap `span`, cut to it; with `device`, only that device's. Nothing when
// the capture has no synchronization table.
const std::optional<SyncCost>& SyncCostOf(Views& views, std::optional<int64_t> device,
                                          const Span& span);

// 100 · blocked / span, or 0 for an empty span. At most 100, since both lie in one window.
double SyncDensityPct(const SyncShare& share, const Span& span);

// The name of a type in the capture's own enumeration, else "Unknown".
std::string_view SyncTypeName(const Trace& trace, int32_t type);

// What the costs are related to: the window as far as anything was recorded, else the span of all
// kernels and graphs; nothing when there is no work.
std::optional<Span> SyncCostSpan(const Trace& trace, const std::optional<Window>& window);

// `cost` within `span` as a row, for every skill that quotes it.
Object SyncCostRow(const Trace& trace, const SyncCost& cost, const Span& span);

}  // namespace nsys
