// SPDX-License-Identifier: MIT
#include "trace/trace.h"

#include <algorithm>

namespace nsys {

const SourceColumn* SourceTable::Find(std::string_view column) const {
  const auto at = std::find_if(columns.begin(), columns.end(),
                               [&](const SourceColumn& c) { return c.name == column; });
  return at == columns.end() ? nullptr : &*at;
}

const SourceTable* Schema::Find(std::string_view name) const {
  const auto at = std::find_if(tables.begin(), tables.end(),
                               [&](const SourceTable& t) { return t.name == name; });
  return at == tables.end() ? nullptr : &*at;
}

const SourceTable* Schema::Find(TableId table) const {
  const auto& name = resolved[static_cast<size_t>(table)];
  return name ? Find(*name) : nullptr;
}

ProcessId Trace::FindProcess(std::optional<int64_t> global_pid) const {
  if (!global_pid) {
    return ProcessId::kNone;
  }
  const auto at =
      std::lower_bound(processes.begin(), processes.end(), *global_pid,
                       [](const Process& p, int64_t key) { return p.global_pid < key; });
  const bool found = at != processes.end() && at->global_pid == *global_pid;
  return found ? ProcessId{static_cast<uint32_t>(at - processes.begin())} : ProcessId::kNone;
}

}  // namespace nsys
