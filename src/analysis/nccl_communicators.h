// SPDX-License-Identifier: MIT
// NCCL kernels by the communicator and the operation that they were launched for.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/nccl_payloads.h"
#include "analysis/views.h"
#include "analysis/window.h"

namespace nsys {

// The kernels of one communicator and operation.
struct CommunicatorGroup {
  uint64_t communicator = 0;
  std::string_view operation;
  int64_t count = 0;  // kernels
  int64_t total_ns = 0;
  int64_t min_ns = 0;
  int64_t max_ns = 0;
  std::set<uint32_t> calls;  // of NcclCalls::calls
  int64_t nccl_calls = 0;    // calls of NCCL functions
  int64_t sized_calls = 0;   // those whose payload tells the size of the message
  int64_t bytes = 0;         // of their messages
  std::set<LaneId> lanes;
  std::set<std::string_view> reductions;
  std::set<int64_t> roots;

  // Message sizes are known of all calls, or the sum means nothing.
  bool sized() const { return sized_calls == nccl_calls; }
};

// What all payloads of the capture say about one communicator.
struct CommunicatorFacts {
  std::set<int64_t> sizes;  // numbers of ranks; more than one when payloads disagree
  std::set<int64_t> ranks;  // of the capture
  std::set<int64_t> cuda_devices;
  std::optional<int64_t> size() const {
    return sizes.size() == 1 ? std::optional(*sizes.begin()) : std::nullopt;
  }
};

// NCCL kernels of the selection that belong to no group, and why.
struct LeftOutKernels {
  int64_t without_call = 0;     // no NCCL range encloses their launch
  int64_t without_payload = 0;  // its payload is missing or tells no communicator
  int64_t mixed = 0;            // launched for several communicators or operations at once
};

struct CommunicatorGroups {
  std::vector<CommunicatorGroup> groups;  // by (communicator, operation)
  LeftOutKernels left_out;
};

// The kernels of `device` (all devices without one) that touch the window. Needs what AddNcclReads
// says, and the payloads and schemas.
// Grouped once per device and window.
const CommunicatorGroups& CommunicatorsOf(Views& views, std::optional<int64_t> device,
                                          const std::optional<Window>& window);

// What a communicator of `size` ranks can be, from the capture alone:
// "single_rank_or_unknown", "data_parallel_or_global" when it has all the ranks there are,
// "subgroup_parallelism(n)" when a larger world is known, "unknown" when it has more ranks than
// the capture holds: one file of a larger run cannot tell. `largest` is the largest communicator.
std::string InferredDimension(std::optional<int64_t> size, int64_t captured_ranks, int64_t largest);

// Bytes that each rank moves over its links per byte of message size, as nccl-tests counts them;
// nothing where that depends on more than the size of the communicator.
std::optional<double> BusFactor(std::string_view operation, std::optional<int64_t> size);

// The peak of a GPU's NVLink connections: both directions and all links together.
struct NvlinkPeak {
  std::string_view product;
  double gbps = 0;
};

// What the groups of a capture are measured against.
struct CommunicatorWorld {
  std::map<uint64_t, CommunicatorFacts> facts;  // of all communicators that payloads tell of
  std::optional<NvlinkPeak> peak;               // of the GPUs, provided that all of them agree
  int64_t captured_ranks = 0;                   // (process, device) pairs with NCCL kernels
  int64_t largest = 0;                          // ranks of the largest communicator

  std::string Dimension(const CommunicatorGroup& group) const {
    return InferredDimension(facts.at(group.communicator).size(), captured_ranks, largest);
  }
};
// Of the whole capture, whatever the window; described once per run. Needs what AddNcclReads says,
// payloads and GPUs.
const CommunicatorWorld& CommunicatorWorldOf(Views& views);

// Message bytes over summed kernel time, in GB/s; nothing unless all sizes are known.
std::optional<double> BandwidthGbps(const CommunicatorGroup& group);
// 100 · bandwidth / peak, which is above 100 where the two do not belong together.
std::optional<double> PeakSharePct(const CommunicatorGroup& group,
                                   const std::optional<NvlinkPeak>& peak);

}  // namespace nsys
