// SPDX-License-Identifier: MIT
#include "trace/reads.h"

#include <algorithm>

namespace nsys {

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
    case TableId::kGpu:
      return "TARGET_INFO_GPU";
    case TableId::kThreadNames:
      return "ThreadNames";
    case TableId::kSamples:
      return "COMPOSITE_EVENTS";
    case TableId::kOverhead:
      return "PROFILER_OVERHEAD";
    case TableId::kNics:
      return "TARGET_INFO_NIC_INFO";
    case TableId::kMemoryKinds:
      return "ENUM_CUDA_MEM_KIND";
    case TableId::kSyncTypes:
      return "ENUM_CUPTI_SYNC_TYPE";
    case TableId::kPayloadSchemas:
      return "NVTX_PAYLOAD_SCHEMAS";
    case TableId::kPayloadEntries:
      return "NVTX_PAYLOAD_SCHEMA_ENTRIES";
    case TableId::kOsrt:
      return "OSRT_API";
    case TableId::kMemoryUsage:
      return "CUDA_GPU_MEMORY_USAGE_EVENTS";
    case TableId::kGpuMetrics:
      return "GPU_METRICS";
    case TableId::kGpuMetricNames:
      return "TARGET_INFO_GPU_METRICS";
    case TableId::kProcesses:
      return "PROCESSES";
    case TableId::kExportSettings:
      return "META_DATA_EXPORT";
    case TableId::kSessionStart:
      return "TARGET_INFO_SESSION_START_TIME";
  }
  return "";
}

bool Reads::HasAny(RowKind kind) const {
  return std::any_of(rows_.begin(), rows_.end(), [&](RowKinds rows) { return rows.Has(kind); });
}

void Reads::Add(const Reads& other) {
  const bool mine = HasAny(RowKind::kLaunches);
  const bool theirs = other.HasAny(RowKind::kLaunches);
  if (mine && theirs) {
    focus_.communication_only &= other.focus_.communication_only;
    if (focus_.window != other.focus_.window) {
      focus_.window.reset();
    }
  } else if (theirs) {
    focus_.communication_only = other.focus_.communication_only;
    focus_.window = other.focus_.window;
  }
  if (HasAny(RowKind::kTexts) && other.HasAny(RowKind::kTexts)) {
    focus_.text = [a = focus_.text, b = other.focus_.text](std::string_view text) {
      return a(text) || b(text);
    };
  } else if (other.focus_.text != nullptr) {
    focus_.text = other.focus_.text;
  }
  for (size_t table = 0; table < kTableCount; ++table) {
    columns_[table].Add(other.columns_[table]);
    rows_[table].Add(other.rows_[table]);
  }
}

}  // namespace nsys
