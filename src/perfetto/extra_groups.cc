// SPDX-License-Identifier: MIT
#include "perfetto/extra_groups.h"

#include <algorithm>
#include <utility>

#include "perfetto/tracks.h"

namespace nsys::perfetto {

ExtraGroups::ExtraGroups(const Trace& trace, Layout& layout)
    : trace_(trace), layout_(layout), processes_(NumberProcesses(trace)) {
  for (const Group& group : layout.groups) {
    if (!group.host) {
      devices_.push_back(group.device);
    }
  }
  std::sort(devices_.begin(), devices_.end());
  devices_.erase(std::unique(devices_.begin(), devices_.end()), devices_.end());
  if (devices_.empty()) {
    devices_.push_back(kUnknownDevice);
  }
  FindContexts(trace.kernels);
  FindContexts(trace.copies);
}

void ExtraGroups::FindContexts(const GpuEvents& events) {
  std::vector<uint8_t> seen(trace_.lanes.size(), 0);
  for (const LaneId number : events.lane) {
    if (std::exchange(seen[Index(number)], uint8_t{1}) != 0) {
      continue;
    }
    const Lane& lane = trace_.lanes[Index(number)];
    const int64_t device = DeviceOfLane(lane);
    if (lane.context && device != kUnknownDevice) {
      const auto [at, first] =
          device_of_context_.try_emplace({ProcessOf(number), *lane.context}, device);
      at->second = first || at->second == device ? device : kNoNumber;
    }
  }
}

// A context is of one device, which its kernels and copies name. Rows of synchronizations name
// device 0 in many captures, whatever their context.
int64_t ExtraGroups::DeviceOf(LaneId number) const {
  const Lane& lane = trace_.lanes[Index(number)];
  if (lane.context) {
    const auto at = device_of_context_.find({ProcessOf(number), *lane.context});
    if (at != device_of_context_.end() && at->second != kNoNumber) {
      return at->second;
    }
  }
  return DeviceOfLane(lane);
}

void ExtraGroups::NeedLanes(const GpuEvents& events) {
  std::vector<uint8_t> seen(trace_.lanes.size(), 0);
  for (size_t row = 0; row < events.size(); ++row) {
    const LaneId lane = events.lane[row];
    if (seen[Index(lane)] != 0 || !IsInTrim(layout_.options, events.span(row))) {
      continue;
    }
    seen[Index(lane)] = 1;
    FindOrAddGroup(layout_, processes_.list[Index(ProcessOf(lane))].word, DeviceOf(lane));
  }
}

void ExtraGroups::NeedThreads(const Events& events, const std::vector<ThreadId>& threads) {
  std::vector<uint8_t> known(processes_.list.size(), 0);
  for (size_t row = 0; row < events.size(); ++row) {
    if (threads[row] == ThreadId::kNone || !IsInTrim(layout_.options, events.span(row))) {
      continue;
    }
    const uint32_t process = Index(processes_.OfThread(threads[row]));
    if (known[process] != 0) {
      continue;
    }
    known[process] = 1;
    const int64_t word = processes_.list[process].word;
    const bool shown =
        std::any_of(layout_.groups.begin(), layout_.groups.end(), [&](const Group& group) {
          return group.global_pid == word && (group.host || !layout_.options.host_tracks);
        });
    for (size_t i = 0; !shown && i < devices_.size(); ++i) {
      FindOrAddGroup(layout_, word, devices_[i]);
    }
  }
}

void ExtraGroups::Settle() {
  const std::vector<Group>& groups = layout_.groups;
  of_lane_.assign(trace_.lanes.size(), kNone);
  for (size_t lane = 0; lane < trace_.lanes.size(); ++lane) {
    const LaneId number{static_cast<uint32_t>(lane)};
    const int64_t word = processes_.list[Index(ProcessOf(number))].word;
    const int64_t device = DeviceOf(number);
    const auto at = std::find_if(groups.begin(), groups.end(), [&](const Group& group) {
      return group.global_pid == word && group.device == device && !group.host;
    });
    if (at != groups.end()) {
      of_lane_[lane] = static_cast<uint32_t>(at - groups.begin());
    }
  }
  of_process_.assign(processes_.list.size(), {});
  for (size_t process = 0; process < processes_.list.size(); ++process) {
    const int64_t word = processes_.list[process].word;
    const auto hosts = [&](const Group& group) { return group.global_pid == word && group.host; };
    const bool on_host = std::any_of(groups.begin(), groups.end(), hosts);
    for (uint32_t group = 0; group < groups.size(); ++group) {
      if (groups[group].global_pid == word && groups[group].host == on_host) {
        of_process_[process].push_back(group);
      }
    }
  }
  for (const std::vector<uint32_t>& of_one : of_process_) {
    everywhere_.insert(everywhere_.end(), of_one.begin(), of_one.end());
  }
  std::sort(everywhere_.begin(), everywhere_.end());
}

}  // namespace nsys::perfetto
