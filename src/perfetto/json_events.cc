// SPDX-License-Identifier: MIT
#include "perfetto/json_events.h"

#include "perfetto/copy_kinds.h"
#include "perfetto/extras.h"
#include "perfetto/ranges.h"

namespace nsys::perfetto {
namespace {

int64_t GroupPid(uint32_t group) { return kFirstGroupPid + group; }

// A metadata event, up to the value of its one argument.
void BeginMetadata(JsonOut& out, std::string_view name, int64_t tid, int64_t pid) {
  out.text.Put(",{\"name\":\"");
  out.text.Put(name);
  out.text.Put("\",\"ph\":\"M\",\"cat\":\"__metadata\",\"ts\":0.0,\"tid\":");
  out.text.PutInteger(tid);
  out.text.Put(",\"pid\":");
  out.text.PutInteger(pid);
  ++out.events;
}

void NameMetadata(JsonOut& out, std::string_view event, int64_t tid, int64_t pid,
                  std::string_view name, std::string_view detail) {
  BeginMetadata(out, event, tid, pid);
  out.text.Put(",\"args\":{");
  if (!detail.empty()) {
    out.text.Put("\"detail\":");
    out.text.PutQuoted(detail);
    out.text.Put(',');
  }
  out.text.Put("\"name\":");
  out.text.PutQuoted(name);
  out.text.Put("}}");
}

void OrderMetadata(JsonOut& out, std::string_view event, int64_t tid, int64_t pid, int32_t index) {
  BeginMetadata(out, event, tid, pid);
  out.text.Put(",\"args\":{\"sort_index\":");
  out.text.PutInteger(index);
  out.text.Put("}}");
}

// A quoted name that is the same for many slices.
auto Constant(JsonOut& out, std::string_view name) {
  return [&out, name] {
    out.text.Put('"');
    out.text.Put(name);
    out.text.Put('"');
  };
}

}  // namespace

JsonEvents::JsonEvents(const Trace& trace, const Layout& layout)
    : trace_(trace),
      layout_(layout),
      text_(trace, layout),
      ids_(layout.options.report),
      flows_(trace, layout) {
  for (const Track& track : layout.tracks) {
    TextWriter out(places_.emplace_back());
    out.Put(",\"tid\":");
    out.PutInteger(track.tid);
    out.Put(",\"pid\":");
    out.PutInteger(GroupPid(track.group));
    out.Put(",\"args\":");
  }
}

void JsonEvents::Metadata(JsonOut& out) const {
  for (uint32_t i = 0; i < layout_.groups.size(); ++i) {
    const Group& group = layout_.groups[i];
    NameMetadata(out, "process_name", 0, GroupPid(i), group.name, group.detail);
    OrderMetadata(out, "process_sort_index", 0, GroupPid(i), group.sort_index);
  }
  for (const Track& track : layout_.tracks) {
    if (track.proto_only) {
      continue;
    }
    const int64_t pid = GroupPid(track.group);
    NameMetadata(out, "thread_name", track.tid, pid, track.name, track.detail);
    OrderMetadata(out, "thread_sort_index", track.tid, pid, track.sort_index);
  }
}

template <size_t n, typename Name, typename Args>
void JsonEvents::Slice(JsonOut& out, const Name& name, const char (&middle)[n], Span span,
                       uint32_t track, const Args& args) const {
  TextWriter& text = out.text;
  text.Put(",{\"name\":");
  name();
  text.Put(",\"ph\":\"X\",\"cat\":\"");
  text.Put(middle);
  text.Put("\",\"ts\":");
  text.PutMicroseconds(span.begin_ns - layout_.origin_ns);
  text.Put(",\"dur\":");
  text.PutMicroseconds(span.length_ns());
  text.Put(std::string_view(places_[track]));
  args();
  text.Put('}');
  ++out.events;
}

void JsonEvents::Call(JsonOut& out, const Placed& slice) const {
  const uint32_t call = slice.row;
  Slice(
      out, [&] { text_.PutCallName(out.text, call); }, "cuda_api", trace_.calls.span(call),
      slice.track, [&] { text_.PutCallArgs(out.text, call, DeviceOfTrack(slice.track)); });
}

void JsonEvents::KernelFlowStarts(JsonOut& out, const Placed& slice, uint32_t kernel) const {
  if (!LeavesFrom(layout_, slice.track, layout_.kernel_stream_track[kernel])) {
    return;
  }
  const FlowPoint point = {
      false, FlowStart(trace_.calls, slice.row, trace_.kernels.start_ns[kernel]), slice.track};
  KernelFlows(out, kernel, point, point);
}

void JsonEvents::CopyFlowStarts(JsonOut& out, const Placed& slice, uint32_t copy) const {
  const FlowPoint point = {false, FlowStart(trace_.calls, slice.row, trace_.copies.start_ns[copy]),
                           slice.track};
  if (LeavesFrom(layout_, slice.track, layout_.copy_stream_track[copy])) {
    CopyFlow(out, copy, point);
  }
  for (const CopyUsage& usage : layout_.UsagesOf(copy)) {
    if (usage.flow != kNone && LeavesFrom(layout_, slice.track, usage.track)) {
      UsageFlow(out, usage, point);
    }
  }
}

void JsonEvents::Kernel(JsonOut& out, uint32_t kernel) const {
  const uint32_t stream = layout_.kernel_stream_track[kernel];
  const uint32_t core = layout_.kernel_core_track[kernel];
  const Span span = trace_.kernels.span(kernel);
  const auto name = [&] { text_.PutKernelName(out.text, kernel); };
  Slice(out, name, "cuda", span, stream, [&] { text_.PutKernelArgs(out.text, kernel); });
  Slice(out, name, "cuda_kernel_usage", span, core, [&] { text_.PutCoreArgs(out.text, kernel); });
  if (flows_.HasKernelFlow(kernel)) {
    const int64_t end = FlowEnd(trace_.kernels, kernel);
    KernelFlows(out, kernel, {true, end, stream}, {true, end, core});
  }
}

void JsonEvents::Copy(JsonOut& out, uint32_t copy) const {
  const uint32_t stream = layout_.copy_stream_track[copy];
  const Span span = trace_.copies.span(copy);
  const auto name = Constant(out, CopyName(trace_.copies.kind[copy]));
  const auto usages = layout_.UsagesOf(copy);
  Slice(out, name, "cuda_memcpy", span, stream, [&] { text_.PutCopyArgs(out.text, copy); });
  for (const CopyUsage& usage : usages) {
    Slice(out, name, "cuda_copy_usage", span, usage.track,
          [&] { text_.PutUsageArgs(out.text, usage); });
  }
  if (!flows_.HasCopyFlow(copy)) {
    return;
  }
  const int64_t end = FlowEnd(trace_.copies, copy);
  CopyFlow(out, copy, {true, end, stream});
  for (const CopyUsage& usage : usages) {
    if (usage.flow != kNone) {
      UsageFlow(out, usage, {true, end, usage.track});
    }
  }
}

void JsonEvents::Range(JsonOut& out, RangeEvent event) const {
  const size_t ranges = layout_.range_slices.size();
  if (event.slice() < ranges) {
    const Placed& slice = layout_.range_slices[event.slice()];
    RangePoint(out, event,
               {.row = slice.row,
                .track = slice.track,
                .span = layout_.RangeSpan(trace_, slice.row),
                .projected = false});
  } else {
    const Projected& slice = layout_.projections[event.slice() - ranges];
    RangePoint(out, event,
               {.row = slice.row,
                .track = slice.track,
                .span = {slice.start_ns, slice.end_ns},
                .projected = true});
  }
}

void JsonEvents::RangePoint(JsonOut& out, RangeEvent event, const DrawnRange& range) const {
  TextWriter& text = out.text;
  const bool is_mark = !range.projected && !IsRange(trace_, range.row);
  // Perfetto takes ends before begins of one time, so a range without length is one event.
  const bool is_point = !is_mark && range.span.length_ns() == 0;
  if (is_point && event.is_end()) {
    return;
  }
  text.Put(",{\"name\":");
  text_.PutRangeName(text, range.row);
  text.Put(",\"ph\":\"");
  text.Put(is_mark ? 'i' : is_point ? 'X' : event.is_end() ? 'E' : 'B');
  if (range.projected) {
    text.Put("\",\"cat\":\"nvtx-kernel\",\"ts\":");
  } else {
    text.Put("\",\"cat\":\"nvtx\",\"ts\":");
  }
  text.PutMicroseconds((event.is_end() ? range.span.end_ns : range.span.begin_ns) -
                       layout_.origin_ns);
  if (is_point) {
    text.Put(",\"dur\":0.0");
  }
  text.Put(std::string_view(places_[range.track]));
  text_.PutRangeArgs(text, range.row, layout_.tracks[range.track]);
  if (is_mark) {
    text.Put(",\"s\":\"t\"}");
  } else {
    text.Put('}');
  }
  ++out.events;
}

void JsonEvents::Extra(JsonOut& out, const ExtraSlice& slice) const {
  const Track& track = layout_.tracks[slice.track];
  TextWriter& text = out.text;
  text.Put(",{\"name\":");
  text.PutQuoted(layout_.texts[slice.name]);
  text.Put(",\"ph\":\"X\",\"cat\":\"");
  text.Put(ExtraCategory(track.kind));
  text.Put("\",\"ts\":");
  text.PutMicroseconds(slice.start_ns - layout_.origin_ns);
  text.Put(",\"dur\":");
  text.PutMicroseconds(slice.end_ns - slice.start_ns);
  text.Put(std::string_view(places_[slice.track]));
  text_.PutExtraArgs(text, slice);
  text.Put('}');
  ++out.events;
}

void JsonEvents::Counter(JsonOut& out, const CounterSample& sample) const {
  TextWriter& text = out.text;
  text.Put(",{\"name\":");
  text.PutQuoted(layout_.tracks[sample.track].name);
  text.Put(",\"ph\":\"C\",\"cat\":\"counter\",\"ts\":");
  text.PutMicroseconds(sample.time_ns - layout_.origin_ns);
  text.Put(std::string_view(places_[sample.track]));
  text.Put("{\"value\":");
  text.PutInteger(sample.value);
  text.Put("}}");
  ++out.events;
}

}  // namespace nsys::perfetto
