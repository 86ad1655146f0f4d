// SPDX-License-Identifier: MIT
// Known causes of lost GPU time, looked for on one device: each with its evidence, its size, its
// place, and the time that would come back at most if it went away. No time is claimed by two
// causes, so the claims of all causes together never exceed the span that was looked at.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/views.h"
#include "analysis/window.h"
#include "trace/intervals.h"
#include "trace/tables.h"

namespace nsys {

enum class Severity { kCritical, kWarning, kInfo };
std::string_view SeverityName(Severity severity);  // "critical", "warning", "info"

struct RootCause {
  std::string_view pattern;
  Severity severity = Severity::kWarning;
  std::string evidence;        // what was found, with its figures
  std::string recommendation;  // what to try
  int64_t magnitude_ns = 0;    // how much time the pattern is about
  std::optional<Span> place;   // where it is largest
  std::string where;           // device, stream, thread or range, in words
  // Stretches of device time that the cause may account for; what larger causes claim is taken out.
  SpanSet claim;
  std::string_view counted_in;  // the pattern that claimed most of what was taken out; or empty
  int64_t recoverable_ns() const { return Length(claim); }
};

struct RootCauses {
  int64_t device = 0;            // the one looked at
  Span span;                     // first start to last end of its kernels inside the window
  std::vector<RootCause> found;  // most recoverable time first, then by severity, then as checked
  // What no cause claims: time without any work, and communication without compute.
  int64_t unclaimed_idle_ns = 0;
  int64_t unclaimed_communication_ns = 0;
  // Time without any work inside the window, before and after `span`: part of no figure above.
  int64_t edge_idle_ns = 0;
};

// What FindRootCauses reads.
Reads RootCauseReads();

// The causes on `device`, or, when no kernel of it lies inside the window, on the device with most
// kernels there. Nothing when no kernel of any device lies inside it. Kept in `views`.
const std::optional<RootCauses>& FindRootCauses(Views& views, int64_t device,
                                                const std::optional<Window>& window);

}  // namespace nsys
