// SPDX-License-Identifier: MIT
#include "analysis/api_time.h"

#include <algorithm>
#include <map>

#include "trace/intervals.h"
#include "trace/once_per_text.h"

namespace nsys {

std::vector<uint32_t> CallsNamed(const Trace& trace, const std::optional<Window>& window,
                                 const std::function<bool(std::string_view name)>& wanted) {
  const CallTable& calls = trace.calls;
  OncePerText is_wanted([&](StringId name) { return wanted(trace.Text(name)); });
  std::vector<uint32_t> rows;
  for (uint32_t row = 0; row < calls.size(); ++row) {
    if (is_wanted(calls.name[row]) && Contains(window, calls.start_ns[row], calls.end_ns[row])) {
      rows.push_back(row);
    }
  }
  return rows;
}

void NamedTime::Add(int64_t duration_ns) {
  ++count;
  total_ns += duration_ns;
  longest_ns = std::max(longest_ns, duration_ns);
}

std::vector<NamedTime> TimeByName(const Trace& trace, const std::vector<uint32_t>& calls) {
  std::map<StringId, NamedTime> by_name;
  for (const uint32_t row : calls) {
    NamedTime& time = by_name[trace.calls.name[row]];
    time.name = trace.Text(trace.calls.name[row]);
    time.Add(trace.calls.duration_ns(row));
  }
  std::vector<NamedTime> times;
  for (const auto& [name, time] : by_name) {
    times.push_back(time);
  }
  return times;
}

bool MoreTime(const NamedTime& a, const NamedTime& b) {
  return a.total_ns != b.total_ns ? a.total_ns > b.total_ns : a.name < b.name;
}

int64_t ThreadTime(const Trace& trace, const std::vector<uint32_t>& calls) {
  std::map<ThreadId, std::vector<Span>> by_thread;
  for (const uint32_t row : calls) {
    by_thread[trace.calls.thread[row]].push_back(trace.calls.span(row));
  }
  int64_t total_ns = 0;
  for (auto& [thread, spans] : by_thread) {
    total_ns += Length(Union(std::move(spans)));
  }
  return total_ns;
}

}  // namespace nsys
