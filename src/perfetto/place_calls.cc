// SPDX-License-Identifier: MIT
#include <algorithm>
#include <vector>

#include "perfetto/calls.h"
#include "perfetto/placement.h"

namespace nsys::perfetto {
namespace {

// A call under a group; numbers so that sorting them is sorting by (call, group).
using Shown = uint64_t;
Shown ShownUnder(uint32_t call, uint32_t group) { return uint64_t{call} << 32 | group; }

class CallPlacer {
 public:
  CallPlacer(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout)
      : parts_(parts), trace_(parts.trace), plan_(plan), drawn_(drawn), layout_(layout) {}

  void Run() {
    launched_.assign(trace_.calls.size(), kNothing);
    ShowLaunches();
    ShowOthers();
    std::sort(shown_.begin(), shown_.end());
    shown_.erase(std::unique(shown_.begin(), shown_.end()), shown_.end());
    Place();
  }

 private:
  // What a call launched.
  enum Launched : uint8_t { kNothing, kUndrawn, kDrawn };

  void ShowLaunches();
  void ShowLaunch(uint32_t call, ProcessId process, int64_t device, bool drawn);
  void ShowOthers();
  void Place();

  const Parts& parts_;
  const Trace& trace_;
  TrackPlan& plan_;
  Hull& drawn_;
  Layout& layout_;
  std::vector<uint8_t> launched_;  // by call
  std::vector<Shown> shown_;
};

void CallPlacer::ShowLaunch(uint32_t call, ProcessId process, int64_t device, bool drawn) {
  launched_[call] = std::max<uint8_t>(launched_[call], drawn ? kDrawn : kUndrawn);
  const uint32_t group = parts_.options.host_tracks ? parts_.groups.HostOf(process)
                                                    : parts_.groups.Of(process, device);
  const Shown shown = ShownUnder(call, group);
  if (shown_.empty() || shown_.back() != shown) {
    shown_.push_back(shown);
  }
}

// Calls stand under the devices of what they launched.
void CallPlacer::ShowLaunches() {
  for (uint32_t row = 0; row < trace_.kernels.size(); ++row) {
    if (layout_.kernel_call[row] != kNoCall) {
      ShowLaunch(layout_.kernel_call[row], parts_.links.kernels.process[row],
                 DeviceOfLane(trace_.LaneOf(trace_.kernels, row)),
                 layout_.kernel_stream_track[row] != kNone);
    }
  }
  for (uint32_t row = 0; row < trace_.copies.size(); ++row) {
    if (layout_.copy_call[row] == kNoCall) {
      continue;
    }
    for (const int64_t device : layout_.device_sets[layout_.copy_devices[row]]) {
      ShowLaunch(layout_.copy_call[row], parts_.links.copies.process[row], device,
                 layout_.copy_stream_track[row] != kNone);
    }
  }
}

// Calls that launched nothing stand under all devices of their process.
void CallPlacer::ShowOthers() {
  const bool no_work = trace_.kernels.size() == 0 && trace_.copies.size() == 0;
  CallKinds kinds(trace_);
  for (uint32_t call = 0; call < trace_.calls.size(); ++call) {
    const bool inside = IsInTrim(parts_.options, trace_.calls.span(call));
    const CallKind kind = kinds.Of(call);
    if (kind == CallKind::kSync && (inside || launched_[call] == kDrawn)) {
      ++layout_.counts.sync_calls;
    }
    if (!inside || launched_[call] != kNothing ||
        !(no_work || IsDrawnUnlinked(kind, parts_.options.api_scope))) {
      continue;
    }
    const ProcessId process =
        parts_.processes.Known(parts_.processes.OfThread(trace_.calls.thread[call]));
    for (const uint32_t group : parts_.groups.ForProcessor(process)) {
      shown_.push_back(ShownUnder(call, group));
    }
  }
}

void CallPlacer::Place() {
  uint32_t last = kNoCall;
  for (const Shown shown : shown_) {
    const auto call = static_cast<uint32_t>(shown >> 32);
    const auto group = static_cast<uint32_t>(shown);
    const Span span = trace_.calls.span(call);
    if (launched_[call] != kDrawn && !IsInTrim(parts_.options, span)) {
      continue;
    }
    if (call != last) {
      last = call;
      ++layout_.counts.calls;
      drawn_.Add(span);
    }
    const ThreadId thread = trace_.calls.thread[call];
    const uint32_t subject = plan_.Subject(
        {.kind = TrackKind::kApi,
         .group = group,
         .first = thread == ThreadId::kNone ? 0 : trace_.threads[Index(thread)].tid()});
    layout_.call_slices.push_back({.row = call, .track = plan_.Place(subject, span)});
  }
}

}  // namespace

void PlaceCalls(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout) {
  CallPlacer(parts, plan, drawn, layout).Run();
}

}  // namespace nsys::perfetto
