// SPDX-License-Identifier: MIT
// What a capture holds, found by looking at its tables and columns, never by its version.
#pragma once

#include "ingest/table_source.h"
#include "trace/trace.h"

namespace nsys {

// Which tables there are and which one answers for each TableId: the exact name, else the highest
// <name>_V<n>, else the first other name with that prefix whose remainder does not begin with a
// digit (so MEMCPY2, peer copies, never stands for MEMCPY); for kernels alone, last, the first
// table whose name contains KERNEL.
Schema ProbeSchema(const TableSource& source);

}  // namespace nsys
