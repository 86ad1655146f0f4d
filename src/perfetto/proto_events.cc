// SPDX-License-Identifier: MIT
#include "perfetto/proto_events.h"

#include <optional>

namespace nsys::perfetto {
namespace {

constexpr uint32_t Of(ProtoCategory category) { return static_cast<uint32_t>(category); }

}  // namespace

ProtoSource::ProtoSource(const Trace& a_trace, const Layout& a_layout)
    : trace(a_trace),
      layout(a_layout),
      texts(a_trace, a_layout),
      flow_ids(a_layout.options.report),
      flows(a_trace, a_layout),
      text(a_trace, a_layout),
      uuids(a_layout.options.report) {}

ProtoEvents::ProtoEvents(const ProtoSource& source)
    : source_(source),
      trace_(source.trace),
      layout_(source.layout),
      texts_(source.texts),
      sequence_(source.texts) {}

int64_t ProtoEvents::Write(const ProtoPlan& plan, const ProtoPlan::Part& part, uint32_t id,
                           ProtoBuffer& out) {
  const Track& track = layout_.tracks[part.track];
  sequence_.Start(id, source_.uuids.OfTrack(part.track), out);
  const auto each = [&](const auto& write) {
    for (size_t at = part.begin; at < part.end; ++at) {
      write(plan.item(part.track, at));
    }
  };
  switch (track.kind) {
    case TrackKind::kStream:
      each(
          [&](uint32_t item) { (item & kCopyItem) != 0 ? Copy(item & ~kCopyItem) : Kernel(item); });
      break;
    case TrackKind::kCore:
      each([&](uint32_t row) { CoreKernel(row); });
      break;
    case TrackKind::kPcieUsage:
    case TrackKind::kCopyUsage:
    case TrackKind::kPeerUsage:
      each([&](uint32_t place) { Usage(layout_.copy_usage[place]); });
      break;
    case TrackKind::kNvtxKernel:
    case TrackKind::kNvtxRangeKernel:
    case TrackKind::kNvtxThread:
    case TrackKind::kNvtxRange:
      Nested(plan, part);
      break;
    case TrackKind::kApi:
      each([&](uint32_t row) { Call(row, part.track); });
      break;
    default:
      Extras(part);
  }
  return sequence_.packets();
}

void ProtoEvents::Kernel(uint32_t row) {
  sequence_.OpenSlice(Of(ProtoCategory::kKernel),
                      texts_.Of(KernelNameId(trace_, layout_.options, row)));
  if (source_.flows.HasKernelFlow(row)) {
    sequence_.FlowIn(source_.flow_ids.Of(FlowKind::kKernel, row));
  }
  KernelArgs(row);
  WriteSpan(trace_.kernels, row);
}

void ProtoEvents::KernelArgs(uint32_t row) {
  const KernelTable& kernels = trace_.kernels;
  if (const uint32_t set = layout_.kernel_regions[row]; set != kNone) {
    Regions(layout_.region_sets[set]);
  }
  const KernelShape* shape = kernels.shape.empty() ? nullptr : &kernels.shape[row];
  if (shape != nullptr) {
    Arg3(ProtoArg::kBlock, shape->block);
  }
  OptionalArg(ProtoArg::kCorrelation, kernels.correlation[row]);
  DemangledName(row);
  KernelId(row);
  if (!kernels.graph.empty()) {
    OptionalArg(ProtoArg::kGraph, kernels.graph[row].graph);
    OptionalArg(ProtoArg::kGraphNode, kernels.graph[row].node);
  }
  if (shape != nullptr) {
    Arg3(ProtoArg::kGrid, shape->grid);
  }
  Launch(layout_.kernel_call[row], kernels.start_ns[row]);
  RecordedEndArg(kernels, row);
  Arg(ProtoArg::kSequence, layout_.kernel_sequence[row]);
}

// The full name of a kernel that is shown by its short one.
void ProtoEvents::DemangledName(uint32_t row) {
  if (!OtherKernelName(trace_, layout_.options, row).empty()) {
    ArgInterned(ProtoArg::kDemangledName, texts_.Of(trace_.kernels.demangled_name[row]));
  }
}

void ProtoEvents::Regions(const Layout::RegionSet& set) {
  const size_t list = sequence_.BeginList(static_cast<uint32_t>(ProtoArg::kRegions));
  for (uint32_t name = set.begin; name < set.begin + set.count; ++name) {
    sequence_.Item(texts_.Of(layout_.region_names[name]));
  }
  sequence_.EndList(list);
  if (set.cut > 0) {
    Arg(ProtoArg::kRegionsTruncated, set.cut);
  }
}

// Where no arrow tells which call launched the work, as the call starts after it.
void ProtoEvents::Launch(uint32_t call, int64_t start_ns) {
  const std::optional<int64_t> skew = LaunchSkew(trace_, call, start_ns);
  if (skew) {
    CallId(ProtoArg::kLaunchEventId, call);
    Arg(ProtoArg::kLaunchSkew, *skew);
  }
}

void ProtoEvents::RecordedEndArg(const Events& events, uint32_t row) {
  if (const std::optional<int64_t> end = RecordedEnd(events, row)) {
    Arg(ProtoArg::kRecordedEnd, *end);
  }
}

// Other than its stream, the Core Timeline does not tell where a kernel ran.
void ProtoEvents::CoreKernel(uint32_t row) {
  sequence_.OpenSlice(Of(ProtoCategory::kKernelUsage),
                      texts_.Of(KernelNameId(trace_, layout_.options, row)));
  if (source_.flows.HasKernelFlow(row)) {
    sequence_.FlowIn(source_.flow_ids.Of(FlowKind::kCore, row));
  }
  const Track& stream = layout_.tracks[layout_.kernel_stream_track[row]];
  Arg(ProtoArg::kContext, stream.context);
  OptionalArg(ProtoArg::kCorrelation, trace_.kernels.correlation[row]);
  KernelId(row);
  Arg(ProtoArg::kStream, stream.stream);
  WriteSpan(trace_.kernels, row);
}

void ProtoEvents::Copy(uint32_t row) {
  sequence_.OpenSlice(Of(ProtoCategory::kCopy), texts_.CopyName(trace_.copies.kind[row]));
  if (source_.flows.HasCopyFlow(row)) {
    sequence_.FlowIn(source_.flow_ids.Of(FlowKind::kCopy, row));
  }
  CopyArgs(row);
  WriteSpan(trace_.copies, row);
}

void ProtoEvents::CopyArgs(uint32_t row) {
  const CopyTable& copies = trace_.copies;
  BytesArgs(row);
  const CopyRoute route = copies.route.empty() ? CopyRoute() : copies.route[row];
  if (route.copies != 1) {
    Arg(ProtoArg::kCopyCount, route.copies);
  }
  OptionalArg(ProtoArg::kCorrelation, copies.correlation[row]);
  OptionalArg(ProtoArg::kToContext, route.to_context);
  OptionalArg(ProtoArg::kToDevice, route.to_device);
  if (!copies.to_memory.empty()) {
    ArgInterned(ProtoArg::kToMemory, texts_.MemoryKind(copies.to_memory[row]));
  }
  CopyId(row);
  OptionalArg(ProtoArg::kGraphNode, route.graph_node);
  Launch(layout_.copy_call[row], copies.start_ns[row]);
  RecordedEndArg(copies, row);
  OptionalArg(ProtoArg::kFromContext, route.from_context);
  OptionalArg(ProtoArg::kFromDevice, route.from_device);
  if (!copies.from_memory.empty()) {
    ArgInterned(ProtoArg::kFromMemory, texts_.MemoryKind(copies.from_memory[row]));
  }
  if (route.virtual_address != 0) {
    sequence_.ArgUint(static_cast<uint32_t>(ProtoArg::kVirtualAddress), route.virtual_address);
  }
}

void ProtoEvents::BytesArgs(uint32_t row) {
  sequence_.ArgDouble(static_cast<uint32_t>(ProtoArg::kBandwidth), CopyBandwidth(trace_, row));
  Arg(ProtoArg::kBytes, trace_.copies.bytes[row]);
  ArgInterned(ProtoArg::kDirection, texts_.Direction(trace_.copies.kind[row]));
}

void ProtoEvents::Usage(const CopyUsage& usage) {
  sequence_.OpenSlice(Of(ProtoCategory::kCopyUsage),
                      texts_.CopyName(trace_.copies.kind[usage.copy]));
  if (usage.flow != kNone) {
    sequence_.FlowIn(source_.flow_ids.Of(FlowKind::kUsage, usage.flow));
  }
  BytesArgs(usage.copy);
  CopyId(usage.copy);
  WriteSpan(trace_.copies, usage.copy);
}

void ProtoEvents::Call(uint32_t row, uint32_t track) {
  sequence_.OpenSlice(Of(ProtoCategory::kApi), texts_.OfCall(trace_.calls.name[row]));
  CallFlows(row, track);
  OptionalArg(ProtoArg::kCorrelation, trace_.calls.correlation[row]);
  CallId(ProtoArg::kEventId, row);
  RecordedEndArg(trace_.calls, row);
  WriteSpan(trace_.calls, row);
}

void ProtoEvents::CallFlows(uint32_t row, uint32_t track) {
  for (const uint32_t kernel : source_.flows.KernelsOf(row)) {
    if (LeavesFrom(layout_, track, layout_.kernel_stream_track[kernel])) {
      sequence_.FlowOut(source_.flow_ids.Of(FlowKind::kKernel, kernel));
      sequence_.FlowOut(source_.flow_ids.Of(FlowKind::kCore, kernel));
    }
  }
  for (const uint32_t copy : source_.flows.CopiesOf(row)) {
    if (LeavesFrom(layout_, track, layout_.copy_stream_track[copy])) {
      sequence_.FlowOut(source_.flow_ids.Of(FlowKind::kCopy, copy));
    }
    for (const CopyUsage& usage : layout_.UsagesOf(copy)) {
      if (usage.flow != kNone && LeavesFrom(layout_, track, usage.track)) {
        sequence_.FlowOut(source_.flow_ids.Of(FlowKind::kUsage, usage.flow));
      }
    }
  }
}

}  // namespace nsys::perfetto
