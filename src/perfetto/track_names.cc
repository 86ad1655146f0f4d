// SPDX-License-Identifier: MIT
#include "perfetto/track_names.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "perfetto/tracks.h"

namespace nsys::perfetto {
namespace {

constexpr std::string_view kLanePart = " / Lane ";

std::string_view ProcessNameOf(const Trace& trace, int64_t global_pid) {
  const auto at = std::lower_bound(
      trace.process_names.begin(), trace.process_names.end(), global_pid,
      [](const ProcessName& name, int64_t word) { return ProcessWord(name.global_pid) < word; });
  const bool found = at != trace.process_names.end() && ProcessWord(at->global_pid) == global_pid;
  return found ? std::string_view(at->name) : std::string_view();
}

// The product behind a CUDA ordinal: as the process itself numbers GPUs, else where all processes
// agree.
std::string_view GpuNameOf(const Trace& trace, int64_t pid, int64_t device) {
  const CudaDevice* of_process = nullptr;
  const CudaDevice* of_any = nullptr;
  bool agreed = true;
  for (const CudaDevice& known : trace.cuda_devices) {
    if (known.ordinal != device || !known.gpu) {
      continue;
    }
    if (known.pid == pid) {
      of_process = &known;
    }
    agreed = agreed && (of_any == nullptr || of_any->gpu == known.gpu);
    of_any = &known;
  }
  const CudaDevice* best = of_process != nullptr ? of_process : agreed ? of_any : nullptr;
  for (const Gpu& gpu : trace.gpus) {
    if (best != nullptr && best->gpu == gpu.id && gpu.name) {
      return *gpu.name;
    }
  }
  return {};
}

std::string_view ThreadNameOf(const Trace& trace, int64_t global_tid) {
  const auto at =
      std::lower_bound(trace.thread_names.begin(), trace.thread_names.end(), global_tid,
                       [](const ThreadName& name, int64_t word) { return name.global_tid < word; });
  const bool found = at != trace.thread_names.end() && at->global_tid == global_tid;
  return found ? trace.Text(at->name) : std::string_view();
}

}  // namespace

std::string GroupName(const Group& group) {
  return group.host ? fmt::format("Host / Source PID {}", group.pid)
                    : fmt::format("CUDA Device {} / Source PID {}", group.device, group.pid);
}

std::string TrackName(const Track& track, size_t lanes) {
  const std::string lane = LaneSuffix(track.lane);
  const std::string later_lane = track.lane > 0 ? lane : "";
  switch (track.kind) {
    case TrackKind::kStream:
      return fmt::format("CUDA HW Context {} / Stream {}{}", track.context, track.stream,
                         later_lane);
    case TrackKind::kCore:
      return "CUDA Core Timeline" + later_lane;
    case TrackKind::kPcieUsage:
      return "PCIe Usage" + later_lane;
    case TrackKind::kCopyUsage:
      return "GPU Copy D2D" + later_lane;
    case TrackKind::kPeerUsage:
      return "NVLink/P2P" + later_lane;
    case TrackKind::kNvtxKernel:
      return fmt::format("NVTX Kernel {}{}", track.source_tid, lanes > 1 ? lane : "");
    case TrackKind::kNvtxRangeKernel:
      return fmt::format("NVTX Range Kernel {}{}", track.source_tid, lanes > 1 ? lane : "");
    case TrackKind::kNvtxThread:
      return fmt::format("NVTX Thread {}{}", track.source_tid, later_lane);
    case TrackKind::kNvtxRange:
      return fmt::format("NVTX Range {}{}", track.source_tid, later_lane);
    case TrackKind::kApi:
      return fmt::format("CUDA API {}{}", track.source_tid, lane);
    default:
      return {};
  }
}

std::string LaneSuffix(uint32_t lane) { return fmt::format("{}{}", kLanePart, lane + 1); }

std::string_view WithoutLane(std::string_view name) {
  const size_t at = name.rfind(kLanePart);
  if (at == std::string_view::npos || at + kLanePart.size() == name.size()) {
    return name;
  }
  const std::string_view number = name.substr(at + kLanePart.size());
  const bool digits =
      std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; });
  return digits ? name.substr(0, at) : name;
}

int32_t DeviceTrackSortIndex(const Track& track) {
  // Blocks are wide enough for the lanes of any capture: they end before the next one begins.
  const auto lane = [&](uint32_t most) { return static_cast<int32_t>(std::min(track.lane, most)); };
  switch (track.kind) {
    case TrackKind::kCore:
      return -300'000 + lane(99'999);
    case TrackKind::kPcieUsage:
      return -200'000 + lane(9'999);
    case TrackKind::kCopyUsage:
      return -190'000 + lane(9'999);
    case TrackKind::kPeerUsage:
      return -180'000 + lane(179'999);
    case TrackKind::kStream:
      return static_cast<int32_t>(std::min<int64_t>(track.tid, 999'999));
    default:
      return 0;
  }
}

int32_t ThreadTrackSortIndex(uint32_t rank, TrackKind kind, uint32_t lane) {
  const auto place = [&] {
    switch (kind) {
      case TrackKind::kNvtxKernel:
        return 0;
      case TrackKind::kNvtxThread:
        return 1;
      case TrackKind::kApi:
        return 2;
      case TrackKind::kNvtxRangeKernel:
        return 3;
      case TrackKind::kNvtxRange:
        return 4;
      case TrackKind::kOsrt:
        return 5;
      default:
        return 6;
    }
  };
  constexpr uint32_t kMostRank = 100'000;
  constexpr uint32_t kMostLane = 1'999;
  return 1'000'000 + static_cast<int32_t>(std::min(rank, kMostRank)) * 20'000 + place() * 2'000 +
         static_cast<int32_t>(std::min(lane, kMostLane));
}

void AddDetails(const Trace& trace, Layout& layout) {
  for (Group& group : layout.groups) {
    const std::string_view process = ProcessNameOf(trace, group.global_pid);
    const std::string_view gpu =
        group.host ? std::string_view() : GpuNameOf(trace, group.pid, group.device);
    group.detail = fmt::format("{}{}{}", process, process.empty() || gpu.empty() ? "" : ", ", gpu);
  }
  for (Track& track : layout.tracks) {
    if (IsOfThread(track)) {
      const int64_t word = layout.groups[track.group].global_pid;
      track.detail = ThreadNameOf(trace, word | track.source_tid);
    }
  }
}

}  // namespace nsys::perfetto
