// SPDX-License-Identifier: MIT
// One loader per table of the trace. Each fills the table's columns in time order, with keys under
// numbers of its own (see interner.h); load.cc gives them their final ones.
#pragma once

#include <compare>
#include <optional>
#include <string>
#include <vector>

#include "ingest/event_reader.h"
#include "ingest/interner.h"
#include "trace/trace.h"

namespace nsys {

// A thread and a domain of it, while threads have no numbers yet.
struct RawNvtxLane {
  std::optional<int64_t> global_tid;
  int64_t domain = 0;
  auto operator<=>(const RawNvtxLane&) const = default;
};

// What a table saw besides its columns.
struct TableFindings {
  Interner<Lane> lanes;
  Interner<int64_t> threads;  // globalTid words of calls
  Interner<RawNvtxLane> nvtx_lanes;
  std::vector<std::string> payloads;       // distinct ones, by number of NvtxTable::payload
  std::vector<NvtxAttributes> attributes;  // distinct ones, by number of NvtxTable::attributes
  int64_t rows_left_out = 0;
  int64_t rows_clamped = 0;
  int64_t texts_repaired = 0;
  std::vector<std::string> warnings;

  void Note(const EventReader& reader) {
    rows_left_out = reader.LeftOut();
    rows_clamped = reader.Clamped();
    warnings = reader.Warnings();
  }
};

// Each reads the columns `wanted`; times always. A table that the capture lacks stays empty.
Status LoadKernels(LoadContext& context, ColumnSet wanted, KernelTable& to,
                   TableFindings& findings);
Status LoadCopies(LoadContext& context, ColumnSet wanted, CopyTable& to, TableFindings& findings);
Status LoadMemsets(LoadContext& context, ColumnSet wanted, MemsetTable& to,
                   TableFindings& findings);
Status LoadGraphs(LoadContext& context, ColumnSet wanted, GraphTable& to, TableFindings& findings);
Status LoadSyncs(LoadContext& context, ColumnSet wanted, SyncTable& to, TableFindings& findings);
Status LoadCalls(LoadContext& context, ColumnSet wanted, CallTable& to, TableFindings& findings);
Status LoadNvtx(LoadContext& context, ColumnSet wanted, NvtxTable& to, TableFindings& findings);

Status LoadSamples(LoadContext& context, ColumnSet wanted, SampleTable& to,
                   TableFindings& findings);
Status LoadOverheads(LoadContext& context, ColumnSet wanted, OverheadTable& to,
                     TableFindings& findings);
Status LoadOsCalls(LoadContext& context, ColumnSet wanted, OsCallTable& to,
                   TableFindings& findings);
Status LoadMemoryUsage(LoadContext& context, ColumnSet wanted, MemoryUsageTable& to,
                       TableFindings& findings);
Status LoadGpuMetrics(LoadContext& context, ColumnSet wanted, GpuMetricTable& to,
                      TableFindings& findings);

// Small tables, each read whole. What the capture lacks stays empty.
Status LoadCudaDevices(LoadContext& context, std::vector<CudaDevice>& to);
Status LoadGpus(LoadContext& context, std::vector<Gpu>& to);
Status LoadThreadNames(LoadContext& context, std::vector<ThreadName>& to);
Status LoadNics(LoadContext& context, std::vector<Nic>& to);
Status LoadPayloadSchemas(LoadContext& context, std::vector<PayloadSchema>& to);
Status LoadProcessNames(LoadContext& context, std::vector<ProcessName>& to);
Status LoadGpuMetricNames(LoadContext& context, std::vector<GpuMetricName>& to);
// EXPORT_CONFIG_TIME_SHIFT of META_DATA_EXPORT.
Status LoadExportShift(LoadContext& context, std::optional<int64_t>& to);
// The first systemClockNs of TARGET_INFO_SESSION_START_TIME.
Status LoadSessionStart(LoadContext& context, std::optional<int64_t>& to);
// Number → name of an ENUM_… table.
Status LoadEnumNames(LoadContext& context, TableId table, std::map<int64_t, std::string>& to);

}  // namespace nsys
