// SPDX-License-Identifier: MIT
#include "trace/tables.h"

#include <algorithm>

#include "trace/trace.h"

namespace nsys {
namespace {

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
    default:
      return {};
  }
}

SourceRule RuleOf(TableId table, Column column) {
  switch (column) {
    case Column::kTime:
      return {.all = {"start", "end"}, .any = {}};
    case Column::kLane:
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
  }
  return {};
}

}  // namespace

std::string_view CanonicalName(TableId table) {
  switch (table) {
    case TableId::kKernel:
      return "CUPTI_ACTIVITY_KIND_KERNEL";
    case TableId::kMemcpy:
      return "CUPTI_ACTIVITY_KIND_MEMCPY";
    case TableId::kMemset:
      return "CUPTI_ACTIVITY_KIND_MEMSET";
    case TableId::kGraphTrace:
      return "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";
    case TableId::kSync:
      return "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION";
    case TableId::kRuntime:
      return "CUPTI_ACTIVITY_KIND_RUNTIME";
    case TableId::kNvtx:
      return "NVTX_EVENTS";
    case TableId::kStringIds:
      return "StringIds";
    case TableId::kCudaDevice:
      return "TARGET_INFO_CUDA_DEVICE";
  }
  return "";
}

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

}  // namespace nsys
