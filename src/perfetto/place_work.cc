// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <tuple>

#include "perfetto/copy_kinds.h"
#include "perfetto/placement.h"
#include "perfetto/work_order.h"

namespace nsys::perfetto {
namespace {

class WorkPlacer {
 public:
  WorkPlacer(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout)
      : parts_(parts), trace_(parts.trace), plan_(plan), drawn_(drawn), layout_(layout) {}

  // In one order: streams show both.
  void Run() {
    Prepare();
    ForEachWork(
        trace_, [&](uint32_t kernel) { PlaceKernel(kernel); },
        [&](uint32_t copy) { PlaceCopy(copy); });
    layout_.copy_usage_begin.push_back(static_cast<uint32_t>(layout_.copy_usage.size()));
  }

 private:
  void Prepare();
  uint32_t StreamOf(const Lane& lane, uint32_t group);
  uint32_t& KernelsSoFar(uint32_t stream, uint32_t group, const Lane& lane);
  void PlaceKernel(uint32_t kernel);
  void PlaceCopy(uint32_t copy);
  void PlaceUsage(uint32_t copy);
  void CountCopy(uint32_t copy);
  void CountSkew(uint32_t call, int64_t start_ns);

  const Parts& parts_;
  const Trace& trace_;
  TrackPlan& plan_;
  Hull& drawn_;
  Layout& layout_;
  // Event ids name a stream by the number of its process, which those of several hosts share.
  using StreamNumbers = std::tuple<int64_t, int64_t, int64_t, int64_t>;
  std::map<StreamNumbers, uint32_t> counters_;
  std::vector<uint32_t*> kernels_so_far_;  // by subject: of counters_
};

void WorkPlacer::Prepare() {
  const size_t kernels = trace_.kernels.size();
  const size_t copies = trace_.copies.size();
  layout_.kernel_call = parts_.links.kernels.call;
  layout_.kernel_stream_track.assign(kernels, kNone);
  layout_.kernel_core_track.assign(kernels, kNone);
  layout_.kernel_sequence.assign(kernels, 0);
  layout_.copy_call = parts_.links.copies.call;
  layout_.copy_stream_track.assign(copies, kNone);
  layout_.copy_usage.reserve(copies);
  layout_.copy_usage_begin.reserve(copies + 1);
  layout_.device_sets = parts_.devices.copy_sets;
  layout_.copy_devices = parts_.devices.set_of_copy;
}

uint32_t WorkPlacer::StreamOf(const Lane& lane, uint32_t group) {
  return plan_.Subject({.kind = TrackKind::kStream,
                        .group = group,
                        .first = lane.context.value_or(0),
                        .second = lane.stream.value_or(0)});
}

uint32_t& WorkPlacer::KernelsSoFar(uint32_t stream, uint32_t group, const Lane& lane) {
  kernels_so_far_.resize(std::max(kernels_so_far_.size(), size_t{stream} + 1));
  uint32_t*& counter = kernels_so_far_[stream];
  if (counter == nullptr) {
    const Group& of = parts_.groups.groups()[group];
    counter = &counters_[{of.pid, of.device, lane.context.value_or(0), lane.stream.value_or(0)}];
  }
  return *counter;
}

void WorkPlacer::CountSkew(uint32_t call, int64_t start_ns) {
  if (call != kNoCall && !Layout::HasArrow(trace_, call, start_ns)) {
    ++layout_.counts.skewed_links;
  }
}

void WorkPlacer::PlaceKernel(uint32_t kernel) {
  const Lane& lane = trace_.LaneOf(trace_.kernels, kernel);
  const ProcessId process = parts_.links.kernels.process[kernel];
  const uint32_t group = parts_.groups.Of(process, DeviceOfLane(lane));
  const uint32_t stream = StreamOf(lane, group);
  layout_.kernel_sequence[kernel] = ++KernelsSoFar(stream, group, lane);
  const Span span = trace_.kernels.span(kernel);
  if (!IsInTrim(parts_.options, span)) {
    return;
  }
  drawn_.Add(span);
  layout_.kernel_stream_track[kernel] = plan_.Place(stream, span);
  const uint32_t core = plan_.Subject({.kind = TrackKind::kCore, .group = group});
  layout_.kernel_core_track[kernel] = plan_.Place(core, span);
  const uint32_t call = layout_.kernel_call[kernel];
  ++layout_.counts.kernels;
  layout_.counts.linked_kernels += call != kNoCall ? 1 : 0;
  CountSkew(call, span.begin_ns);
}

void WorkPlacer::PlaceCopy(uint32_t copy) {
  layout_.copy_usage_begin.push_back(static_cast<uint32_t>(layout_.copy_usage.size()));
  const Span span = trace_.copies.span(copy);
  if (!IsInTrim(parts_.options, span)) {
    return;
  }
  drawn_.Add(span);
  const Lane& lane = trace_.LaneOf(trace_.copies, copy);
  const ProcessId process = parts_.links.copies.process[copy];
  const uint32_t group = parts_.groups.Of(process, parts_.devices.Primary(trace_, copy));
  layout_.copy_stream_track[copy] = plan_.Place(StreamOf(lane, group), span);
  PlaceUsage(copy);
  CountCopy(copy);
}

void WorkPlacer::PlaceUsage(uint32_t copy) {
  const CopyPath path = KindOfCopy(trace_.copies.kind[copy]).path;
  if (path == CopyPath::kNowhere) {
    return;
  }
  const TrackKind kind = path == CopyPath::kPcie     ? TrackKind::kPcieUsage
                         : path == CopyPath::kDevice ? TrackKind::kCopyUsage
                                                     : TrackKind::kPeerUsage;
  const Span span = trace_.copies.span(copy);
  const bool arrow =
      path == CopyPath::kPcie && Layout::HasArrow(trace_, layout_.copy_call[copy], span.begin_ns);
  const ProcessId process = parts_.links.copies.process[copy];
  for (const int64_t device : layout_.device_sets[layout_.copy_devices[copy]]) {
    const uint32_t group = parts_.groups.Of(process, device);
    const uint32_t subject = plan_.Subject({.kind = kind, .group = group});
    int64_t& flows = layout_.counts.usage_flows;
    layout_.copy_usage.push_back({.copy = copy,
                                  .track = plan_.Place(subject, span),
                                  .device = device,
                                  .flow = arrow ? static_cast<uint32_t>(flows) : kNone});
    flows += arrow ? 1 : 0;
  }
}

void WorkPlacer::CountCopy(uint32_t copy) {
  Counts& counts = layout_.counts;
  ++counts.copies;
  switch (KindOfCopy(trace_.copies.kind[copy]).count) {
    case CopyCount::kToDevice:
      ++counts.h2d;
      break;
    case CopyCount::kToHost:
      ++counts.d2h;
      break;
    case CopyCount::kOnDevice:
      ++counts.d2d;
      break;
    case CopyCount::kOther:
      ++counts.other_copies;
      break;
  }
  const uint32_t call = layout_.copy_call[copy];
  counts.linked_copies += call != kNoCall ? 1 : 0;
  CountSkew(call, trace_.copies.start_ns[copy]);
}

}  // namespace

void PlaceWork(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout) {
  WorkPlacer(parts, plan, drawn, layout).Run();
}

}  // namespace nsys::perfetto
