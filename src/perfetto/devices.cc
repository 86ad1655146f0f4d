// SPDX-License-Identifier: MIT
#include "perfetto/devices.h"

#include <algorithm>
#include <map>

#include "perfetto/copy_kinds.h"

namespace nsys::perfetto {
namespace {

// Adds to an ascending list of few values.
void Add(std::vector<int64_t>& values, int64_t value) {
  const auto at = std::lower_bound(values.begin(), values.end(), value);
  if (at == values.end() || *at != value) {
    values.insert(at, value);
  }
}

// The devices that a copy itself names.
void AddCandidates(const Trace& trace, uint32_t copy, std::vector<int64_t>& to) {
  const auto add = [&](int64_t device) {
    if (device >= 0) {
      Add(to, device);
    }
  };
  add(DeviceOfLane(trace.LaneOf(trace.copies, copy)));
  if (trace.copies.route.empty()) {
    return;
  }
  const CopyRoute& route = trace.copies.route[copy];
  const CopyKind& kind = KindOfCopy(trace.copies.kind[copy]);
  if (kind.from_device) {
    add(route.from_device);
  }
  if (kind.to_device) {
    add(route.to_device);
  }
}

class CopySets {
 public:
  explicit CopySets(Devices& devices) : devices_(devices) {}

  void Append(const std::vector<int64_t>& set) {
    std::vector<uint32_t>& numbers = devices_.set_of_copy;
    if (numbers.empty() || devices_.copy_sets[numbers.back()] != set) {
      const auto [at, added] =
          known_.try_emplace(set, static_cast<uint32_t>(devices_.copy_sets.size()));
      if (added) {
        devices_.copy_sets.push_back(set);
      }
      numbers.push_back(at->second);
    } else {
      numbers.push_back(numbers.back());
    }
  }

 private:
  Devices& devices_;
  std::map<std::vector<int64_t>, uint32_t> known_;
};

}  // namespace

int64_t DeviceOfLane(const Lane& lane) {
  return lane.device && *lane.device >= 0 ? *lane.device : kUnknownDevice;
}

int64_t Devices::Primary(const Trace& trace, uint32_t copy) const {
  const std::vector<int64_t>& set = copy_sets[set_of_copy[copy]];
  const int64_t own = DeviceOfLane(trace.LaneOf(trace.copies, copy));
  return std::binary_search(set.begin(), set.end(), own) ? own : set.front();
}

Devices FindDevices(const Trace& trace, const Processes& processes, const LaunchLinks& links) {
  Devices devices;
  const size_t count = processes.list.size();
  devices.of_process.resize(count);
  devices.shown.resize(count);
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    const uint32_t process = Index(links.kernels.process[row]);
    const int64_t device = DeviceOfLane(trace.LaneOf(trace.kernels, row));
    Add(device >= 0 ? devices.of_process[process] : devices.shown[process], device);
  }
  std::vector<int64_t> set;
  for (uint32_t row = 0; row < trace.copies.size(); ++row) {
    set.clear();
    AddCandidates(trace, row, set);
    for (const int64_t device : set) {
      Add(devices.of_process[Index(links.copies.process[row])], device);
    }
  }
  std::vector<int64_t> all;
  for (const std::vector<int64_t>& list : devices.of_process) {
    for (const int64_t device : list) {
      Add(all, device);
    }
  }
  if (all.empty()) {
    all.push_back(kUnknownDevice);
  }
  for (size_t process = 0; process < count; ++process) {
    if (devices.of_process[process].empty()) {
      devices.of_process[process] = all;
    }
    for (const int64_t device : devices.of_process[process]) {
      Add(devices.shown[process], device);
    }
  }
  CopySets sets(devices);
  for (uint32_t row = 0; row < trace.copies.size(); ++row) {
    set.clear();
    AddCandidates(trace, row, set);
    sets.Append(set.empty() ? devices.of_process[Index(links.copies.process[row])] : set);
  }
  return devices;
}

}  // namespace nsys::perfetto
