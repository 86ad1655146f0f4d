// SPDX-License-Identifier: MIT
#include "analysis/nccl_communicators.h"

#include <algorithm>
#include <map>
#include <utility>

#include <fmt/core.h>

#include "analysis/gpu_peaks.h"
#include "analysis/nccl_events.h"

namespace nsys {
namespace {

enum class Fate : uint8_t { kUnknown, kGrouped, kWithoutPayload, kMixed };

// What the payloads of one NCCL call say together.
struct CallFacts {
  Fate fate = Fate::kUnknown;
  uint64_t communicator = 0;
  int64_t sized = 0;
  int64_t bytes = 0;
  std::set<std::string_view> reductions;
  std::set<int64_t> roots;
};

int64_t AddBounded(int64_t sum, int64_t more) {
  constexpr int64_t kMost = int64_t{1} << 62;
  return more > kMost - sum ? kMost : sum + more;
}

CallFacts FactsOfCall(const Trace& trace, const NcclPayloads& payloads, const NcclCalls& all,
                      const NcclCall& call) {
  CallFacts facts;
  facts.fate = call.range_count == 0 ? Fate::kWithoutPayload : Fate::kGrouped;
  std::optional<uint64_t> communicator;
  for (const uint32_t range : all.RangesOf(call)) {
    const NcclPayload* payload = payloads.Of(trace.nvtx.payload[range]);
    if (payload == nullptr || !payload->communicator) {
      facts.fate = Fate::kWithoutPayload;
      return facts;
    }
    if (communicator && *communicator != *payload->communicator) {
      facts.fate = Fate::kMixed;
      return facts;
    }
    communicator = payload->communicator;
    if (payload->message_bytes) {
      ++facts.sized;
      facts.bytes = AddBounded(facts.bytes, *payload->message_bytes);
    }
    if (payload->reduction) {
      facts.reductions.insert(*payload->reduction);
    }
    if (payload->root) {
      facts.roots.insert(*payload->root);
    }
  }
  facts.communicator = communicator.value_or(0);
  if (facts.fate == Fate::kGrouped && call.operation.empty()) {
    facts.fate = Fate::kMixed;
  }
  return facts;
}

void AddKernel(int64_t duration, LaneId lane, CommunicatorGroup& group) {
  group.min_ns = group.count == 0 ? duration : std::min(group.min_ns, duration);
  group.max_ns = std::max(group.max_ns, duration);
  group.total_ns += duration;
  ++group.count;
  group.lanes.insert(lane);
}

void AddCall(uint32_t number, const NcclCall& call, const CallFacts& facts,
             CommunicatorGroup& group) {
  if (!group.calls.insert(number).second) {
    return;
  }
  group.nccl_calls += call.range_count;
  group.sized_calls += facts.sized;
  group.bytes = AddBounded(group.bytes, facts.bytes);
  group.reductions.insert(facts.reductions.begin(), facts.reductions.end());
  group.roots.insert(facts.roots.begin(), facts.roots.end());
}

// Of the GPUs of the capture, provided that all of them agree.
std::optional<NvlinkPeak> CommonPeak(const Trace& trace) {
  std::optional<NvlinkPeak> common;
  for (const Gpu& gpu : trace.gpus) {
    const GpuMatch match = MatchGpu(gpu);
    const auto gbps = match.Agreed(&GpuSpec::nvlink_gbps);
    if (!gbps || (common && common->gbps != *gbps)) {
      return std::nullopt;
    }
    common = NvlinkPeak{.product = match.rows.front()->product, .gbps = *gbps};
  }
  return common;
}

CommunicatorGroups Group(Views& views, std::optional<int64_t> device,
                         const std::optional<Window>& window) {
  const NcclPayloads& payloads = NcclPayloadsOf(views);
  const Trace& trace = views.trace();
  const KernelTable& kernels = trace.kernels;
  const NcclCalls& calls = NcclCallsOf(views);
  std::vector<CallFacts> facts(calls.calls.size());
  std::map<std::pair<uint64_t, std::string_view>, CommunicatorGroup> groups;
  CommunicatorGroups result;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const bool selected = (!device || trace.DeviceOf(kernels, row) == device) &&
                          Touches(window, kernels.start_ns[row], kernels.end_ns[row]);
    if (!selected || !IsNcclKernel(views.communication(), kernels.name_to_classify(row))) {
      continue;
    }
    const uint32_t number = calls.of_kernel[row];
    if (number == kNoNcclCall) {
      ++result.left_out.without_call;
      continue;
    }
    const NcclCall& call = calls.calls[number];
    CallFacts& known = facts[number];
    if (known.fate == Fate::kUnknown) {
      known = FactsOfCall(trace, payloads, calls, call);
    }
    if (known.fate != Fate::kGrouped) {
      ++(known.fate == Fate::kMixed ? result.left_out.mixed : result.left_out.without_payload);
      continue;
    }
    CommunicatorGroup& group = groups[{known.communicator, call.operation}];
    group.communicator = known.communicator;
    group.operation = call.operation;
    AddKernel(kernels.duration_ns(row), kernels.lane[row], group);
    AddCall(number, call, known, group);
  }
  for (auto& [key, group] : groups) {
    result.groups.push_back(std::move(group));
  }
  return result;
}

// The number of (process, device) pairs with NCCL kernels.
int64_t CapturedRanks(Views& views) {
  const Trace& trace = views.trace();
  const KernelTable& kernels = trace.kernels;
  std::set<LaneId> lanes;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (IsNcclKernel(views.communication(), kernels.name_to_classify(row))) {
      lanes.insert(kernels.lane[row]);
    }
  }
  std::set<std::pair<std::optional<int64_t>, std::optional<int64_t>>> ranks;
  for (const LaneId lane : lanes) {
    const Lane& of = trace.lanes[Index(lane)];
    ranks.emplace(of.global_pid, of.device);
  }
  return static_cast<int64_t>(ranks.size());
}

