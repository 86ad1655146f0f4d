// SPDX-License-Identifier: MIT
// The args objects of EventText. Each key is written with the comma before it, in the order of the
// bytes of the keys.
#include <cmath>
#include <variant>

#include "base/text.h"
#include "perfetto/event_text.h"

namespace nsys::perfetto {
namespace {

// A number of the file: ids that it does not tell are null.
void PutCorrelation(TextWriter& out, int64_t correlation) {
  out.Put("\"correlationId\":");
  if (correlation == kNoCorrelation) {
    out.Put("null");
  } else {
    out.PutInteger(correlation);
  }
}

void PutExtent(TextWriter& out, const Extent& extent) {
  out.Put('[');
  out.PutInteger(extent.x);
  out.Put(',');
  out.PutInteger(extent.y);
  out.Put(',');
  out.PutInteger(extent.z);
  out.Put(']');
}

void PutRecordedEnd(TextWriter& out, const Events& events, uint32_t row) {
  if (const auto end = RecordedEnd(events, row)) {
    out.Put(",\"recordedEndNs\":");
    out.PutInteger(*end);
  }
}

void PutColor(TextWriter& out, uint32_t color) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  out.Put("\"color\":\"#");
  for (int shift = 28; shift >= 0; shift -= 4) {
    out.Put(kHex[color >> shift & 0xF]);
  }
  out.Put("\",");
}

struct PayloadWriter {
  TextWriter& out;
  void operator()(std::monostate /*none*/) const { out.Put("null"); }
  void operator()(int64_t value) const { out.PutInteger(value); }
  void operator()(uint64_t value) const { out.PutUnsigned(value); }
  void operator()(double value) const {
    if (std::isfinite(value)) {
      out.PutDouble(value);
    } else {
      out.PutQuoted(std::isnan(value) ? "NaN" : (value < 0 ? "-Infinity" : "Infinity"));
    }
  }
  void operator()(const std::string& value) const {
    if (IsValidUtf8(value)) {
      out.PutQuoted(value);
    } else {
      out.PutQuoted(ToValidUtf8(value));
    }
  }
};

}  // namespace

void EventText::PutLaunch(TextWriter& out, uint32_t call, int64_t start_ns) const {
  out.Put(",\"launchEventId\":");
  if (call == kNoCall) {
    out.Put("null");
    return;
  }
  out.Put('"');
  PutCallId(out, call);
  out.Put('"');
  if (const auto skew = LaunchSkew(trace_, call, start_ns)) {
    out.Put(",\"launchSkewNs\":");
    out.PutInteger(*skew);
  }
}

void EventText::PutRegions(TextWriter& out, uint32_t set) const {
  out.Put("\"NVTXRegions\":[");
  if (set == kNone) {
    out.Put(']');
    return;
  }
  const Layout::RegionSet& regions = layout_.region_sets[set];
  for (uint32_t i = 0; i < regions.count; ++i) {
    if (i != 0) {
      out.Put(',');
    }
    const StringId name = layout_.region_names[regions.begin + i];
    if (name == StringId::kNone) {
      out.Put("\"NVTX\"");
    } else {
      PutQuoted(out, name);
    }
  }
  out.Put(']');
  if (regions.cut != 0) {
    out.Put(",\"NVTXRegionsTruncated\":");
    out.PutUnsigned(regions.cut);
  }
}

void EventText::PutKernelArgs(TextWriter& out, uint32_t kernel) const {
  const KernelTable& kernels = trace_.kernels;
  const Track& track = StreamTrack(kernel);
  const Group& group = layout_.groups[track.group];
  const bool has_shape = !kernels.shape.empty();
  out.Put('{');
  PutRegions(out, layout_.kernel_regions.empty() ? kNone : layout_.kernel_regions[kernel]);
  if (has_shape) {
    out.Put(",\"block\":");
    PutExtent(out, kernels.shape[kernel].block);
  }
  out.Put(",\"contextId\":");
  out.PutInteger(track.context);
  out.Put(',');
  PutCorrelation(out, kernels.correlation[kernel]);
  if (const auto demangled = OtherKernelName(trace_, layout_.options, kernel); !demangled.empty()) {
    out.Put(",\"demangledName\":");
    PutQuoted(out, kernels.demangled_name[kernel]);
  }
  out.Put(",\"deviceId\":");
  out.PutInteger(group.device);
  out.Put(",\"eventId\":\"");
  PutKernelId(out, kernel);
  out.Put("\",\"gpuDurationNs\":");
  out.PutInteger(kernels.duration_ns(kernel));
  out.Put(",\"gpuEndNs\":");
  out.PutInteger(kernels.end_ns[kernel]);
  out.Put(",\"gpuStartNs\":");
  out.PutInteger(kernels.start_ns[kernel]);
  if (!kernels.graph.empty() && kernels.graph[kernel].graph != kNoNumber) {
    out.Put(",\"graphId\":");
    out.PutInteger(kernels.graph[kernel].graph);
  }
  if (!kernels.graph.empty() && kernels.graph[kernel].node != kNoNumber) {
    out.Put(",\"graphNodeId\":");
    out.PutInteger(kernels.graph[kernel].node);
  }
  if (has_shape) {
    out.Put(",\"grid\":");
    PutExtent(out, kernels.shape[kernel].grid);
  }
  PutLaunch(out, layout_.kernel_call[kernel], kernels.start_ns[kernel]);
  PutRecordedEnd(out, kernels, kernel);
  out.Put(",\"sourceProcessId\":");
  out.PutInteger(group.pid);
  out.Put(",\"streamId\":");
  out.PutInteger(track.stream);
  out.Put(",\"streamSequence\":");
  out.PutUnsigned(layout_.kernel_sequence[kernel]);
  out.Put('}');
}

