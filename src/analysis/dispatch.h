// SPDX-License-Identifier: MIT
// How CPU threads hand kernels to the GPUs: how long kernels wait in the queue, and how often a GPU
// waits for the CPU.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/trace.h"

namespace nsys {

inline constexpr int64_t kLongQueueNs = 1'000'000;  // a longer queue delay is counted as long
inline constexpr int64_t kStarvedNs = 1'000'000;    // a GPU idle for longer waits for the CPU

// The kernels whose launch call ran on one thread. All sums are exact nanoseconds.
struct ThreadDispatches {
  ThreadId thread = ThreadId::kNone;
  int64_t kernels = 0;  // the kernels of a CUDA graph count one each
  int64_t calls = 0;    // distinct launch calls
  // A kernel's queue delay: from the end of its launch call to its start; 0 when it starts before
  // the call ends. A long one means that the GPU has work enough.
  int64_t queue_ns = 0;
  int64_t shortest_queue_ns = 0;
  int64_t longest_queue_ns = 0;
  int64_t long_queues = 0;  // delays of more than kLongQueueNs
  int64_t kernel_ns = 0;    // summed kernel durations
  // Kernels for which the GPU waited: their device had no work of any kind for more than kStarvedNs
  // right up to their start, and their launch call began within that time. Nothing is known before
  // the first work of a device, so its first kernel never counts.
  int64_t starved = 0;
  int64_t starved_idle_ns = 0;  // the idle time before them, each stretch once
};

struct Dispatches {
  std::vector<ThreadDispatches> threads;  // most kernels first, then by thread; kNone last
  int64_t kernels = 0;                    // whose launch call is known
  int64_t unlinked = 0;                   // other kernels: launched before the capture began, say
  int64_t starved() const;
};

// What DispatchesOf reads; to be added to the reads of a skill that calls it.
void AddDispatchReads(Reads& reads);

// Of the kernels that lie inside the window, on `device` or on all.
const Dispatches& DispatchesOf(Views& views, std::optional<int64_t> device,
                               const std::optional<Window>& window);

}  // namespace nsys
