// SPDX-License-Identifier: MIT
#include "query/known_schema.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "ingest/schema_probe.h"

namespace nsys {
namespace {

// One table each: its name, then its columns. A column is an INTEGER unless it says otherwise:
// :T text, :R real, :P an integer of the primary key.
constexpr std::string_view kTables[] = {
    "CUPTI_ACTIVITY_KIND_KERNEL start end deviceId contextId greenContextId streamId "
    "correlationId globalPid demangledName shortName mangledName launchType cacheConfig "
    "registersPerThread gridX gridY gridZ blockX blockY blockZ staticSharedMemory "
    "dynamicSharedMemory localMemoryPerThread localMemoryTotal gridId sharedMemoryExecuted "
    "graphNodeId sharedMemoryLimitConfig qmdBulkReleaseDone qmdPreexitDone qmdLastCtaDone "
    "graphId clusterX clusterY clusterZ clusterSchedulingPolicy maxPotentialClusterSize "
    "maxActiveClusters sharedMemoryRequestedPercentage tensorSizeMinusOneElements:T",
    "CUPTI_ACTIVITY_KIND_MEMCPY start end deviceId contextId greenContextId streamId "
    "correlationId globalPid bytes copyKind deprecatedSrcId srcKind dstKind srcDeviceId "
    "srcContextId dstDeviceId dstContextId migrationCause graphNodeId virtualAddress "
    "copyCount",
    "CUPTI_ACTIVITY_KIND_MEMSET start end deviceId contextId greenContextId streamId "
    "correlationId globalPid value bytes graphNodeId memKind",
    "CUPTI_ACTIVITY_KIND_GRAPH_TRACE start end deviceId contextId greenContextId streamId "
    "correlationId globalPid graphId graphExecId",
    "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION start end deviceId contextId greenContextId streamId "
    "correlationId globalPid deprecatedSyncType syncType eventId eventSyncId",
    "CUPTI_ACTIVITY_KIND_CUDA_EVENT timestamp deviceId contextId greenContextId streamId "
    "correlationId globalPid eventId eventSyncId",
    "CUPTI_ACTIVITY_KIND_RUNTIME start end eventClass globalTid correlationId nameId "
    "returnValue callchainId",
    "CUPTI_ACTIVITY_KIND_OVERHEAD start end eventClass globalTid correlationId nameId "
    "overheadType",
    "PROFILER_OVERHEAD start end globalTid nameId returnValue overheadType",
    "CUDA_GPU_MEMORY_USAGE_EVENTS start globalPid deviceId contextId address pc bytes memKind "
    "memoryOperationType name:T correlationId localMemoryPoolAddress "
    "localMemoryPoolReleaseThreshold localMemoryPoolSize localMemoryPoolUtilizedSize "
    "importedMemoryPoolAddress importedMemoryPoolProcessId",
    "CUDA_GPU_MEMORY_POOL_EVENTS start globalPid deviceId address operationType poolType "
    "correlationId minBytesToKeep localMemoryPoolReleaseThreshold localMemoryPoolSize "
    "localMemoryPoolUtilizedSize",
    "CUDA_UM_CPU_PAGE_FAULT_EVENTS start globalPid address originalFaultPc CpuInstruction "
    "module unresolvedFaultPc SourceFile SourceLine",
    "CUDA_UM_GPU_PAGE_FAULT_EVENTS start end globalPid deviceId address numberOfPageFaults "
    "faultAccessType",
    "CUDA_GRAPH_NODE_EVENTS start end eventClass globalTid nameId graphNodeId "
    "originalGraphNodeId",
    "CUDA_GRAPH_EVENTS start end eventClass globalTid nameId graphId originalGraphId "
    "graphExecId",
    "CUDA_CALLCHAINS id:P symbol module unresolved originalIP stackDepth:P",
    "CUBLAS_EVENTS start end eventClass globalTid nameId",
    "CUDNN_EVENTS start end eventClass globalTid nameId",
    "StringIds id:P value:T",
    "TARGET_INFO_GPU vmId id name:T busLocation:T isDiscrete l2CacheSize totalMemory "
    "memoryBandwidth clockRate smCount pwGpuId uuid:T luid chipName:T cuDevice ctxswDevPath:T "
    "ctrlDevPath:T revision nodeMask constantMemory maxIPC maxRegistersPerBlock "
    "maxShmemPerBlock maxShmemPerBlockOptin maxShmemPerSm maxRegistersPerSm threadsPerWarp "
    "asyncEngines maxWarpsPerSm maxBlocksPerSm maxThreadsPerBlock maxBlockDimX maxBlockDimY "
    "maxBlockDimZ maxGridDimX maxGridDimY maxGridDimZ computeMajor computeMinor smMajor "
    "smMinor",
    "TARGET_INFO_CUDA_DEVICE gpuId cudaId pid uuid:T numMultiprocessors",
    "TARGET_INFO_CUDA_CONTEXT_INFO nullStreamId hwId vmId processId deviceId contextId "
    "parentContextId isGreenContext numMultiprocessors",
    "TARGET_INFO_CUDA_STREAM streamId hwId vmId processId contextId priority flag",
    "TARGET_INFO_NVTX_CUDA_DEVICE name:T hwId vmId deviceId",
    "TARGET_INFO_NVTX_CUDA_CONTEXT name:T hwId vmId processId deviceId contextId",
    "TARGET_INFO_NVTX_CUDA_STREAM name:T hwId vmId processId deviceId contextId streamId",
    "TARGET_INFO_SYSTEM_ENV globalVid devStateName:T name:T nameEnum value:T",
    "TARGET_INFO_SESSION_START_TIME utcEpochNs utcTime:T localTime:T systemClockNs",
    "TARGET_INFO_PROCESS processId openGlVersion correlationId nameId",
    "TARGET_INFO_NIC_INFO GUID globalId stateName:T nicId name:T deviceId vendorId linkLayer",
    "TARGET_INFO_NETWORK_METRICS metricsListId metricsIdx name:T description:T unit:T",
    "TARGET_INFO_GPU_METRICS typeId sourceId typeName:T metricId metricName:T",
    "TARGET_INFO_PERF_METRIC id:P name:T description:T unit:T",
    "TARGET_INFO_COMPONENT componentId name:T instance parentId",
    "NIC_ID_MAP nicId globalId",
    "PROCESSES globalPid pid name:T",
    "ThreadNames nameId priority globalTid",
    "ANALYSIS_DETAILS globalVid duration startTime stopTime",
    "ANALYSIS_FILE id:P filename:T content:T contentId globalPid",
    "ProcessStreams globalPid filenameId contentId",
    "DIAGNOSTIC_EVENT timestamp timestampType source severity text:T globalPid",
    "META_DATA_CAPTURE name:T value:T",
    "META_DATA_EXPORT name:T value:T",
    "EXPORT_META_DATA name:T value:T",
    "OSRT_API start end eventClass globalTid correlationId nameId returnValue nestingLevel "
    "callchainId",
    "OSRT_CALLCHAINS id:P symbol module kernelMode thumbCode unresolved specialEntry "
    "originalIP unwindMethod stackDepth:P",
    "SAMPLING_CALLCHAINS id:P symbol module kernelMode thumbCode unresolved specialEntry "
    "originalIP unwindMethod stackDepth:P",
    "SCHED_EVENTS start cpu isSchedIn globalTid threadState threadBlock",
    "COMPOSITE_EVENTS id:P start cpu threadState globalTid cpuCycles",
    "SYSCALL start end eventClass globalTid nameId returnValue nestingLevel callchainId",
    "PERF_EVENT_CPU_RAW_EVENT start end vmId componentId eventId count",
    "PERF_EVENT_CPU_METRIC_EVENT start end vmId componentId metricId value:R",
    "PERF_EVENT_SOC_RAW_EVENT start end vmId componentId eventId count",
    "PERF_EVENT_SOC_METRIC_EVENT start end vmId componentId metricId value:R",
    "CUPTI_ACTIVITY_KIND_OPENACC_DATA start end nameId globalTid eventClass eventKind",
    "CUPTI_ACTIVITY_KIND_OPENACC_LAUNCH start end nameId globalTid eventClass eventKind",
    "CUPTI_ACTIVITY_KIND_OPENACC_OTHER start end nameId globalTid eventClass eventKind",
    "MPI_P2P_EVENTS start end globalTid textId commHandle tag remoteRank size requestHandle",
    "MPI_COLLECTIVES_EVENTS start end globalTid textId commHandle rootRank size recvSize "
    "requestHandle",
    "MPI_START_WAIT_EVENTS start end globalTid textId requestHandle",
    "MPI_OTHER_EVENTS start end globalTid textId",
    "MPI_RANKS globalTid rank",
    "MPI_COMMUNICATORS rank timestamp commHandle parentHandle localRank size groupRoot "
    "groupRootUid members:T",
    "UCP_WORKERS globalTid workerUid",
    "UCP_SUBMIT_EVENTS start end globalTid textId bufferAddr packedSize peerWorkerUid tag",
    "UCP_PROGRESS_EVENTS start end globalTid textId bufferAddr packedSize peerWorkerUid tag",
    "UCP_EVENTS start end globalTid textId",
    "NET_NIC_METRIC start end globalId portId metricsListId metricsIdx value",
    "NET_IB_SWITCH_METRIC start end globalId metricsListId metricsIdx value",
    "GPU_METRICS rawTimestamp timestamp typeId metricId value",
    "GENERIC_EVENTS rawTimestamp timestamp typeId data:T",
    "GENERIC_EVENT_TYPES typeId:P sourceId data:T",
    "GENERIC_EVENT_SOURCES sourceId:P data:T",
    "NVTX_EVENTS start end eventType rangeId category color text:T globalTid endGlobalTid "
    "textId domainId uint64Value int64Value doubleValue:R uint32Value int32Value floatValue:R "
    "jsonTextId jsonText:T binaryData:T",
    "NVTX_PAYLOAD_SCHEMAS domainId schemaId name:T type flags numEntries payloadSize alignTo",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES domainId schemaId idx flags type name:T description:T "
    "arrayOrUnionDetail offset",
    "NVTX_COUNTER_GROUPS domainId counterGroupId schemaId name:T scopeId",
    "NVTX_SCOPES domainId scopeId path:T",
    "GPU_CONTEXT_SWITCH_EVENTS tag vmId seqNo contextId timestamp globalPid gpuId",
    "FECS_EVENTS tag vmId seqNo contextId timestamp globalPid gpuId",
};

// Tables ENUM_<name>, all with the columns id, name and label.
constexpr std::string_view kEnumerations[] = {"CUDA_DEV_MEM_EVENT_OPER",
                                              "CUDA_FUNC_CACHE_CONFIG",
                                              "CUDA_KERNEL_LAUNCH_TYPE",
                                              "CUDA_MEMCPY_OPER",
                                              "CUDA_MEMPOOL_OPER",
                                              "CUDA_MEMPOOL_TYPE",
                                              "CUDA_MEM_KIND",
                                              "CUDA_SHARED_MEM_LIMIT_CONFIG",
                                              "CUDA_UNIF_MEM_ACCESS_TYPE",
                                              "CUDA_UNIF_MEM_MIGRATION",
                                              "CUPTI_OVERHEAD_TYPE",
                                              "CUPTI_STREAM_TYPE",
                                              "CUPTI_SYNC_TYPE",
                                              "DIAGNOSTIC_SEVERITY_LEVEL",
                                              "DIAGNOSTIC_SOURCE_TYPE",
                                              "DIAGNOSTIC_TIMESTAMP_SOURCE",
                                              "NET_DEVICE_ID",
                                              "NET_LINK_TYPE",
                                              "NET_VENDOR_ID",
                                              "NSYS_EVENT_CLASS",
                                              "NSYS_EVENT_TYPE",
                                              "NSYS_GENERIC_EVENT_FIELD_ETW_FLAGS",
                                              "NSYS_GENERIC_EVENT_FIELD_ETW_PROPERTY",
                                              "NSYS_GENERIC_EVENT_FIELD_ETW_TYPE",
                                              "NSYS_GENERIC_EVENT_FIELD_TYPE",
                                              "NSYS_GENERIC_EVENT_GROUP",
                                              "NSYS_GENERIC_EVENT_SOURCE",
                                              "SAMPLING_THREAD_STATE",
                                              "STACK_UNWIND_METHOD"};

SourceColumn ParseColumn(std::string_view word) {
  const size_t colon = word.find(':');
  const char mark = colon == std::string_view::npos ? 'I' : word[colon + 1];
  return {.name = std::string(word.substr(0, colon)),
          .type = mark == 'T'   ? "TEXT"
                  : mark == 'R' ? "REAL"
                                : "INTEGER",
          .primary_key = mark == 'P'};
}

SourceTable ParseTable(std::string_view line) {
  SourceTable table;
  while (!line.empty()) {
    const size_t end = std::min(line.find(' '), line.size());
    const std::string_view word = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
    if (table.name.empty()) {
      table.name = word;
    } else {
      table.columns.push_back(ParseColumn(word));
    }
  }
  return table;
}

class KnownTables final : public TableSource {
 public:
  KnownTables() {
    for (const std::string_view line : kTables) {
      tables_.push_back(ParseTable(line));
    }
    for (const std::string_view name : kEnumerations) {
      tables_.push_back(ParseTable("ENUM_" + std::string(name) + " id:P name:T label:T"));
    }
    std::sort(tables_.begin(), tables_.end(),
              [](const SourceTable& a, const SourceTable& b) { return a.name < b.name; });
  }

  const std::vector<SourceTable>& tables() const override { return tables_; }
  Status Read(std::string_view, std::span<const WantedColumn>, const BatchSink&) const override {
    return {};
  }

 private:
  std::vector<SourceTable> tables_;
};

}  // namespace

Schema KnownSchema() { return ProbeSchema(KnownTables()); }

}  // namespace nsys