void EventText::PutCoreArgs(TextWriter& out, uint32_t kernel) const {
  const Track& track = StreamTrack(kernel);
  out.Put("{\"contextId\":");
  out.PutInteger(track.context);
  out.Put(',');
  PutCorrelation(out, trace_.kernels.correlation[kernel]);
  out.Put(",\"deviceId\":");
  out.PutInteger(layout_.groups[track.group].device);
  out.Put(",\"eventId\":\"");
  PutKernelId(out, kernel);
  out.Put("\",\"streamId\":");
  out.PutInteger(track.stream);
  out.Put('}');
}

void EventText::PutCallArgs(TextWriter& out, uint32_t call, int64_t device) const {
  const CallTable& calls = trace_.calls;
  out.Put('{');
  PutCorrelation(out, calls.correlation[call]);
  out.Put(",\"cpuDurationNs\":");
  out.PutInteger(calls.duration_ns(call));
  out.Put(",\"cpuEndNs\":");
  out.PutInteger(calls.end_ns[call]);
  out.Put(",\"cpuStartNs\":");
  out.PutInteger(calls.start_ns[call]);
  out.Put(",\"deviceId\":");
  out.PutInteger(device);
  out.Put(",\"eventId\":\"");
  PutCallId(out, call);
  out.Put('"');
  PutRecordedEnd(out, calls, call);
  out.Put('}');
}

void EventText::PutDevices(TextWriter& out, uint32_t copy) const {
  char before = '[';
  for (const int64_t device : layout_.device_sets[layout_.copy_devices[copy]]) {
    out.Put(before);
    out.PutInteger(device);
    before = ',';
  }
  if (before == '[') {
    out.Put('[');
  }
  out.Put(']');
}

void EventText::PutCopyArgs(TextWriter& out, uint32_t copy) const {
  const CopyTable& copies = trace_.copies;
  const Track& track = CopyTrack(copy);
  const CopyRoute route = copies.route.empty() ? CopyRoute() : copies.route[copy];
  const int32_t from = copies.from_memory.empty() ? kNoMemoryKind : copies.from_memory[copy];
  const int32_t to = copies.to_memory.empty() ? kNoMemoryKind : copies.to_memory[copy];
  const auto put = [&out](const auto& key, int64_t value) {
    out.Put(key);
    out.PutInteger(value);
  };
  put("{\"activityDeviceId\":", trace_.DeviceOf(copies, copy).value_or(-1));
  out.Put(",\"bandwidthGBps\":");
  out.PutDouble(CopyBandwidth(trace_, copy));
  put(",\"bytes\":", copies.bytes[copy]);
  put(",\"contextId\":", track.context);
  put(",\"copyCount\":", route.copies);
  put(",\"copyKindId\":", copies.kind[copy]);
  out.Put(',');
  PutCorrelation(out, copies.correlation[copy]);
  put(",\"deviceId\":", layout_.groups[track.group].device);
  out.Put(",\"direction\":\"");
  out.Put(CopyDirection(copies.kind[copy]));
  out.Put("\",\"displayDeviceIds\":");
  PutDevices(out, copy);
  put(",\"dstContextId\":", route.to_context);
  put(",\"dstDeviceId\":", route.to_device);
  out.Put(",\"dstMemoryKind\":\"");
  out.Put(MemoryKindName(to));
  put("\",\"dstMemoryKindId\":", to);
  put(",\"durationNs\":", copies.duration_ns(copy));
  out.Put(",\"eventId\":\"");
  PutCopyId(out, copy);
  put("\",\"gpuEndNs\":", copies.end_ns[copy]);
  put(",\"gpuStartNs\":", copies.start_ns[copy]);
  put(",\"graphNodeId\":", route.graph_node);
  PutLaunch(out, layout_.copy_call[copy], copies.start_ns[copy]);
  PutRecordedEnd(out, copies, copy);
  put(",\"sourceProcessId\":", layout_.groups[track.group].pid);
  put(",\"srcContextId\":", route.from_context);
  put(",\"srcDeviceId\":", route.from_device);
  out.Put(",\"srcMemoryKind\":\"");
  out.Put(MemoryKindName(from));
  put("\",\"srcMemoryKindId\":", from);
  put(",\"streamId\":", track.stream);
  out.Put(",\"virtualAddress\":\"");
  out.PutUnsigned(route.virtual_address);
  out.Put("\"}");
}

