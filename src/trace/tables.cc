// SPDX-License-Identifier: MIT
#include "trace/tables.h"

#include <numeric>

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
  const auto key = [&](uint32_t row) {
    return std::make_tuple(events.start_ns[row], events.end_ns[row],
                           ties.empty() ? int64_t{0} : ties[row], row);
  };
  const auto rows = static_cast<uint32_t>(events.size());
  bool sorted = true;
  for (uint32_t row = 1; row < rows && sorted; ++row) {
    sorted = key(row - 1) < key(row);
  }
  if (sorted) {
    return {};
  }
  std::vector<uint32_t> order(rows);
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

}  // namespace nsys
