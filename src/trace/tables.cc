// SPDX-License-Identifier: MIT
#include "trace/tables.h"

#include <algorithm>
#include <numeric>

#include "base/sort_runs.h"

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

std::vector<uint32_t> TimeOrder(const Events& events, std::span<const int64_t> ties) {
  const auto less = [&](uint32_t a, uint32_t b) {
    const int64_t start_a = events.start_ns[a];
    const int64_t start_b = events.start_ns[b];
    if (start_a != start_b) {
      return start_a < start_b;
    }
    const auto rest = [&](uint32_t row) {
      return std::tuple(events.end_ns[row], ties.empty() ? int64_t{0} : ties[row], row);
    };
    return rest(a) < rest(b);
  };
  const auto rows = static_cast<uint32_t>(events.size());
  uint32_t in_order = 1;
  while (in_order < rows && less(in_order - 1, in_order)) {
    ++in_order;
  }
  if (in_order >= rows) {
    return {};
  }
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  SortByRuns(order, less);
  return order;
}

}  // namespace nsys
