// SPDX-License-Identifier: MIT
#include "perfetto/flows.h"

#include "base/hash.h"

namespace nsys::perfetto {

FlowIds::FlowIds(std::string_view report) {
  constexpr int kHashBits = 19;
  uint32_t hash = Fnv32(report);
  hash = (hash >> kHashBits ^ hash) & ((1U << kHashBits) - 1);
  base_ = uint64_t{hash == 0 ? 1U : hash} << 2;  // never 0: some readers take that for no id
}

FlowIndex::FlowIndex(const Trace& trace, const Layout& layout)
    : trace_(trace),
      layout_(layout),
      kernels_(Collect(trace, trace.kernels, layout.kernel_call, layout.kernel_stream_track,
                       layout.options.graph_flows)),
      copies_(Collect(trace, trace.copies, layout.copy_call, layout.copy_stream_track,
                      GraphFlows::kAll)) {}

FlowIndex::Rows FlowIndex::Collect(const Trace& trace, const Events& work,
                                   const std::vector<uint32_t>& call_of,
                                   const std::vector<uint32_t>& track_of, GraphFlows flows) {
  const bool first_only = flows == GraphFlows::kFirst;
  Rows result;
  result.begin.resize(trace.calls.size() + 1);
  const auto has_flow = [&](uint32_t row) {
    return track_of[row] != kNone && Layout::HasArrow(trace, call_of[row], work.start_ns[row]);
  };
  const auto count = static_cast<uint32_t>(work.size());
  for (uint32_t row = 0; row < count; ++row) {
    if (has_flow(row)) {
      uint32_t& of_call = result.begin[call_of[row] + 1];
      of_call = first_only ? 1 : of_call + 1;
    }
  }
  for (size_t call = 0; call < trace.calls.size(); ++call) {
    result.begin[call + 1] += result.begin[call];
  }
  result.rows.resize(result.begin.back());
  // begin[call] serves as the place of the next row, and is begin[call + 1] at last.
  for (uint32_t row = count; row-- > 0;) {
    if (has_flow(row)) {
      uint32_t& end = result.begin[call_of[row] + 1];
      if (first_only) {
        result.rows[end - 1] = row;  // the first row comes last and stays
      } else {
        result.rows[--end] = row;
      }
    }
  }
  if (!first_only) {
    // Every end has moved down to its begin: begin[c + 1] is where call c begins.
    for (size_t call = 0; call + 1 < result.begin.size(); ++call) {
      result.begin[call] = result.begin[call + 1];
    }
    result.begin.back() = static_cast<uint32_t>(result.rows.size());
  }
  return result;
}

bool FlowIndex::HasKernelFlow(uint32_t kernel) const {
  const uint32_t call = layout_.kernel_call[kernel];
  if (!Layout::HasArrow(trace_, call, trace_.kernels.start_ns[kernel])) {
    return false;
  }
  return layout_.options.graph_flows == GraphFlows::kAll ||
         kernels_.rows[kernels_.begin[call]] == kernel;
}

bool FlowIndex::HasCopyFlow(uint32_t copy) const {
  return Layout::HasArrow(trace_, layout_.copy_call[copy], trace_.copies.start_ns[copy]);
}

}  // namespace nsys::perfetto
