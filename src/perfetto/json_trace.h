// SPDX-License-Identifier: MIT
// The trace as Chrome Trace Event JSON: one array on one line. Times are microseconds since
// Layout::origin_ns as exact decimals, so that no nanosecond is lost.
#pragma once

#include <cstdint>
#include <string>

#include "base/block_sink.h"
#include "base/result.h"
#include "perfetto/layout.h"
#include "perfetto/write_options.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// Writes the whole array to `sink` (without Finish) and returns the number of its elements.
Result<int64_t> WriteJsonTrace(const Trace& trace, const Layout& layout,
                               const WriteOptions& options, BlockSink& sink);

// Reads the file back: gzip intact (when `gzip`), text a JSON array, and as many elements as
// `events`. Constant memory.
Status CheckJsonTrace(const std::string& path, bool gzip, int64_t events);

}  // namespace nsys::perfetto
