// SPDX-License-Identifier: MIT
#include "analysis/views.h"

#include "trace/launches.h"

namespace nsys {

Views::Placed Views::Place(std::type_index type, const ViewKey& key) {
  std::optional<std::pair<int64_t, int64_t>> window;
  if (key.window) {
    window.emplace(key.window->begin_ns, key.window->end_ns);
  }
  return {type, key.device, window, key.text};
}

const std::vector<uint32_t>& Views::CallsOf(const GpuEvents& events, std::string name) {
  return Once<std::vector<uint32_t>>({.device = {}, .window = {}, .text = std::move(name)},
                                     [&] { return LinkLaunches(trace_, events, AllCalls()); });
}

const CallIndex& Views::AllCalls() {
  return Once<CallIndex>({}, [&] { return CallIndex(trace_); });
}

const std::vector<uint32_t>& Views::KernelCalls() {
  return CallsOf(trace_.kernels, "calls of kernels");
}
const std::vector<uint32_t>& Views::CopyCalls() {
  return CallsOf(trace_.copies, "calls of copies");
}
const std::vector<uint32_t>& Views::MemsetCalls() {
  return CallsOf(trace_.memsets, "calls of memsets");
}
const std::vector<uint32_t>& Views::SyncCalls() {
  return CallsOf(trace_.syncs, "calls of synchronizations");
}
const std::vector<uint32_t>& Views::GraphCalls() {
  return CallsOf(trace_.graphs, "calls of graphs");
}

}  // namespace nsys
