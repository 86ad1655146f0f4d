// SPDX-License-Identifier: MIT
// ProbeSchema: which table of the file answers for which TableId.
#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/number.h"
#include "base/text.h"
#include "ingest/schema_probe.h"

namespace nsys {
namespace {

// Nsight's own tables of the shape of GPU work that are no work of ours to read.
constexpr std::string_view kKnownOthers[] = {
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS", "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
    "CUPTI_ACTIVITY_KIND_OVERHEAD",  "CUDA_GPU_MEMORY_USAGE_EVENTS",
    "CUDA_GPU_MEMORY_POOL_EVENTS",   "PROFILER_OVERHEAD",
};

// The n of <prefix>_V<n>, if `name` is such a name.
std::optional<int64_t> VersionOf(std::string_view name, std::string_view prefix) {
  if (!name.starts_with(prefix)) {
    return std::nullopt;
  }
  std::string_view rest = name.substr(prefix.size());
  if (!rest.starts_with("_V")) {
    return std::nullopt;
  }
  rest.remove_prefix(2);
  if (rest.empty() || !std::all_of(rest.begin(), rest.end(), IsDigit)) {
    return std::nullopt;
  }
  return ParseInt(rest);
}

std::optional<std::string> ExactlyNamed(const std::vector<SourceTable>& tables,
                                        std::string_view name) {
  const auto at = std::find_if(tables.begin(), tables.end(),
                               [&](const SourceTable& table) { return table.name == name; });
  return at == tables.end() ? std::nullopt : std::optional(at->name);
}

// `tables` in byte order of their names, which makes "first" mean something.
std::optional<std::string> Resolve(const std::vector<SourceTable>& tables, TableId id) {
  const std::string_view canonical = CanonicalName(id);
  const SourceTable* best = nullptr;
  std::optional<int64_t> best_version;
  for (const SourceTable& table : tables) {
    if (table.name == canonical) {
      return table.name;
    }
    const std::optional<int64_t> version = VersionOf(table.name, canonical);
    if (version && (!best_version || *version > *best_version)) {
      best_version = version;
      best = &table;
    }
  }
  if (best != nullptr) {
    return best->name;
  }
  for (const SourceTable& table : tables) {
    const std::string_view name = table.name;
    if (name.starts_with(canonical) && !IsDigit(name[canonical.size()])) {
      return table.name;
    }
  }
  if (id == TableId::kOverhead) {
    return ExactlyNamed(tables, LowerAscii(canonical));  // as some exports spell it
  }
  if (id != TableId::kKernel) {
    return std::nullopt;
  }
  for (const SourceTable& table : tables) {
    // Enumerations such as ENUM_CUDA_KERNEL_LAUNCH_TYPE also carry the word.
    const bool named = table.name.find("KERNEL") != std::string::npos;
    if (named && !table.name.starts_with("ENUM_") && table.Find("start") != nullptr) {
      return table.name;
    }
  }
  return std::nullopt;
}

bool LooksLikeGpuWork(const SourceTable& table) {
  return table.Find("start") != nullptr && table.Find("end") != nullptr &&
         table.Find("deviceId") != nullptr;
}

bool IsKnownOther(std::string_view name) {
  return std::find(std::begin(kKnownOthers), std::end(kKnownOthers), name) !=
         std::end(kKnownOthers);
}

// Source columns of a Column: every one of `all` is needed, or any one of `any`.
struct SourceRule {
  std::vector<std::string_view> all;
  std::vector<std::string_view> any;
};

SourceRule NameRule(TableId table) {
  switch (table) {
    case TableId::kKernel:
      return {.all = {}, .any = {"shortName", "demangledName"}};
    case TableId::kRuntime:
      return {.all = {"nameId"}, .any = {}};
    case TableId::kNvtx:
      return {.all = {}, .any = {"text", "textId"}};
    case TableId::kOsrt:
    case TableId::kOverhead:
      return {.all = {"nameId"}, .any = {}};
    default:
      return {};
  }
}

SourceRule KindRule(TableId table) {
  switch (table) {
    case TableId::kMemcpy:
      return {.all = {"copyKind"}, .any = {}};
    case TableId::kSync:
      return {.all = {}, .any = {"syncType", "deprecatedSyncType"}};
    case TableId::kMemoryUsage:
      return {.all = {"memKind", "memoryOperationType"}, .any = {}};
    default:
      return {};
  }
}

SourceRule WholeRule(TableId table) {
  switch (table) {
    case TableId::kSamples:
      return {.all = {"start", "globalTid", "cpuCycles"}, .any = {}};
    case TableId::kOverhead:
    case TableId::kOsrt:
      return {.all = {"start", "end"}, .any = {}};
    case TableId::kGpuMetrics:
      return {.all = {"typeId", "metricId", "value"}, .any = {"timestamp", "rawTimestamp"}};
    default:
      return {};
  }
}

SourceRule TimeRule(TableId table) {
  switch (table) {
    case TableId::kMemoryUsage:
      return {.all = {"start"}, .any = {}};
    case TableId::kGpuMetrics:
      return {.all = {}, .any = {"timestamp", "rawTimestamp"}};
    default:
      return {.all = {"start", "end"}, .any = {}};
  }
}

SourceRule RuleOf(TableId table, Column column) {
  switch (column) {
    case Column::kTime:
      return TimeRule(table);
    case Column::kLane:
      if (table == TableId::kMemoryUsage) {
        return {.all = {"deviceId"}, .any = {}};
      }
      return {.all = {"deviceId", "streamId"}, .any = {}};
    case Column::kCorrelation:
      return {.all = {"correlationId"}, .any = {}};
    case Column::kThread:
      return {.all = {"globalTid"}, .any = {}};
    case Column::kBytes:
      return {.all = {"bytes"}, .any = {}};
    case Column::kName:
      return NameRule(table);
    case Column::kKind:
      return KindRule(table);
    case Column::kMemory:
      return {.all = {"srcKind", "dstKind"}, .any = {}};
    case Column::kPayload:
      return {.all = {"binaryData"}, .any = {}};
    case Column::kWhole:
      return WholeRule(table);
    case Column::kShape:
    case Column::kGraph:
    case Column::kMangled:
    case Column::kRoute:
    case Column::kAttributes:
      return {};
  }
  return {};
}

// What `source` lacks of the columns that `column` of `table` rests on. Optional ones (contextId,
// globalPid, the event type of NVTX rows) are never listed.
std::vector<std::string> MissingSources(const SourceTable& source, TableId table, Column column) {
  const SourceRule rule = RuleOf(table, column);
  const auto has = [&](std::string_view name) { return source.Find(name) != nullptr; };
  std::vector<std::string> missing;
  for (const std::string_view name : rule.all) {
    if (!has(name)) {
      missing.emplace_back(name);
    }
  }
  if (!rule.any.empty() && std::none_of(rule.any.begin(), rule.any.end(), has)) {
    missing.insert(missing.end(), rule.any.begin(), rule.any.end());
  }
  return missing;
}

}  // namespace

Schema ProbeSchema(const TableSource& source) {
  Schema schema;
  schema.tables = source.tables();
  for (size_t i = 0; i < kTableCount; ++i) {
    const auto table = static_cast<TableId>(i);
    schema.resolved[i] = Resolve(schema.tables, table);
    const SourceTable* source_table = schema.Find(table);
    for (size_t c = 0; source_table != nullptr && c < kColumnCount; ++c) {
      schema.missing[i][c] = MissingSources(*source_table, table, static_cast<Column>(c));
    }
  }
  for (const SourceTable& table : schema.tables) {
    const bool resolved = std::find(schema.resolved.begin(), schema.resolved.end(), table.name) !=
                          schema.resolved.end();
    if (!resolved && LooksLikeGpuWork(table) && !IsKnownOther(table.name)) {
      schema.unknown_gpu_tables.push_back(table.name);
    }
  }
  return schema;
}

}  // namespace nsys
