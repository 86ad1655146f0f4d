// SPDX-License-Identifier: MIT
// The JSON text of what a slice is and says: its name, its id, its args. Written once per kind of
// event, used by the JSON trace and by the event table.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_writer.h"
#include "perfetto/copy_kinds.h"
#include "perfetto/layout.h"
#include "perfetto/nvtx_names.h"
#include "perfetto/ranges.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// The text that names a kernel, as the user chose.
StringId KernelNameId(const Trace& trace, const Options& options, uint32_t kernel);

// The name of a drawn row, as raw text.
std::string_view KernelName(const Trace& trace, const Options& options, uint32_t kernel);
std::string_view CallName(const Trace& trace, uint32_t call);
std::string_view RangeName(const Trace& trace, uint32_t range);  // "NVTX" without a text

// GB/s, 0 without a duration.
double CopyBandwidth(const Trace& trace, uint32_t copy);

// The demangled name of a kernel, where it differs from the name shown; else empty.
std::string_view OtherKernelName(const Trace& trace, const Options& options, uint32_t kernel);

// How much later the call starts than the work that it is linked with; nothing when it does not.
std::optional<int64_t> LaunchSkew(const Trace& trace, uint32_t call, int64_t start_ns);

// The end in the file, of a row that ends before it starts; nothing for all others.
inline std::optional<int64_t> RecordedEnd(const Events& events, uint32_t row) {
  return events.recorded_end_ns.empty() || events.recorded_end_ns[row] >= events.start_ns[row]
             ? std::nullopt
             : std::optional(events.recorded_end_ns[row]);
}

// How the name of the report stands in an event id: as part of a JSON string, or as it is.
enum class IdForm : uint8_t { kJson, kPlain };

// Any number of threads may use one EventText. Rows must be drawn ones. Every function is there
// twice: for a TextWriter, which is the fast way, and for a string.
class EventText {
 public:
  EventText(const Trace& trace, const Layout& layout);

  const NvtxNames& nvtx_names() const { return nvtx_names_; }

  // The text `id`, which is not kNone, as a quoted JSON string.
  void PutQuoted(TextWriter& out, StringId id) const;

  // Event ids, without quotes: "<report>:cuda:<pid>:…".
  void PutKernelId(TextWriter& out, uint32_t kernel, IdForm form = IdForm::kJson) const;
  void PutCopyId(TextWriter& out, uint32_t copy, IdForm form = IdForm::kJson) const;
  void PutCallId(TextWriter& out, uint32_t call, IdForm form = IdForm::kJson) const;

  // The args object of a slice, keys in ascending byte order, braces included.
  void PutKernelArgs(TextWriter& out, uint32_t kernel) const;
  void PutCoreArgs(TextWriter& out, uint32_t kernel) const;
  void PutCallArgs(TextWriter& out, uint32_t call, int64_t device) const;
  void PutCopyArgs(TextWriter& out, uint32_t copy) const;
  void PutUsageArgs(TextWriter& out, const CopyUsage& usage) const;
  void PutRangeArgs(TextWriter& out, uint32_t range, const Track& track) const;  // of the layout
  void PutExtraArgs(TextWriter& out, const ExtraSlice& slice) const;

  // The quoted name of a drawn row.
  void PutKernelName(TextWriter& out, uint32_t kernel) const;
  void PutCallName(TextWriter& out, uint32_t call) const;
  void PutRangeName(TextWriter& out, uint32_t range) const;

  // What an NVTX row carries besides its text; null for most.
  const NvtxAttributes* Attributes(uint32_t range) const;

  // "[0,1]": the devices that a copy shows on.
  void PutDevices(TextWriter& out, uint32_t copy) const;

 private:
  const Track& StreamTrack(uint32_t kernel) const {
    return layout_.tracks[layout_.kernel_stream_track[kernel]];
  }
  const Track& CopyTrack(uint32_t copy) const {
    return layout_.tracks[layout_.copy_stream_track[copy]];
  }
  void PutReport(TextWriter& out, IdForm form) const {
    out.Put(std::string_view(form == IdForm::kJson ? escaped_report_ : layout_.options.report));
  }
  void PutLaunch(TextWriter& out, uint32_t call, int64_t start_ns) const;
  void PutRegions(TextWriter& out, uint32_t set) const;
  void PutCategory(TextWriter& out, uint32_t range) const;
  void PutDomain(TextWriter& out, uint32_t range) const;
  void PutPayload(TextWriter& out, uint32_t range) const;
  void FillTracks();
  void FillThreads();
  std::string_view CallIdKind(uint32_t call) const;
  // Whether there is nothing to say of a range but where it is drawn.
  bool IsPlain(uint32_t range) const;

  const Trace& trace_;
  const Layout& layout_;
  NvtxNames nvtx_names_;
  std::string escaped_report_;
  std::vector<uint8_t> needs_escape_;    // by StringId
  std::vector<uint8_t> launched_;        // by call: whether it launched a kernel or a copy
  std::vector<std::string> thread_ids_;  // by thread, and one for none: the middle of a call's id
  std::vector<std::string> stream_ids_;  // by track of a stream: the middle of a kernel's id
  std::vector<std::string> plain_args_;  // by track of a thread: args of its plain ranges
};

}  // namespace nsys::perfetto
