// SPDX-License-Identifier: MIT
// Which NCCL call launched an NCCL kernel, by the ranges that NCCL itself puts around its API
// functions ("ncclAllReduce"). NCCL may run any collective under a kernel of any name, so the range
// says what was asked for and the kernel's name does not.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "trace/trace.h"

namespace nsys {

// The operation that an NVTX text of NCCL names: "allreduce" for "ncclAllReduce" and for PyTorch's
// "nccl:all_reduce"; "sendrecv" for ncclSend and ncclRecv. Empty for texts that do not begin with
// "nccl" and for functions that communicate nothing (groups, communicators).
std::string_view NcclOperation(std::string_view text);

// Whether a kernel of this name is one of NCCL: not of another communication library.
bool IsNcclKernel(CommunicationClasses& classes, StringId name);

inline constexpr uint32_t kNoNcclCall = 0xFFFFFFFF;

// One call of an NCCL function, or the calls between ncclGroupStart and ncclGroupEnd, which are
// launched together when the group ends.
struct NcclCall {
  std::string_view operation;  // empty for a group of different operations
  uint32_t first_range = 0;    // of NcclCalls::ranges
  uint32_t range_count = 0;    // 0: a range of another library around NCCL ("nccl:all_reduce")
};

struct NcclCalls {
  std::vector<NcclCall> calls;      // those that launched a kernel, in order of their first launch
  std::vector<uint32_t> ranges;     // rows of trace.nvtx
  std::vector<uint32_t> of_kernel;  // by row of trace.kernels: one of `calls`, or kNoNcclCall

  std::span<const uint32_t> RangesOf(const NcclCall& call) const {
    return {ranges.data() + call.first_range, call.range_count};
  }
};

// The NCCL call of each NCCL kernel (its name holds "nccl"). Of the push-pop ranges whose text
// begins with "nccl" that enclose the kernel's launch on the launching thread, the innermost that
// names an operation or ends a group decides: the shortest, then the latest to start, then the
// last by text. Needs what AddNcclReads says. One sweep: O(ranges + launches), sorted inputs.
NcclCalls FindNcclCalls(const Trace& trace, const std::vector<uint32_t>& kernel_calls,
                        CommunicationClasses& classes);

// FindNcclCalls of the trace of `views`, once per run.
const NcclCalls& NcclCallsOf(Views& views);

// What FindNcclCalls reads; to be added to the reads of a skill that calls it.
void AddNcclReads(Reads& reads);

}  // namespace nsys
