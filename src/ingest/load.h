// SPDX-License-Identifier: MIT
// From tables to a Trace: resolves which table answers for which TableId, reads the wanted columns,
// follows string references, interns lanes and threads, and sorts each table by time.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "base/result.h"
#include "ingest/table_source.h"
#include "trace/intervals.h"
#include "trace/tables.h"
#include "trace/trace.h"

namespace nsys {

// Called now and then while loading, from any thread, with the number of rows read so far.
using ProgressSink = std::function<void(int64_t rows)>;

struct LoadOptions {
  int threads = 1;        // tables read at the same time; the result does not depend on it
  ProgressSink progress;  // may be empty
  // To draw every row rather than to compute with it: a row that ends before it starts is kept with
  // no length (Trace::rows_clamped counts them), an API call without a text is named by its number,
  // cuda_api_<nameId>, rows that start and end at the same times are in the order of their
  // correlation ids, and texts that are not UTF-8 are counted.
  bool for_drawing = false;
  // A table that cannot be read counts as absent, with a warning that names file and reason.
  bool keep_going = false;
  // Samples and calls of the operating system that do not touch it are passed over: these tables
  // are by far the largest ones, and nothing else rests on their rows.
  std::optional<Span> window = {};
};

// Loads the columns of `reads`. Columns that the file lacks stay at their documented default; rows
// without a start, and rows that end before they start, are left out and counted in `warnings`.
Result<Trace> LoadTrace(const TableSource& source, const Reads& reads, const LoadOptions& options);

}  // namespace nsys
