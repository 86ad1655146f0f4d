// SPDX-License-Identifier: MIT
#include "analysis/runner.h"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "analysis/selection.h"
#include "base/text.h"

namespace nsys {
namespace {

constexpr std::string_view kCaptureAdvice =
    "Capture again with CUDA tracing on (nsys profile --trace=cuda,nvtx …).";

std::string_view AdviceFor(TableId table) {
  switch (table) {
    case TableId::kNvtx:
      return "Capture again with NVTX ranges: nsys profile --trace=cuda,nvtx …";
    case TableId::kSamples:
      return "Capture again with CPU sampling: nsys profile --sample=process-tree …";
    case TableId::kStringIds:
      return "The export is incomplete: export all tables again with nsys export.";
    case TableId::kPayloadSchemas:
    case TableId::kPayloadEntries:
      return "They come with NVTX ranges of NCCL: nsys profile --trace=cuda,nvtx …, then nsys "
             "export --include-blobs=true.";
    default:
      return kCaptureAdvice;
  }
}

List TextList(const std::vector<std::string>& texts) { return List(texts.begin(), texts.end()); }

bool IsGpuWork(TableId table) {
  constexpr TableId kGpuWork[] = {TableId::kKernel, TableId::kMemcpy, TableId::kMemset,
                                  TableId::kGraphTrace, TableId::kSync};
  return std::find(std::begin(kGpuWork), std::end(kGpuWork), table) != std::end(kGpuWork);
}

// Adds what else might help: GPU tables under names that we do not know.
void AddUnknownTables(const Trace& trace, Object& details) {
  if (!trace.schema.unknown_gpu_tables.empty()) {
    details.Set("unknown_gpu_tables", TextList(trace.schema.unknown_gpu_tables));
  }
}

// Whether a GPU table under an unknown name might be what is missing.
bool MayHaveOtherName(const Trace& trace, const std::vector<TableId>& tables) {
  return std::any_of(tables.begin(), tables.end(), IsGpuWork) &&
         !trace.schema.unknown_gpu_tables.empty();
}

Answer AbstainForTables(const Trace& trace, const std::vector<TableId>& tables) {
  std::vector<std::string> names;
  for (const TableId table : tables) {
    names.emplace_back(CanonicalName(table));
  }
  Object details{{"missing_tables", TextList(names)}};
  const bool other_name = MayHaveOtherName(trace, tables);
  if (other_name) {
    AddUnknownTables(trace, details);
  }
  std::string reason = fmt::format("This capture has no {} table.", Join(names, " and no "));
  const bool only_graphs =
      tables.front() == TableId::kKernel && trace.schema.Has(TableId::kGraphTrace);
  reason += only_graphs ? " CUDA graphs were traced as a whole; capture with "
                          "--cuda-graph-trace=node to see kernels."
                        : fmt::format(" {}", AdviceFor(tables.front()));
  if (other_name) {
    reason += fmt::format(" Tables that look like GPU work under names not known here: {}.",
                          Join(trace.schema.unknown_gpu_tables, ", "));
  }
  return Answer::Abstain(std::move(reason), std::move(details));
}

std::optional<Answer> AbstainForMissingColumns(const Skill& skill, const Trace& trace) {
  Object missing;
  std::vector<std::string> words;
  std::vector<TableId> counted = skill.needs;
  counted.insert(counted.end(), skill.needs_one_of.begin(), skill.needs_one_of.end());
  for (const TableId table : counted) {
    const SourceTable* source = trace.schema.Find(table);
    if (source == nullptr) {
      continue;
    }
    std::vector<std::string> columns;
    for (size_t c = 0; c < kColumnCount; ++c) {
      const auto column = static_cast<Column>(c);
      if (skill.reads.Of(table).Has(column)) {
        const auto& lacking = trace.schema.Missing(table, column);
        columns.insert(columns.end(), lacking.begin(), lacking.end());
      }
    }
    if (columns.empty()) {
      continue;
    }
    std::sort(columns.begin(), columns.end());
    missing.Set(CanonicalName(table), TextList(columns));
    words.push_back(fmt::format("{}.{}", source->name, Join(columns, ", ")));
  }
  if (missing.empty()) {
    return std::nullopt;
  }
  return Answer::Abstain(
      fmt::format("This export lacks columns that the answer rests on: {}.", Join(words, "; ")),
      Object{{"missing_columns", std::move(missing)}});
}

std::optional<Answer> AbstainWithoutAny(const std::vector<TableId>& tables, const Trace& trace) {
  const auto has = [&](TableId table) { return trace.schema.Has(table); };
  const bool lacking = !tables.empty() && std::none_of(tables.begin(), tables.end(), has);
  return lacking ? std::optional(AbstainForTables(trace, tables)) : std::nullopt;
}

std::optional<Answer> AbstainForMissingTables(const std::vector<TableId>& tables,
                                              const Trace& trace) {
  std::vector<TableId> absent;
  std::copy_if(tables.begin(), tables.end(), std::back_inserter(absent),
               [&](TableId table) { return !trace.schema.Has(table); });
  return AbstainWithoutAny(absent, trace);
}

size_t RowsOf(const Trace& trace, TableId table) {
  switch (table) {
    case TableId::kKernel:
      return trace.kernels.size();
    case TableId::kMemcpy:
      return trace.copies.size();
    case TableId::kMemset:
      return trace.memsets.size();
    case TableId::kGraphTrace:
      return trace.graphs.size();
    case TableId::kSync:
      return trace.syncs.size();
    case TableId::kRuntime:
      return trace.calls.size();
    case TableId::kNvtx:
      return trace.nvtx.size();
    case TableId::kSamples:
      return trace.samples.size();
    case TableId::kOverhead:
      return trace.overheads.size();
    default:
      return 0;
  }
}

// An abstention when a table has rows, but not one that could be used: that is not "found none".
std::optional<Answer> AbstainForUnusableRows(const Skill& skill, const Trace& trace) {
  for (const auto& tables : {skill.needs, skill.needs_one_of}) {
    for (const TableId table : tables) {
      const int64_t left_out = trace.rows_left_out[static_cast<size_t>(table)];
      if (left_out > 0 && RowsOf(trace, table) == 0) {
        return Answer::Abstain(
            fmt::format("None of the {} of {} has a start and an end that can be used.",
                        Counted(left_out, "row"), CanonicalName(table)),
            {{"unusable_tables", List{std::string(CanonicalName(table))}}});
      }
    }
  }
  return std::nullopt;
}

std::optional<Answer> AbstainForNoKernels(const Trace& trace) {
  if (trace.kernels.size() > 0) {
    return std::nullopt;
  }
  Object details{{"empty_tables", List{std::string(CanonicalName(TableId::kKernel))}}};
  AddUnknownTables(trace, details);
  return Answer::Abstain(
      fmt::format("There are no GPU kernels in this capture: its kernel table is empty. {}",
                  kCaptureAdvice),
      std::move(details));
}

// Device number → number of kernels, for all devices that the capture knows.
std::map<int64_t, int64_t> KernelCounts(const Trace& trace) {
  const std::vector<int64_t> by_lane = KernelsPerLane(trace);
  std::map<int64_t, int64_t> counts;
  for (const int64_t device : trace.device_inventory) {
    counts.emplace(device, 0);
  }
  for (size_t lane = 0; lane < by_lane.size(); ++lane) {
    if (by_lane[lane] > 0 && trace.lanes[lane].device) {
      counts[*trace.lanes[lane].device] += by_lane[lane];
    }
  }
  return counts;
}

std::string DeviceHint(int64_t device, const std::map<int64_t, int64_t>& counts) {
  std::vector<std::string> known;
  std::vector<std::string> options;
  for (const auto& [id, count] : counts) {
    known.push_back(std::to_string(id));
    if (count > 0) {
      options.push_back(fmt::format("-p device={}", id));
    }
  }
  if (options.empty()) {
    return fmt::format("no kernel ran on device {}, nor on any other", device);
  }
  return fmt::format("no kernel ran on device {}; devices of this capture: {}; try {}", device,
                     Join(known, ", "), Join(options, " or "));
}

// The one device that the question is about; nothing when it is about all of them.
std::optional<int64_t> DeviceAskedFor(const Skill& skill, const Params& params) {
  const Param* param = skill.FindParam("device");
  return param != nullptr && param->type == ParamType::kInt ? params.OptionalInt("device")
                                                            : std::nullopt;
}

// A problem row when the capture has kernels, but no device of the number asked for; an abstention
// when it does not tell on which devices they ran.
std::optional<Answer> RefuseUnknownDevice(const Skill& skill, const Query& query) {
  const std::optional<int64_t> device = DeviceAskedFor(skill, query.params);
  if (!device || query.trace.kernels.size() == 0) {
    return std::nullopt;
  }
  const auto counts = KernelCounts(query.trace);
  const bool placed =
      std::any_of(counts.begin(), counts.end(), [](const auto& one) { return one.second > 0; });
  if (!placed && skill.Needs(TableId::kKernel)) {
    return Answer::Abstain(
        "The kernels of this capture carry no device number.",
        {{"missing_columns",
          Object{{std::string(CanonicalName(TableId::kKernel)), List{"deviceId"}}}}});
  }
  if (counts.empty() || counts.contains(*device)) {
    return std::nullopt;
  }
  return NoKernelsProblem(
      {.trace = query.trace, .params = query.params, .window = std::nullopt, .views = query.views},
      *device);
}

// A figure of one device must not pass for one of the whole capture.
void NoteOtherDevices(const Skill& skill, const Query& query, Answer& answer) {
  const std::optional<int64_t> device = DeviceAskedFor(skill, query.params);
  if (!device) {
    return;  // the answer is about all devices, or says itself which one it is about
  }
  std::vector<std::string> others;
  for (const int64_t other : DevicesWithKernels(query.trace)) {
    if (other != *device) {
      others.push_back(std::to_string(other));
    }
  }
  if (!others.empty()) {
    answer.notes.push_back(
        fmt::format("This is device {} alone; kernels also ran on device {} (-p device=N).",
                    *device, Join(others, ", ")));
  }
}

// Tables that the skill would have used, are there, and cannot be read: their part of the answer is
// unknown, not zero.
void TellUnreadableTables(const Skill& skill, const Trace& trace, Answer& answer) {
  List tables;
  std::vector<std::string> words;
  for (size_t i = 0; i < kTableCount; ++i) {
    const auto table = static_cast<TableId>(i);
    const ColumnSet wanted = skill.reads.Of(table);
    if (!wanted.Has(Column::kTime) || !trace.schema.Has(table)) {
      continue;
    }
    std::vector<std::string> lacking = trace.schema.Missing(table, Column::kTime);
    if (wanted.Has(Column::kLane)) {
      const auto& lane = trace.schema.Missing(table, Column::kLane);
      lacking.insert(lacking.end(), lane.begin(), lane.end());
    }
    const bool unusable = trace.rows_left_out[i] > 0 && RowsOf(trace, table) == 0;
    if (!lacking.empty() || unusable) {
      tables.emplace_back(CanonicalName(table));
      words.push_back(fmt::format(
          "{} ({})", CanonicalName(table),
          lacking.empty() ? "no row has usable times" : "no column " + Join(lacking, ", ")));
    }
  }
  if (tables.empty()) {
    return;
  }
  const std::string note = fmt::format(
      "Could not be read: {}. What the answer says of it is unknown, not zero.", Join(words, ", "));
  answer.notes.push_back(note);
  answer.about.push_back({{"_unreadable_tables", std::move(tables)}, {"note", note}});
}

}  // namespace

Reads ReadsFor(const Skill& skill, const Params& params, const std::optional<Window>& window) {
  Reads reads = skill.reads_for != nullptr ? skill.reads_for(params, window) : skill.reads;
  if ((window && skill.window_rule != WindowRule::kIgnored) || skill.Needs(TableId::kKernel)) {
    reads.Add(TableId::kKernel, {Column::kTime});
  }
  if (skill.FindParam("device") != nullptr) {
    reads.Add(TableId::kKernel, {Column::kTime, Column::kLane});
  }
  return reads;
}

Status CheckWindow(const Trace& trace, const Window& window) {
  const std::optional<Span> span = KernelSpan(trace);
  if (!span || (window.begin_ns < span->end_ns && window.end_ns > span->begin_ns)) {
    return {};
  }
  const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
  const bool open = window.end_ns == std::numeric_limits<int64_t>::max();
  return Error{.code = ErrorCode::kTrimOutOfRange,
               .message = fmt::format("--trim {:.3f} {} selects no part of this capture, whose "
                                      "kernels run from {:.3f} s to {:.3f} s",
                                      seconds(window.begin_ns),
                                      open ? "inf" : fmt::format("{:.3f}", seconds(window.end_ns)),
                                      seconds(span->begin_ns), seconds(span->end_ns)),
               .hint = "give START and END in seconds on the capture's clock, within that span"};
}

Object AvailableDevices(const Trace& trace) {
  Object devices;
  for (const auto& [device, count] : KernelCounts(trace)) {
    devices.Set(std::to_string(device), count);
  }
  return devices;
}

Answer NoKernelsProblem(const Query& query, int64_t device) {
  const auto counts = KernelCounts(query.trace);
  const bool elsewhere_in_time =
      counts.contains(device) && counts.at(device) > 0 && query.window.has_value();
  Object row{{"error", "no kernels found"}, {"requested_device", device}};
  if (query.window) {
    row.Set("requested_trim_ns", List{query.window->begin_ns, query.window->end_ns});
  }
  row.Set("available_devices", AvailableDevices(query.trace));
  row.Set("hint",
          elsewhere_in_time
              ? fmt::format(
                    "device {} has {} kernels, none of them wholly inside the window; widen --trim",
                    device, counts.at(device))
              : DeviceHint(device, counts));
  return Answer::Problem(std::move(row));
}

std::optional<Answer> AbstainWithoutLaunches(const Trace& trace) {
  if (auto answer = AbstainForMissingTables({TableId::kKernel, TableId::kRuntime}, trace)) {
    return answer;
  }
  return AbstainForNoKernels(trace);
}

Result<Answer> RunSkill(const Skill& skill, const Query& query) {
  const Trace& trace = query.trace;
  if (auto answer = RefuseUnknownDevice(skill, query)) {
    return *std::move(answer);
  }
  if (auto answer = AbstainForMissingTables(skill.needs, trace)) {
    return *std::move(answer);
  }
  if (auto answer = AbstainWithoutAny(skill.needs_one_of, trace)) {
    return *std::move(answer);
  }
  if (auto answer = AbstainForMissingColumns(skill, trace)) {
    return *std::move(answer);
  }
  if (auto answer = AbstainForUnusableRows(skill, trace)) {
    return *std::move(answer);
  }
  if (skill.Needs(TableId::kKernel)) {
    if (auto answer = AbstainForNoKernels(trace)) {
      return *std::move(answer);
    }
  }
  Result<Answer> answer = skill.run(query);
  if (answer.ok() && !answer.value().abstention && !answer.value().problem) {
    NoteOtherDevices(skill, query, answer.value());
    TellUnreadableTables(skill, trace, answer.value());
  }
  return answer;
}

}  // namespace nsys
