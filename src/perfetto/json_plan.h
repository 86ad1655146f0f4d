// SPDX-License-Identifier: MIT
// A JSON trace cut into blocks of about the same size, which can be made in any order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "perfetto/flows.h"
#include "perfetto/json_ranges.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

enum class JsonSection : uint8_t {
  kMetadata,
  kCalls,     // slices of calls, each with the starts of its arrows
  kWork,      // kernels and copies, each with the ends of its arrows
  kRanges,    // begins and ends of NVTX ranges
  kExtras,    // slices of tables drawn on request
  kCounters,  // samples of such tables
  kEnd,       // what closes the array
};

// A place in a section. Of kCalls: a slice, and how much of it is written: nothing, itself, itself
// and an arrow, …. Of kWork: a WorkPlace. Of the others: a row, and nothing.
struct JsonPlace {
  size_t first = 0;
  size_t second = 0;
  bool operator==(const JsonPlace&) const = default;
};

// What a block holds: from `begin` to before `end`.
struct JsonPart {
  JsonSection section = JsonSection::kMetadata;
  JsonPlace begin;
  JsonPlace end;
};

// The parts in their order, each of about `block_bytes` of text. O(rows).
std::vector<JsonPart> PlanJson(const Trace& trace, const Layout& layout, const FlowIndex& flows,
                               const std::vector<RangeEvent>& ranges, size_t block_bytes);

}  // namespace nsys::perfetto
