// SPDX-License-Identifier: MIT
#include "perfetto/nvtx_names.h"

#include <algorithm>

namespace nsys::perfetto {
namespace {

constexpr int32_t kCategoryRow = 33;
constexpr int32_t kDomainRow = 75;

}  // namespace

NvtxNames::NvtxNames(const Trace& trace) : trace_(trace) {
  const NvtxTable& nvtx = trace.nvtx;
  domain_of_lane_.resize(trace.nvtx_lanes.size(), StringId::kNone);
  if (nvtx.event_type.empty() || nvtx.lane.empty() || nvtx.text.empty()) {
    return;
  }
  std::vector<Named> domains;
  for (uint32_t row = 0; row < nvtx.size(); ++row) {
    const int32_t type = nvtx.event_type[row];
    if ((type != kCategoryRow && type != kDomainRow) || nvtx.text[row] == StringId::kNone ||
        nvtx.lane[row] == NvtxLaneId::kNone) {
      continue;
    }
    const int64_t domain = DomainNumber(row);
    if (type == kDomainRow) {
      domains.push_back({ProcessOf(row), domain, 0, nvtx.text[row]});
    } else if (!nvtx.attributes.empty() && nvtx.attributes[row] != kNoAttributes) {
      const auto& category = trace.nvtx_attributes[nvtx.attributes[row]].category;
      categories_.push_back({ProcessOf(row), domain, category.value_or(0), nvtx.text[row]});
    }
  }
  const auto less = [](const Named& a, const Named& b) { return a.key() < b.key(); };
  std::stable_sort(domains.begin(), domains.end(), less);  // of two names, the earlier holds
  std::stable_sort(categories_.begin(), categories_.end(), less);
  for (size_t i = 0; i < domain_of_lane_.size(); ++i) {
    const NvtxLane& lane = trace.nvtx_lanes[i];
    const Named wanted = {lane.thread == ThreadId::kNone
                              ? 0
                              : ProcessWord(trace.threads[Index(lane.thread)].global_tid),
                          lane.domain, 0};
    const auto at = std::lower_bound(domains.begin(), domains.end(), wanted, less);
    if (at != domains.end() && at->key() == wanted.key()) {
      domain_of_lane_[i] = at->name;
    }
  }
}

int64_t NvtxNames::ProcessOf(uint32_t row) const {
  const ThreadId thread = trace_.nvtx_lanes[Index(trace_.nvtx.lane[row])].thread;
  return thread == ThreadId::kNone ? 0 : ProcessWord(trace_.threads[Index(thread)].global_tid);
}

int64_t NvtxNames::DomainNumber(uint32_t row) const {
  const auto& lanes = trace_.nvtx.lane;
  return lanes.empty() || lanes[row] == NvtxLaneId::kNone
             ? 0
             : trace_.nvtx_lanes[Index(lanes[row])].domain;
}

std::string_view NvtxNames::Domain(uint32_t row) const {
  const auto& lanes = trace_.nvtx.lane;
  return lanes.empty() || lanes[row] == NvtxLaneId::kNone
             ? std::string_view()
             : trace_.Text(domain_of_lane_[Index(lanes[row])]);
}

std::string_view NvtxNames::Category(uint32_t row, int64_t number) const {
  if (categories_.empty()) {
    return {};
  }
  const Named wanted = {ProcessOf(row), DomainNumber(row), number};
  const auto at =
      std::lower_bound(categories_.begin(), categories_.end(), wanted,
                       [](const Named& a, const Named& b) { return a.key() < b.key(); });
  return at != categories_.end() && at->key() == wanted.key() ? trace_.Text(at->name)
                                                              : std::string_view();
}

}  // namespace nsys::perfetto
