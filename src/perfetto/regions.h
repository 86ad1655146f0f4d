// SPDX-License-Identifier: MIT
// For each kernel, the names of the NVTX ranges around its launch: one sweep over ranges and calls
// in order of time. The same rule as in projection.h, seen from the kernel.
#pragma once

#include "perfetto/layout.h"
#include "perfetto/links.h"
#include "perfetto/processes.h"
#include "perfetto/ranges.h"
#include "trace/call_index.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// Fills layout.kernel_regions, region_sets and region_names. Names come once each, in order of the
// rows of their ranges; at most Options::max_regions of them. Where several calls could have
// launched a kernel, its list is that of all of them; `cut` is then at least what it says.
void FindRegions(const Trace& trace, const Processes& processes, const CallIndex& index,
                 const Links& kernels, const Ranges& ranges, Layout& layout);

}  // namespace nsys::perfetto
