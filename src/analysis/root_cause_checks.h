// SPDX-License-Identifier: MIT
// The single checks behind root_causes.h. Each looks for one pattern and appends what it finds;
// what it claims may overlap other claims, which the caller sorts out.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/overlap.h"
#include "analysis/root_causes.h"
#include "analysis/views.h"

namespace nsys {

// What all checks look at. `span` runs from the first start to the last end of the device's kernels
// inside the window, which `overlap` is about; the sets lie within it. Kernels over the window's
// edges belong to no figure, but while they run nothing stands idle.
struct CauseContext {
  Views& views;
  int64_t device = 0;
  std::optional<Window> window;
  const Overlap& overlap;
  Span span;
  SpanSet compute;                // some compute kernel runs
  SpanSet kernels;                // some kernel runs
  SpanSet exposed_communication;  // communication inside the window runs, and no compute
  SpanSet idle;                   // nothing runs: no kernel, copy, memset or graph
  std::vector<RootCause>& found;

  const Trace& trace() const { return views.trace(); }
  // "12.3 %" of the span.
  std::string ShareOfSpan(int64_t ns) const;
  // `severity`, but info for what takes less than 1 % of the span.
  Severity IfMaterial(Severity severity, int64_t ns) const;
  // "device 0"
  std::string DeviceWords() const;
};

// root_causes_idle.cc: the GPU has nothing to do.
void CheckIdleStretches(const CauseContext& context);
void CheckSmallKernels(const CauseContext& context);
void CheckHostSynchronization(const CauseContext& context);

// root_causes_communication.cc: compute does not hide communication.
void CheckExposedCommunication(const CauseContext& context);
void CheckCommunicators(const CauseContext& context);
void CheckCommunicationBound(const CauseContext& context);

// root_causes_copies.cc: kernels wait for copies and memsets.
void CheckHostToDevice(const CauseContext& context);
void CheckSynchronousCopies(const CauseContext& context);
void CheckPageableCopies(const CauseContext& context);
void CheckSynchronousMemsets(const CauseContext& context);

// root_causes_kernels.cc: kernels and layers that stand out.
void CheckHotspot(const CauseContext& context);
void CheckLayers(const CauseContext& context);

// The longest member of a set that is not empty.
Span Longest(const SpanSet& set);

}  // namespace nsys
