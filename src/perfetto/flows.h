// SPDX-License-Identifier: MIT
// The arrows from calls to the work they launched: which there are, their ids, and the moments they
// start and end at. Used by every format, so that all draw the same.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

enum class FlowKind : uint8_t { kKernel, kCopy, kCore, kUsage };

// Ids below 2^53, so that readers with doubles for numbers keep them apart. Reports differ in a
// hash, kinds in two bits; `index` is the row, of kUsage CopyUsage::flow.
class FlowIds {
 public:
  explicit FlowIds(std::string_view report);
  uint64_t Of(FlowKind kind, uint32_t index) const {
    return (base_ | static_cast<uint64_t>(kind)) << 32 | index;
  }

 private:
  uint64_t base_ = 0;
};

// An arrow starts inside its call, before the work does, and ends just inside the work: a reader
// binds both ends to the slice that is open then.
inline int64_t FlowStart(const Events& calls, uint32_t call, int64_t work_start_ns) {
  return std::max(std::min(calls.end_ns[call], work_start_ns) - 1, calls.start_ns[call]);
}
inline int64_t FlowEnd(const Events& work, uint32_t row) {
  return work.end_ns[row] - work.start_ns[row] <= 1 ? work.start_ns[row] : work.start_ns[row] + 1;
}

// Whether arrows to work on the track `target` leave from a call where it is drawn on the track
// `call`. A call is drawn under the process and the device of all that it launched.
inline bool LeavesFrom(const Layout& layout, uint32_t call, uint32_t target) {
  const Group& group = layout.GroupOf(call);
  return group.host ? group.global_pid == layout.GroupOf(target).global_pid
                    : layout.tracks[call].group == layout.tracks[target].group;
}

// The work that each call has arrows to.
class FlowIndex {
 public:
  FlowIndex(const Trace& trace, const Layout& layout);

  // Rows in ascending order.
  std::span<const uint32_t> KernelsOf(uint32_t call) const { return kernels_.Of(call); }
  std::span<const uint32_t> CopiesOf(uint32_t call) const { return copies_.Of(call); }

  // Whether an arrow leads to the row, which must be drawn.
  bool HasKernelFlow(uint32_t kernel) const;
  bool HasCopyFlow(uint32_t copy) const;

 private:
  struct Rows {
    std::vector<uint32_t> begin;  // by call, one more than calls
    std::vector<uint32_t> rows;
    std::span<const uint32_t> Of(uint32_t call) const {
      return std::span(rows).subspan(begin[call], begin[call + 1] - begin[call]);
    }
  };
  static Rows Collect(const Trace& trace, const Events& work, const std::vector<uint32_t>& call_of,
                      const std::vector<uint32_t>& track_of, GraphFlows flows);

  const Trace& trace_;
  const Layout& layout_;
  Rows kernels_;
  Rows copies_;
};

}  // namespace nsys::perfetto
