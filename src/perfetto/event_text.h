// SPDX-License-Identifier: MIT
// The JSON text of what a slice is and says: its name, its id, its args. Written once per kind of
// event, used by the JSON trace and by the event table. Every function appends to `out` and
// allocates nothing of its own.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// The name of a drawn row, as raw text.
std::string_view KernelName(const Trace& trace, const Options& options, uint32_t kernel);
std::string_view CallName(const Trace& trace, uint32_t call);
std::string_view RangeName(const Trace& trace, uint32_t range);  // "NVTX" without a text

// "H2D", "Unified D2H", "P2P", … and the same in lower case with _ for blanks.
std::string_view CopyDirection(int32_t kind);
std::string_view CopyDirectionKey(int32_t kind);

class EventText {
 public:
  EventText(const Trace& trace, const Layout& layout);

  // The text `id` as a quoted JSON string; made once per text.
  void AppendQuoted(std::string& out, StringId id) const;

  // Event ids, without quotes: "<report>:cuda:<pid>:…", escaped for JSON.
  void AppendKernelId(std::string& out, uint32_t kernel) const;
  void AppendCopyId(std::string& out, uint32_t copy) const;
  void AppendCallId(std::string& out, uint32_t call) const;

  // The args object of a slice, keys in ascending byte order, braces included.
  void AppendKernelArgs(std::string& out, uint32_t kernel) const;
  void AppendCoreArgs(std::string& out, uint32_t kernel) const;
  void AppendCallArgs(std::string& out, uint32_t call, int64_t device) const;
  void AppendCopyArgs(std::string& out, uint32_t copy) const;
  void AppendUsageArgs(std::string& out, const CopyUsage& usage) const;
  void AppendRangeArgs(std::string& out, uint32_t range, const Track& track) const;

 private:
  const Trace& trace_;
  const Layout& layout_;
  std::string report_;  // escaped
};

// (ns)/1000 as a decimal number with one to three places: "0.0", "1721.505", "-2.5".
void AppendMicroseconds(std::string& out, int64_t ns);
void AppendInteger(std::string& out, int64_t value);

}  // namespace nsys::perfetto
