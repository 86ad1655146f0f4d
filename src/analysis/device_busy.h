// SPDX-License-Identifier: MIT
// When each GPU has any work at all: kernels, copies, memsets, CUDA graphs traced as a whole. One
// definition of idle time for every skill that quotes it; kernels alone would call a GPU that only
// copies idle.
#pragma once

#include <cstdint>
#include <map>
#include <optional>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/intervals.h"
#include "trace/trace.h"

namespace nsys {

struct DeviceBusy {
  SpanSet active;         // union of all work, cut to the window; never empty
  int64_t kernel_ns = 0;  // union of kernels and whole-traced graphs alone

  // First start to last end of the work: time beside it, towards the window's edges, is no part.
  Span span() const { return {active.front().begin_ns, active.back().end_ns}; }
  int64_t active_ns() const { return Length(active); }
  int64_t copy_only_ns() const { return active_ns() - kernel_ns; }  // copies and memsets alone
  int64_t idle_ns() const { return span().length_ns() - active_ns(); }
};
// By device; work whose device the capture does not tell stands under nothing.
using BusyDevices = std::map<std::optional<int64_t>, DeviceBusy>;

// What the functions below read; to be added to the reads of a skill that calls them.
void AddDeviceBusyReads(Reads& reads);

// The devices that have work in the window.
const BusyDevices& BusyDevicesOf(Views& views, const Window& window);

// `window`, or without one the span of all kernels and graphs, else of all copies and memsets;
// nothing when there is no work.
std::optional<Window> ActivityWindow(const Trace& trace, const std::optional<Window>& window);

// The part of `window` between the first start and the last end of all that was recorded: calls,
// kernels, graphs, copies, memsets, synchronization (of the tables that were read). Beyond it the
// capture tells nothing. Nothing when no such part is left.
std::optional<Span> RecordedPart(const Trace& trace, const Window& window);

// The device with the most summed kernel time in the window (parts inside count), else in the whole
// capture; ties go to the lower number. Nothing when no kernel has a device.
std::optional<int64_t> BusiestDevice(const Trace& trace, const std::optional<Window>& window);

}  // namespace nsys
