// SPDX-License-Identifier: MIT
// How long is the host blocked in CUDA synchronization?
//
// Synchronization records, cut to the window (else to the span of all kernels and graphs).
// total = union of the records that block a host thread; density = 100 · total / length of the
// window. Which records block, and on which device they count: analysis/host_sync.h. By type: the
// union of the records of each type, stream waits too.

#include <fmt/core.h>

#include "analysis/device_busy.h"
#include "analysis/sync_cost.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

void AddNotes(const SyncCost& cost, Answer& answer) {
  if (cost.stream_wait_ns > 0) {
    answer.notes.push_back(fmt::format(
        "Streams wait for events for {}; that blocks no host thread and is in no total.",
        FormatDuration(cost.stream_wait_ns)));
  }
  if (cost.relabelled > 0) {
    answer.notes.push_back(fmt::format(
        "{} of type stream wait came from a …Synchronize call and counts as what the call says.",
        Counted(cost.relabelled, "record")));
  }
  if (cost.by_device.size() > 1) {
    answer.notes.emplace_back(
        "The total is the time in which any host thread is blocked: devices may add up to more.");
  }
  if (cost.some_without_device && !cost.by_device.empty()) {
    answer.notes.emplace_back("Some records tell no device; they are in the total alone.");
  }
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  const std::optional<Span> span = SyncCostSpan(trace, query.window);
  if (!span) {
    return Answer::Abstain("There is no GPU work in this capture to relate waiting to.");
  }
  const auto device = query.params.OptionalInt("device");
  const SyncCost& cost = *SyncCostOf(query.views, device, *span);
  const SyncCost& any = *SyncCostOf(query.views, std::nullopt, *span);
  if (device && any.by_device.empty() && any.some_without_device) {
    return Answer::Problem({{"error", "the synchronization records of this capture tell no device"},
                            {"requested_device", device},
                            {"hint", "leave out the parameter device"}});
  }
  Answer answer;
  answer.rows.push_back(SyncCostRow(trace, cost, *span));
  AddNotes(cost, answer);
  return answer;
}

// "STREAM_SYNCHRONIZE 428.61 ms, EVENT_SYNCHRONIZE 0.31 ms".
std::string TypesText(const Object& row) {
  constexpr std::string_view kPrefix = "CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_";
  std::vector<std::string> parts;
  for (const auto& [type, ms] : row.Find("sync_by_type_ms")->AsObject()->entries()) {
    const std::string_view name = type;
    parts.push_back(fmt::format("{} {:.2f} ms",
                                name.starts_with(kPrefix) ? name.substr(kPrefix.size()) : name,
                                *ms.AsDouble()));
  }
  return parts.empty() ? "none" : Join(parts, ", ");
}

std::string TotalText(const Object& row) {
  return fmt::format(
      "{:.2f} ms of {:.2f} ms ({:.1f} %)", *row.Find("total_sync_wall_ms")->AsDouble(),
      *row.Find("profile_span_ms")->AsDouble(), *row.Find("sync_density_pct")->AsDouble());
}

std::string DevicesText(const Object& row) {
  const List* devices = row.Find("sync_by_device")->AsList();
  if (devices == nullptr) {
    return "not recorded";
  }
  std::vector<std::string> parts;
  for (const Value& one : *devices) {
    const Object& device = *one.AsObject();
    parts.push_back(fmt::format("device {}: {:.2f} ms ({:.1f} %)", *device.Find("device")->AsInt(),
                                *device.Find("total_sync_wall_ms")->AsDouble(),
                                *device.Find("sync_density_pct")->AsDouble()));
  }
  return parts.empty() ? "none" : Join(parts, ", ");
}

Reads SkillReads() {
  Reads reads;
  AddDeviceBusyReads(reads);
  AddSyncCostReads(reads);
  return reads;
}

}  // namespace

Skill skill_sync_cost_analysis() {
  return {
      .name = "sync_cost_analysis",
      .category = Category::kSystem,
      .title = "Synchronization Cost Analysis",
      .doc = "How long the host is blocked in CUDA synchronization, by kind of wait and by device.",
      .needs = {TableId::kSync, TableId::kSyncTypes},
      .reads = SkillReads(),
      .params = {Param::Optional("device", ParamType::kInt,
                                 "only waits for this GPU; without it those for all")},
      .window_rule = WindowRule::kClip,
      .columns =
          {{"total_sync_wall_ms", Unit::kMs,
            "time in which any host thread is blocked in synchronization", "Host blocked",
            TotalText},
           {"sync_by_type_ms", Unit::kNested,
            "ms by ENUM_CUPTI_SYNC_TYPE: the union of the records of each type; stream waits, "
            "which "
            "are in no total, too",
            "By type", TypesText},
           {"sync_by_device", Unit::kNested,
            "the same by the device on which the context's kernels ran; null when not recorded",
            "By device", DevicesText},
           {"profile_span_ms", Unit::kMs,
            "the window as far as anything was recorded, else first start to last end of all "
            "kernels and graphs"},
           {"sync_density_pct", Unit::kPct, "total_sync_wall_ms / profile_span_ms"},
           {"stream_wait_ms", Unit::kMs,
            "time in which streams wait for events, which blocks no host thread"},
           {"relabelled_records", Unit::kCount,
            "records of type stream wait that a …Synchronize call made; they count as that"},
           {"span_start_ns", Unit::kTimeNs, "begin of profile_span_ms"},
           {"span_end_ns", Unit::kTimeNs, "end of profile_span_ms"}},
      .text_form = TextForm::kFields,
      .run = Run};
}

}  // namespace nsys
