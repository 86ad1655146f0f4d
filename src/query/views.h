// SPDX-License-Identifier: MIT
// The short views: names that stay the same whatever the version of the capture. A capture has
// those whose table it has; a table of its own of the same name wins.
//
//   kernels        KERNEL table and name (demangled, else short, else kernel_<id>), demangled,
//                  is_tc_eligible, uses_tc (1 or 0: whether the name says that the kernel could
//                  use, or uses, Tensor Cores)
//   runtime        RUNTIME table and name
//   nvtx           NVTX_EVENTS with text resolved through StringIds
//   memcpy         MEMCPY table and direction (H2D, D2H, …)
//   memset         MEMSET table
//   sync           SYNCHRONIZATION table and name of the sync type
//   overhead       CUPTI_ACTIVITY_KIND_OVERHEAD and name
//   thread_names   ThreadNames and name
//   profiler_overhead, composite_events, string_ids, gpu_info, cuda_device, nic_info, sync_type,
//   nvtx_payload_schemas, nvtx_payload_schema_entries: the table of that meaning
//
// A canonical table name whose table the capture has only under a versioned name
// (CUPTI_ACTIVITY_KIND_KERNEL_V3) is a view of that table. Views have no rowid.
#pragma once

#include <string>
#include <vector>

#include "query/sql_session.h"
#include "trace/trace.h"

namespace nsys {

struct ShortView {
  std::string name;
  std::string query;                // its SELECT, in the engine's dialect
  std::vector<std::string> tables;  // of the capture, that it reads
};

// Names of the SQL functions that `kernels` uses: of a kernel's name, 1 or 0, null of null.
inline constexpr std::string_view kTensorCoreEligible = "nsys_tensor_core_eligible";
inline constexpr std::string_view kTensorCoreActive = "nsys_tensor_core_active";

std::vector<ShortView> ShortViews(const Schema& schema, SqlEngine engine);

// Whether `name` is the name of a short view in some capture.
bool IsShortViewName(std::string_view name);

}  // namespace nsys
