// SPDX-License-Identifier: MIT
#include "ingest/load_notes.h"

#include <fmt/core.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/text.h"

namespace nsys {

// Processes number GPUs as they see them, so "device 0" of two processes may be two GPUs.
void ListDevices(Trace& trace) {
  for (const CudaDevice& device : trace.cuda_devices) {
    if (trace.device_inventory.empty() || trace.device_inventory.back() != device.ordinal) {
      trace.device_inventory.push_back(device.ordinal);
    }
  }
  for (const int64_t ordinal : trace.device_inventory) {
    std::vector<std::string> gpus;
    for (const CudaDevice& device : trace.cuda_devices) {
      const bool used = std::any_of(trace.lanes.begin(), trace.lanes.end(), [&](const Lane& lane) {
        return lane.device == ordinal && lane.global_pid &&
               Process{*lane.global_pid}.pid() == device.pid;
      });
      if (device.ordinal == ordinal && device.gpu && used &&
          (gpus.empty() || gpus.back() != std::to_string(*device.gpu))) {
        gpus.push_back(std::to_string(*device.gpu));
      }
    }
    if (gpus.size() > 1) {
      trace.warnings.push_back(fmt::format(
          "device {} stands for the GPUs {} in different processes; figures of device {} "
          "put them together",
          ordinal, Join(gpus, " and "), ordinal));
    }
  }
}

// Without names communication cannot be told from compute, nor one call from another.
void WarnOfUnreadableNames(Trace& trace) {
  const KernelTable& kernels = trace.kernels;
  const auto unknown = [](StringId id) { return id == StringId::kNone; };
  if (!trace.schema.Has(TableId::kStringIds)) {
    return;  // skills that need names abstain
  }
  const bool kernels_unnamed =
      !kernels.short_name.empty() &&
      std::all_of(kernels.short_name.begin(), kernels.short_name.end(), unknown) &&
      std::all_of(kernels.demangled_name.begin(), kernels.demangled_name.end(), unknown);
  if (kernels_unnamed) {
    trace.warnings.emplace_back(
        "not one kernel name could be read from StringIds: what kernels do (communication, matrix "
        "products) is unknown here, and every kernel counts as compute");
  }
  const std::vector<StringId>& calls = trace.calls.name;
  if (!calls.empty() && std::all_of(calls.begin(), calls.end(), unknown)) {
    trace.warnings.emplace_back(
        "not one name of an API call could be read from StringIds: what the host does is unknown");
  }
}

// A table under another case of letters is not the table: exports write the names exactly.
void WarnOfNearMisses(const Reads& reads, Trace& trace) {
  for (size_t i = 0; i < kTableCount; ++i) {
    const auto table = static_cast<TableId>(i);
    const std::string_view name = CanonicalName(table);
    if (trace.schema.Has(table) || reads.Of(table).empty()) {
      continue;
    }
    for (const SourceTable& other : trace.schema.tables) {
      if (LowerAscii(other.name) == LowerAscii(name)) {
        trace.warnings.push_back(
            fmt::format("the table {} is not read: the name of such a table "
                        "is {}, in these letters",
                        Printable(other.name), name));
      }
    }
  }
}

}  // namespace nsys
