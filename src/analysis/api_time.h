// SPDX-License-Identifier: MIT
// Time in named API calls: which calls, how often, how long.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/window.h"
#include "trace/trace.h"

namespace nsys {

// The rows of trace.calls wholly inside the window whose name `wanted` accepts, ascending. `wanted`
// is asked once per distinct name. Needs kTime, kName of the calls.
std::vector<uint32_t> CallsNamed(const Trace& trace, const std::optional<Window>& window,
                                 const std::function<bool(std::string_view name)>& wanted);

// What several events of one name took.
struct NamedTime {
  std::string_view name;
  int64_t count = 0;
  int64_t total_ns = 0;  // summed durations; calls within calls count in both
  int64_t longest_ns = 0;

  void Add(int64_t duration_ns);
};

// Calls by name, in no particular order.
std::vector<NamedTime> TimeByName(const Trace& trace, const std::vector<uint32_t>& calls);

// Whether `a` comes before `b` in a table: more time first, then by name.
bool MoreTime(const NamedTime& a, const NamedTime& b);

// Summed over threads: the time in which a thread was in any of `calls`, calls within calls counted
// once. Needs kTime, kThread of the calls.
int64_t ThreadTime(const Trace& trace, const std::vector<uint32_t>& calls);

}  // namespace nsys
