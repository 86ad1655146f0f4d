// SPDX-License-Identifier: MIT
#include "analysis/sync_cost.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "analysis/device_busy.h"
#include "analysis/host_sync.h"
#include "base/number.h"

namespace nsys {
namespace {

// The intervals of one device, by type.
struct Intervals {
  std::vector<Span> spans;
  int64_t first_ns = std::numeric_limits<int64_t>::max();  // first start, before cutting
};
using ByType = std::map<int32_t, Intervals>;

void AddTo(ByType& types, int32_t type, const Span& cut, int64_t start_ns) {
  Intervals& intervals = types[type];
  intervals.spans.push_back(cut);
  intervals.first_ns = std::min(intervals.first_ns, start_ns);
}

SyncShare ShareOf(ByType types) {
  std::vector<std::pair<int64_t, int32_t>> order;
  std::vector<Span> blocked;
  std::map<int32_t, int64_t> ns;
  for (auto& [type, intervals] : types) {
    order.emplace_back(intervals.first_ns, type);
    const SpanSet united = Union(std::move(intervals.spans));
    ns[type] = Length(united);
    if (type != kStreamWaitEvent) {
      blocked.insert(blocked.end(), united.begin(), united.end());
    }
  }
  std::sort(order.begin(), order.end());
  SyncShare share;
  share.blocked_ns = Length(Union(std::move(blocked)));
  for (const auto& [first, type] : order) {
    share.by_type.push_back({.type = type, .ns = ns[type]});
  }
  return share;
}

SyncCost Compute(Views& views, std::optional<int64_t> device, const Span& window) {
  const SyncTable& syncs = views.trace().syncs;
  const std::map<int64_t, std::string>& names = views.trace().sync_types;
  const SyncRows& rows = SyncRowsOf(views);
  SyncCost cost;
  ByType all;
  std::map<int64_t, ByType> by_device;
  for (size_t row = 0; row < syncs.size(); ++row) {
    const Span cut{std::max(syncs.start_ns[row], window.begin_ns),
                   std::min(syncs.end_ns[row], window.end_ns)};
    const std::optional<int64_t> of = rows.device[Index(syncs.lane[row])];
    if (cut.end_ns <= cut.begin_ns || (device && of != device)) {
      continue;
    }
    const int32_t type =
        rows.Blocks(row) && !names.contains(rows.type[row]) ? kUnnamedSync : rows.type[row];
    cost.relabelled += rows.relabelled[row];
    AddTo(all, type, cut, syncs.start_ns[row]);
    if (of) {
      AddTo(by_device[*of], type, cut, syncs.start_ns[row]);
    } else {
      cost.some_without_device = true;
    }
  }
  cost.all = ShareOf(std::move(all));
  for (const SyncTypeTime& time : cost.all.by_type) {
    cost.stream_wait_ns += time.type == kStreamWaitEvent ? time.ns : 0;
  }
  for (auto& [of, types] : by_device) {
    cost.by_device.emplace(of, ShareOf(std::move(types)));
  }
  return cost;
}

Object TypesCell(const Trace& trace, const SyncShare& share) {
  Object types;
  for (const SyncTypeTime& time : share.by_type) {
    types.Set(SyncTypeName(trace, time.type), NsToMs(time.ns, 3));
  }
  return types;
}

// Null when records tell nothing of their device.
Value DevicesCell(const Trace& trace, const SyncCost& cost, const Span& span) {
  if (cost.by_device.empty() && cost.some_without_device) {
    return {};
  }
  List devices;
  for (const auto& [device, share] : cost.by_device) {
    devices.emplace_back(Object{{"device", device},
                                {"total_sync_wall_ms", NsToMs(share.blocked_ns, 3)},
                                {"sync_density_pct", SyncDensityPct(share, span)},
                                {"sync_by_type_ms", TypesCell(trace, share)}});
  }
  return devices;
}

}  // namespace

void AddSyncCostReads(Reads& reads) {
  AddHostSyncReads(reads);
  reads.Add(TableId::kSyncTypes, {Column::kWhole});
}

const std::optional<SyncCost>& SyncCostOf(Views& views, std::optional<int64_t> device,
                                          const Span& span) {
  const ViewKey key{
      .device = device, .window = Window{span.begin_ns, span.end_ns}, .text = "cost of waiting"};
  return views.Once<std::optional<SyncCost>>(key, [&]() -> std::optional<SyncCost> {
    if (!views.trace().schema.Has(TableId::kSync)) {
      return std::nullopt;
    }
    return Compute(views, device, span);
  });
}

double SyncDensityPct(const SyncShare& share, const Span& span) {
  return Percent(share.blocked_ns, span.length_ns(), 2).value_or(0);
}

std::string_view SyncTypeName(const Trace& trace, int32_t type) {
  const auto known = trace.sync_types.find(type);
  return known == trace.sync_types.end() ? "Unknown" : std::string_view(known->second);
}

std::optional<Span> SyncCostSpan(const Trace& trace, const std::optional<Window>& window) {
  const auto activity = ActivityWindow(trace, window);
  return activity ? RecordedPart(trace, *activity) : std::nullopt;
}

Object SyncCostRow(const Trace& trace, const SyncCost& cost, const Span& span) {
  return {{"total_sync_wall_ms", NsToMs(cost.all.blocked_ns, 3)},
          {"sync_by_type_ms", TypesCell(trace, cost.all)},
          {"sync_by_device", DevicesCell(trace, cost, span)},
          {"profile_span_ms", NsToMs(span.length_ns(), 3)},
          {"sync_density_pct", SyncDensityPct(cost.all, span)},
          {"stream_wait_ms", NsToMs(cost.stream_wait_ns, 3)},
          {"relabelled_records", cost.relabelled},
          {"span_start_ns", span.begin_ns},
          {"span_end_ns", span.end_ns}};
}

}  // namespace nsys
