// SPDX-License-Identifier: MIT
// The trace in Perfetto's own format (a sequence of TracePacket messages): exact nanoseconds,
// every name once per sequence, tracks with parents and order, arrows bound to their slices.
#pragma once

#include <cstdint>

#include "base/block_sink.h"
#include "base/result.h"
#include "perfetto/layout.h"
#include "perfetto/write_options.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// Writes all packets to `sink` (without Finish) and returns their number. The same slices, arrows
// and tracks as WriteJsonTrace.
Result<int64_t> WriteProtoTrace(const Trace& trace, const Layout& layout,
                                const WriteOptions& options, BlockSink& sink);

}  // namespace nsys::perfetto