CommunicatorWorld Describe(Views& views) {
  CommunicatorWorld world;
  for (const std::optional<NcclPayload>& payload : NcclPayloadsOf(views).all()) {
    if (!payload || !payload->communicator) {
      continue;
    }
    CommunicatorFacts& facts = world.facts[*payload->communicator];
    if (payload->ranks) {
      facts.sizes.insert(*payload->ranks);
    }
    if (payload->rank) {
      facts.ranks.insert(*payload->rank);
    }
    if (payload->cuda_device) {
      facts.cuda_devices.insert(*payload->cuda_device);
    }
  }
  for (const auto& [communicator, facts] : world.facts) {
    world.largest = std::max(world.largest, facts.size().value_or(0));
  }
  world.peak = CommonPeak(views.trace());
  world.captured_ranks = CapturedRanks(views);
  return world;
}

}  // namespace

const CommunicatorGroups& CommunicatorsOf(Views& views, std::optional<int64_t> device,
                                          const std::optional<Window>& window) {
  return views.Once<CommunicatorGroups>({.device = device, .window = window, .text = {}},
                                        [&] { return Group(views, device, window); });
}

const CommunicatorWorld& CommunicatorWorldOf(Views& views) {
  return views.Once<CommunicatorWorld>({}, [&] { return Describe(views); });
}

std::string InferredDimension(std::optional<int64_t> size, int64_t captured_ranks,
                              int64_t largest) {
  if (!size || *size <= 1) {
    return "single_rank_or_unknown";
  }
  if (*size < std::max(captured_ranks, largest)) {
    return fmt::format("subgroup_parallelism({})", *size);
  }
  return *size == captured_ranks ? "data_parallel_or_global" : "unknown";
}

std::optional<double> BusFactor(std::string_view operation, std::optional<int64_t> size) {
  if (operation == "broadcast" || operation == "reduce" || operation == "sendrecv") {
    return 1;
  }
  if (!size || *size < 1) {
    return std::nullopt;
  }
  const auto n = static_cast<double>(*size);
  if (operation == "allreduce") {
    return 2 * (n - 1) / n;
  }
  // Of these NCCL notes the size of one rank's share.
  const bool shares =
      operation == "allgather" || operation == "reducescatter" || operation == "alltoall";
  return shares ? std::optional(n - 1) : std::nullopt;
}

std::optional<double> BandwidthGbps(const CommunicatorGroup& group) {
  if (!group.sized() || group.bytes <= 0 || group.total_ns <= 0) {
    return std::nullopt;
  }
  return static_cast<double>(group.bytes) / static_cast<double>(group.total_ns);
}

std::optional<double> PeakSharePct(const CommunicatorGroup& group,
                                   const std::optional<NvlinkPeak>& peak) {
  const auto bandwidth = BandwidthGbps(group);
  return bandwidth && peak ? std::optional(100 * *bandwidth / peak->gbps) : std::nullopt;
}

}  // namespace nsys
