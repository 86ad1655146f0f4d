// SPDX-License-Identifier: MIT
// The drawn events as a table (Parquet), and the table of kernel dependencies, which is always
// empty and kept for readers that expect it.
#pragma once

#include <cstdint>

#include "base/block_sink.h"
#include "base/result.h"
#include "perfetto/layout.h"
#include "perfetto/write_options.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// Writes the table to `sink` (without Finish) and returns the number of its rows.
Result<int64_t> WriteEventTable(const Trace& trace, const Layout& layout,
                                const WriteOptions& options, BlockSink& sink);
Status WriteDependencyTable(BlockSink& sink);

}  // namespace nsys::perfetto
