// SPDX-License-Identifier: MIT
#include "perfetto/event_text.h"

#include "perfetto/calls.h"

namespace nsys::perfetto {
namespace {

// `row` of a column that may not have been loaded.
StringId At(const std::vector<StringId>& column, uint32_t row) {
  return column.empty() ? StringId::kNone : column[row];
}

}  // namespace

StringId KernelNameId(const Trace& trace, const Options& options, uint32_t kernel) {
  const KernelTable& kernels = trace.kernels;
  StringId id = StringId::kNone;
  switch (options.kernel_naming) {
    case KernelNaming::kShort:
      id = At(kernels.short_name, kernel);
      break;
    case KernelNaming::kDemangled:
      id = At(kernels.demangled_name, kernel);
      break;
    case KernelNaming::kMangled:
      id = At(kernels.mangled_name, kernel);
      break;
  }
  return id != StringId::kNone ? id : At(kernels.name, kernel);
}

std::string_view KernelName(const Trace& trace, const Options& options, uint32_t kernel) {
  return trace.Text(KernelNameId(trace, options, kernel));
}

std::string_view OtherKernelName(const Trace& trace, const Options& options, uint32_t kernel) {
  const StringId id = At(trace.kernels.demangled_name, kernel);
  if (id == StringId::kNone) {
    return {};
  }
  return id == KernelNameId(trace, options, kernel) ? std::string_view() : trace.Text(id);
}

std::string_view CallName(const Trace& trace, uint32_t call) {
  const StringId id = At(trace.calls.name, call);
  return id == StringId::kNone ? "cuda_api" : trace.Text(id);
}

std::string_view RangeName(const Trace& trace, uint32_t range) {
  const StringId id = At(trace.nvtx.text, range);
  return id == StringId::kNone ? "NVTX" : trace.Text(id);
}

double CopyBandwidth(const Trace& trace, uint32_t copy) {
  const int64_t duration_ns = trace.copies.duration_ns(copy);
  if (duration_ns <= 0 || trace.copies.bytes.empty()) {
    return 0;
  }
  return static_cast<double>(trace.copies.bytes[copy]) / static_cast<double>(duration_ns);
}

std::optional<int64_t> LaunchSkew(const Trace& trace, uint32_t call, int64_t start_ns) {
  if (call == kNoCall || Layout::HasArrow(trace, call, start_ns)) {
    return std::nullopt;
  }
  return trace.calls.start_ns[call] - start_ns;
}

EventText::EventText(const Trace& trace, const Layout& layout)
    : trace_(trace), layout_(layout), nvtx_names_(trace) {
  TextWriter(escaped_report_).PutEscaped(layout.options.report);
  needs_escape_.reserve(trace.strings.size());
  for (uint32_t id = 0; id < trace.strings.size(); ++id) {
    needs_escape_.push_back(NeedsEscape(trace.strings.Get(StringId{id})) ? 1 : 0);
  }
  launched_.resize(trace.calls.size());
  for (const auto* call_of : {&layout.kernel_call, &layout.copy_call}) {
    for (const uint32_t call : *call_of) {
      if (call != kNoCall) {
        launched_[call] = 1;
      }
    }
  }
  FillThreads();
  FillTracks();
}

void EventText::FillThreads() {
  const auto fill = [&](const Thread& thread) {
    TextWriter out(thread_ids_.emplace_back());
    out.PutInteger(thread.pid());
    out.Put(':');
    out.PutInteger(thread.tid());
    out.Put(':');
  };
  for (const Thread& thread : trace_.threads) {
    fill(thread);
  }
  fill(Thread());
}

void EventText::FillTracks() {
  stream_ids_.resize(layout_.tracks.size());
  plain_args_.resize(layout_.tracks.size());
  for (size_t i = 0; i < layout_.tracks.size(); ++i) {
    const Track& track = layout_.tracks[i];
    const Group& group = layout_.groups[track.group];
    TextWriter args(plain_args_[i]);
    args.Put("{\"deviceId\":");
    args.PutInteger(group.device);
    args.Put(",\"sourcePid\":");
    args.PutInteger(group.pid);
    args.Put(",\"sourceTid\":");
    args.PutInteger(track.source_tid);
    args.Put(",\"timestampRepaired\":false}");
    if (track.kind != TrackKind::kStream) {
      continue;
    }
    TextWriter out(stream_ids_[i]);
    out.Put(":cuda:");
    for (const int64_t part : {group.pid, group.device, track.context, track.stream}) {
      out.PutInteger(part);
      out.Put(':');
    }
  }
}

void EventText::PutQuoted(TextWriter& out, StringId id) const {
  const std::string_view text = trace_.strings.Get(id);
  out.Put('"');
  if (needs_escape_[Index(id)] == 0) {
    out.Put(text);
  } else {
    out.PutEscaped(text);
  }
  out.Put('"');
}

void EventText::PutKernelId(TextWriter& out, uint32_t kernel, IdForm form) const {
  PutReport(out, form);
  out.Put(std::string_view(stream_ids_[layout_.kernel_stream_track[kernel]]));
  out.PutUnsigned(layout_.kernel_sequence[kernel]);
}

void EventText::PutCopyId(TextWriter& out, uint32_t copy, IdForm form) const {
  const Track& track = CopyTrack(copy);
  PutReport(out, form);
  out.Put(":cuda_memcpy:");
  out.PutInteger(trace_.DeviceOf(trace_.copies, copy).value_or(-1));
  out.Put(':');
  out.PutInteger(track.context);
  out.Put(':');
  out.PutInteger(track.stream);
  out.Put(':');
  out.PutUnsigned(copy);
}

std::string_view EventText::CallIdKind(uint32_t call) const {
  if (launched_[call] != 0) {
    return ":cuda_api:";
  }
  const bool is_gpu_trace = trace_.kernels.size() != 0 || trace_.copies.size() != 0;
  if (is_gpu_trace && layout_.options.api_scope != ApiScope::kAll) {
    return ":cuda_api_sync:";
  }
  const std::string_view name = CallName(trace_, call);
  return is_gpu_trace && KindOfCall(name) == CallKind::kSync ? ":cuda_api_sync:"
                                                             : ":cuda_api_unlinked:";
}

void EventText::PutCallId(TextWriter& out, uint32_t call, IdForm form) const {
  const ThreadId thread = trace_.calls.thread[call];
  PutReport(out, form);
  out.Put(CallIdKind(call));
  out.Put(std::string_view(thread == ThreadId::kNone ? thread_ids_.back()
                                                     : thread_ids_[Index(thread)]));
  out.PutInteger(trace_.calls.correlation[call]);
  out.Put(':');
  out.PutUnsigned(call);
}

void EventText::PutKernelName(TextWriter& out, uint32_t kernel) const {
  const StringId id = KernelNameId(trace_, layout_.options, kernel);
  if (id == StringId::kNone) {
    out.Put("\"\"");
  } else {
    PutQuoted(out, id);
  }
}

void EventText::PutCallName(TextWriter& out, uint32_t call) const {
  const StringId id = At(trace_.calls.name, call);
  if (id == StringId::kNone) {
    out.PutQuoted(CallName(trace_, call));
  } else {
    PutQuoted(out, id);
  }
}

void EventText::PutRangeName(TextWriter& out, uint32_t range) const {
  const StringId id = At(trace_.nvtx.text, range);
  if (id == StringId::kNone) {
    out.Put("\"NVTX\"");
  } else {
    PutQuoted(out, id);
  }
}

}  // namespace nsys::perfetto
