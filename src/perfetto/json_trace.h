// SPDX-License-Identifier: MIT
// The trace as Chrome Trace Event JSON: one array on one line. Times are microseconds since
// Layout::origin_ns as exact decimals, so that no nanosecond is lost.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "base/block_sink.h"
#include "base/result.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

struct WriteOptions {
  int threads = 1;                               // the bytes do not depend on it
  size_t block_bytes = size_t{1} << 20;          // about what a thread makes at a time
  std::function<void(int64_t events)> progress;  // may be empty; called in the calling thread
};

// Writes the whole array to `sink` (without Finish) and returns the number of its elements.
Result<int64_t> WriteJsonTrace(const Trace& trace, const Layout& layout,
                               const WriteOptions& options, BlockSink& sink);

// Reads the file back: gzip intact (when `gzip`), text a JSON array, and as many elements as
// `events`. Constant memory.
Status CheckJsonTrace(const std::string& path, bool gzip, int64_t events);

}  // namespace nsys::perfetto