void EventText::PutUsageArgs(TextWriter& out, const CopyUsage& usage) const {
  const CopyTable& copies = trace_.copies;
  out.Put("{\"bandwidthGBps\":");
  out.PutDouble(CopyBandwidth(trace_, usage.copy));
  out.Put(",\"bytes\":");
  out.PutInteger(copies.bytes[usage.copy]);
  out.Put(",\"deviceId\":");
  out.PutInteger(usage.device);
  out.Put(",\"direction\":\"");
  out.Put(CopyDirection(copies.kind[usage.copy]));
  out.Put("\",\"eventId\":\"");
  PutCopyId(out, usage.copy);
  out.Put("\"}");
}

const NvtxAttributes* EventText::Attributes(uint32_t range) const {
  const auto& rows = trace_.nvtx.attributes;
  return rows.empty() || rows[range] == kNoAttributes ? nullptr
                                                      : &trace_.nvtx_attributes[rows[range]];
}

void EventText::PutCategory(TextWriter& out, uint32_t range) const {
  const NvtxAttributes* const attributes = Attributes(range);
  if (attributes == nullptr || !attributes->category || *attributes->category == 0) {
    return;  // 0 is "no category"
  }
  out.Put("\"category\":");
  const std::string_view name = nvtx_names_.Category(range, *attributes->category);
  if (name.empty()) {
    out.PutInteger(*attributes->category);
  } else {
    out.PutQuoted(name);
  }
  out.Put(',');
}

void EventText::PutDomain(TextWriter& out, uint32_t range) const {
  const int64_t number = nvtx_names_.DomainNumber(range);
  if (number == 0) {
    return;  // the default domain
  }
  out.Put(",\"domain\":");
  const std::string_view name = nvtx_names_.Domain(range);
  if (name.empty()) {
    out.PutInteger(number);
  } else {
    out.PutQuoted(name);
  }
}

void EventText::PutPayload(TextWriter& out, uint32_t range) const {
  const NvtxAttributes* const attributes = Attributes(range);
  if (attributes == nullptr || std::holds_alternative<std::monostate>(attributes->payload)) {
    return;
  }
  out.Put(",\"payload\":");
  std::visit(PayloadWriter{out}, attributes->payload);
}

bool EventText::IsPlain(uint32_t range) const {
  const NvtxTable& nvtx = trace_.nvtx;
  return layout_.repaired.empty() && nvtx.recorded_end_ns.empty() &&
         (nvtx.attributes.empty() || nvtx.attributes[range] == kNoAttributes) &&
         (nvtx.open.empty() || nvtx.open[range] == 0) && nvtx_names_.DomainNumber(range) == 0;
}

void EventText::PutRangeArgs(TextWriter& out, uint32_t range, const Track& track) const {
  if (IsPlain(range)) {
    const auto index = static_cast<size_t>(&track - layout_.tracks.data());
    out.Put(std::string_view(plain_args_[index]));
    return;
  }
  const Group& group = layout_.groups[track.group];
  const NvtxAttributes* const attributes = Attributes(range);
  out.Put('{');
  PutCategory(out, range);
  if (attributes != nullptr && attributes->color) {
    PutColor(out, *attributes->color);
  }
  out.Put("\"deviceId\":");
  out.PutInteger(group.device);
  PutDomain(out, range);
  if (IsOpenRange(trace_, range)) {
    out.Put(",\"open\":true");
  }
  PutPayload(out, range);
  PutRecordedEnd(out, trace_.nvtx, range);
  out.Put(",\"sourcePid\":");
  out.PutInteger(group.pid);
  out.Put(",\"sourceTid\":");
  out.PutInteger(track.source_tid);
  out.Put(",\"timestampRepaired\":");
  if (!layout_.repaired.empty() && layout_.IsRepaired(range)) {
    out.Put("true}");
  } else {
    out.Put("false}");
  }
}

void EventText::PutExtraArgs(TextWriter& out, const ExtraSlice& slice) const {
  char before = '{';
  for (uint32_t i = 0; i < slice.arg_count; ++i) {
    const ExtraArg& arg = layout_.extra_args[slice.first_arg + i];
    out.Put(before);
    out.PutQuoted(layout_.texts[arg.key]);
    out.Put(':');
    if (arg.is_text) {
      out.PutQuoted(layout_.texts[static_cast<size_t>(arg.value)]);
    } else {
      out.PutInteger(arg.value);
    }
    before = ',';
  }
  if (before == '{') {
    out.Put('{');
  }
  out.Put('}');
}

}  // namespace nsys::perfetto
