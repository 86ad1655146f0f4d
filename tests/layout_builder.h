// SPDX-License-Identifier: MIT
// LayoutBuilder: a layout by hand, for tests of what writes it. Rows are undrawn and unlinked until
// said otherwise; names, numbers and order of tracks are those of the caller.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

struct TrackSpec {
  int64_t tid = 1;
  std::string name = "track";
  int32_t sort_index = 0;
  int64_t source_tid = 0;
  int64_t context = 0;
  int64_t stream = 0;
};

struct CopySlices {
  uint32_t stream_track = 0;
  uint32_t call = kNoCall;
  std::vector<int64_t> devices = {0};
  std::vector<CopyUsage> usage = {};  // `copy` is filled in
};

class LayoutBuilder {
 public:
  explicit LayoutBuilder(const Trace& trace, const std::string& report = "r") {
    layout.options.report = report;
    layout.kernel_call.assign(trace.kernels.size(), kNoCall);
    layout.kernel_stream_track.assign(trace.kernels.size(), kNone);
    layout.kernel_core_track.assign(trace.kernels.size(), kNone);
    layout.kernel_sequence.assign(trace.kernels.size(), 0);
    layout.kernel_regions.assign(trace.kernels.size(), kNone);
    layout.copy_call.assign(trace.copies.size(), kNoCall);
    layout.copy_stream_track.assign(trace.copies.size(), kNone);
    layout.copy_usage_begin.assign(trace.copies.size() + 1, 0);
    layout.copy_devices.assign(trace.copies.size(), 0);
  }

  Layout layout;

  uint32_t Group(int64_t pid, int64_t device) {
    perfetto::Group group;
    group.global_pid = (int64_t{1} << 48) | (pid << 24);
    group.pid = pid;
    group.device = device;
    group.name = "CUDA Device " + std::to_string(device) + " / Source PID " + std::to_string(pid);
    group.sort_index = -10000 + static_cast<int32_t>(layout.groups.size());
    layout.groups.push_back(std::move(group));
    return static_cast<uint32_t>(layout.groups.size() - 1);
  }

  uint32_t Track(TrackKind kind, uint32_t group, const TrackSpec& spec) {
    perfetto::Track track;
    track.kind = kind;
    track.group = group;
    track.tid = spec.tid;
    track.sort_index = spec.sort_index;
    track.source_tid = spec.source_tid;
    track.context = spec.context;
    track.stream = spec.stream;
    track.name = spec.name;
    layout.tracks.push_back(std::move(track));
    return static_cast<uint32_t>(layout.tracks.size() - 1);
  }

  // Draws a kernel. Kernels of a stream are numbered in the order of these calls.
  LayoutBuilder& Kernel(uint32_t row, uint32_t stream_track, uint32_t core_track,
                        uint32_t call = kNoCall) {
    uint32_t sequence = 1;
    for (size_t i = 0; i < layout.kernel_stream_track.size(); ++i) {
      sequence += layout.kernel_stream_track[i] == stream_track ? 1 : 0;
    }
    layout.kernel_stream_track[row] = stream_track;
    layout.kernel_core_track[row] = core_track;
    layout.kernel_sequence[row] = sequence;
    layout.kernel_call[row] = call;
    return *this;
  }

  // Draws a copy. To be called in the order of the rows.
  LayoutBuilder& Copy(uint32_t row, CopySlices slices) {
    layout.copy_stream_track[row] = slices.stream_track;
    layout.copy_call[row] = slices.call;
    layout.copy_devices[row] = static_cast<uint32_t>(layout.device_sets.size());
    layout.device_sets.push_back(std::move(slices.devices));
    for (CopyUsage usage : slices.usage) {
      usage.copy = row;
      layout.copy_usage.push_back(usage);
    }
    for (size_t i = row + 1; i < layout.copy_usage_begin.size(); ++i) {
      layout.copy_usage_begin[i] = static_cast<uint32_t>(layout.copy_usage.size());
    }
    return *this;
  }
};

}  // namespace nsys::perfetto
