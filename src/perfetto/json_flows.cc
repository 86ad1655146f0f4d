// SPDX-License-Identifier: MIT
// The arrows of a JSON trace. Both ends of an arrow carry the same name, category, id and args.
#include "perfetto/json_events.h"

#include <algorithm>
#include <string>

#include "perfetto/copy_kinds.h"

namespace nsys::perfetto {
namespace {

std::string_view TargetTrack(TrackKind kind) {
  switch (kind) {
    case TrackKind::kPeerUsage:
      return "NVLink/P2P";
    case TrackKind::kCopyUsage:
      return "GPU Copy D2D";
    default:
      return "PCIe Usage";
  }
}

}  // namespace

void JsonEvents::BeginFlow(JsonOut& out, std::string_view name, std::string_view category,
                           const FlowPoint& point) const {
  TextWriter& text = out.text;
  text.Put(",{\"name\":\"");
  text.Put(name);
  text.Put("\",\"ph\":\"");
  text.Put(point.is_end ? 'f' : 's');
  text.Put("\",\"cat\":\"");
  text.Put(category);
  text.Put("\",\"ts\":");
  text.PutMicroseconds(point.time_ns - layout_.origin_ns);
  text.Put(std::string_view(places_[point.track]));
}

void JsonEvents::EndFlow(JsonOut& out, uint64_t id, const FlowPoint& point) const {
  out.text.Put(",\"id\":");
  out.text.PutUnsigned(id);
  if (point.is_end) {
    out.text.Put(",\"bp\":\"e\"}");
  } else {
    out.text.Put('}');
  }
  ++out.events;
}

// Everything up to the last key, which is `to`, or `targetTrack` before it.
void JsonEvents::PutKernelFlowArgs(TextWriter& out, uint32_t kernel) const {
  const uint32_t call = layout_.kernel_call[kernel];
  const CallTable& calls = trace_.calls;
  const KernelTable& kernels = trace_.kernels;
  const Track& track = layout_.tracks[layout_.kernel_stream_track[kernel]];
  const int64_t latency_ns = kernels.start_ns[kernel] - calls.end_ns[call];
  out.Put("{\"correlationId\":");
  out.PutInteger(kernels.correlation[kernel]);
  out.Put(",\"cpuCallEndNs\":");
  out.PutInteger(calls.end_ns[call]);
  out.Put(",\"cpuCallStartNs\":");
  out.PutInteger(calls.start_ns[call]);
  out.Put(",\"deviceId\":");
  out.PutInteger(layout_.groups[track.group].device);
  out.Put(",\"from\":\"");
  text_.PutCallId(out, call);
  out.Put("\",\"gpuKernelEndNs\":");
  out.PutInteger(kernels.end_ns[kernel]);
  out.Put(",\"gpuKernelStartNs\":");
  out.PutInteger(kernels.start_ns[kernel]);
  out.Put(",\"kernelStartMinusApiEndUs\":");
  out.PutMicroseconds(latency_ns);
  out.Put(",\"launchLatencyUs\":");
  out.PutMicroseconds(std::max<int64_t>(latency_ns, 0));
  out.Put(",\"streamId\":");
  out.PutInteger(track.stream);
}

void JsonEvents::KernelFlows(JsonOut& out, uint32_t kernel, FlowPoint stream,
                             FlowPoint core) const {
  BeginFlow(out, "cuda_kernel_launch", "cuda_launch_dependency", stream);
  const size_t args = out.text.size();
  PutKernelFlowArgs(out.text, kernel);
  const size_t to = out.text.size();
  out.text.Put(",\"to\":\"");
  text_.PutKernelId(out.text, kernel);
  out.text.Put("\"}");
  const size_t end = out.text.size();
  EndFlow(out, ids_.Of(FlowKind::kKernel, kernel), stream);

  BeginFlow(out, "cuda_core_kernel_launch", "cuda_core_launch_dependency", core);
  out.text.PutAgain(args, to);
  out.text.Put(",\"targetTrack\":\"CUDA Core Timeline\"");
  out.text.PutAgain(to, end);
  EndFlow(out, ids_.Of(FlowKind::kCore, kernel), core);
}

void JsonEvents::PutCopyFlowArgs(TextWriter& out, uint32_t copy, int64_t device,
                                 std::string_view target_track) const {
  const uint32_t call = layout_.copy_call[copy];
  const CopyTable& copies = trace_.copies;
  out.Put("{\"activityDeviceId\":");
  out.PutInteger(trace_.DeviceOf(copies, copy).value_or(-1));
  out.Put(",\"bytes\":");
  out.PutInteger(copies.bytes[copy]);
  out.Put(",\"correlationId\":");
  out.PutInteger(copies.correlation[copy]);
  out.Put(",\"cpuCallEndNs\":");
  out.PutInteger(trace_.calls.end_ns[call]);
  out.Put(",\"cpuCallStartNs\":");
  out.PutInteger(trace_.calls.start_ns[call]);
  out.Put(",\"deviceId\":");
  out.PutInteger(device);
  out.Put(",\"direction\":\"");
  out.Put(CopyDirection(copies.kind[copy]));
  out.Put("\",\"displayDeviceIds\":");
  text_.PutDevices(out, copy);
  out.Put(",\"from\":\"");
  text_.PutCallId(out, call);
  out.Put("\",\"gpuCopyEndNs\":");
  out.PutInteger(copies.end_ns[copy]);
  out.Put(",\"gpuCopyStartNs\":");
  out.PutInteger(copies.start_ns[copy]);
  out.Put(",\"streamId\":");
  out.PutInteger(layout_.tracks[layout_.copy_stream_track[copy]].stream);
  if (!target_track.empty()) {
    out.Put(",\"targetTrack\":\"");
    out.Put(target_track);
    out.Put('"');
  }
  out.Put(",\"to\":\"");
  text_.PutCopyId(out, copy);
  out.Put("\"}");
}

void JsonEvents::CopyFlow(JsonOut& out, uint32_t copy, FlowPoint point) const {
  std::string name = "cuda_memcpy_";
  name += CopyDirectionKey(trace_.copies.kind[copy]);
  BeginFlow(out, name, "cuda_memcpy_dependency", point);
  PutCopyFlowArgs(out.text, copy, DeviceOfTrack(layout_.copy_stream_track[copy]), {});
  EndFlow(out, ids_.Of(FlowKind::kCopy, copy), point);
}

void JsonEvents::UsageFlow(JsonOut& out, const CopyUsage& usage, FlowPoint point) const {
  std::string name = "pcie_usage_";
  name += CopyDirectionKey(trace_.copies.kind[usage.copy]);
  BeginFlow(out, name, "pcie_usage_dependency", point);
  PutCopyFlowArgs(out.text, usage.copy, usage.device,
                  TargetTrack(layout_.tracks[usage.track].kind));
  EndFlow(out, ids_.Of(FlowKind::kUsage, usage.flow), point);
}

}  // namespace nsys::perfetto
