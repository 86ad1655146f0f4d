// SPDX-License-Identifier: MIT
// NVTX ranges over the GPU work launched in them: a range covers a launch when its call starts
// strictly inside the range. Every call with the process and correlation id of a kernel counts, not
// only the one that the kernel is linked to. Copies do not count.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "perfetto/layout.h"
#include "perfetto/links.h"
#include "perfetto/processes.h"
#include "perfetto/tracks.h"
#include "trace/call_index.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// The launches of one device, for spans of time: O(log launches) per span.
class LaunchSpans {
 public:
  struct Launch {
    uint32_t call = 0;  // row of trace.calls
    Span kernels;       // around all kernels that it launched on the device
  };
  // In order of call.
  LaunchSpans(const Trace& trace, std::span<const Launch> launches);

  // The span around the kernels of all launches with range.begin < call start < range.end. Ranges
  // come best in order of their start: the search goes on from the last one.
  std::optional<Span> Within(Span range);

 private:
  static constexpr size_t kBlock = 32;
  void BuildLevels();
  size_t FirstAfter(int64_t time);
  size_t FirstNotBefore(int64_t time, size_t from) const;
  Span Around(size_t begin, size_t end) const;

  std::vector<int64_t> starts_;            // of the calls
  std::vector<Span> kernels_;              // by launch
  std::vector<std::vector<Span>> levels_;  // levels_[k][i]: around 2^k blocks from block i
  size_t from_ = 0;                        // where the last search ended
};

// What stands for the launches of a device that one range can cover: those of the process of the
// range, or of its thread.
class Projection {
 public:
  Projection(const Trace& trace, const Processes& processes, const CallIndex& index,
             const Links& kernels, const GroupPlan& groups, NvtxScope scope);

  // Appends the projections of the row of trace.nvtx with this span, by device. Projected::track is
  // the group.
  void Append(uint32_t row, Span span, std::vector<Projected>& to);

 private:
  struct GroupLaunches {
    uint32_t group = 0;
    uint32_t launches = 0;  // of launches_
  };
  const Trace& trace_;
  const Processes& processes_;
  NvtxScope scope_;
  std::vector<LaunchSpans> launches_;
  std::vector<std::vector<GroupLaunches>> of_scope_;  // by process or thread: by group
};

}  // namespace nsys::perfetto
