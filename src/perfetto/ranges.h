// SPDX-License-Identifier: MIT
// NVTX rows as they are drawn: what each is, what time it covers, and in what order.
#pragma once

#include <cstdint>
#include <span>
#include <tuple>
#include <vector>

#include "perfetto/layout.h"
#include "trace/nvtx_stacks.h"
#include "trace/trace.h"

namespace nsys::perfetto {

enum class RangeKind : uint8_t {
  kNothing,      // a name, a domain, half of a range: nothing to draw
  kPushPop,      // with an end
  kOpenPushPop,  // still open at the end of the capture
  kTextPushPop,  // read from a text log
  kStartEnd,
  kOpenStartEnd,
  kMark,
};

RangeKind KindOfRange(const Trace& trace, uint32_t row);

inline bool IsOpen(RangeKind kind) {
  return kind == RangeKind::kOpenPushPop || kind == RangeKind::kOpenStartEnd;
}
inline bool IsStartEnd(RangeKind kind) {
  return kind == RangeKind::kStartEnd || kind == RangeKind::kOpenStartEnd;
}
// Whether the row covers time, and so the launches in it.
inline bool Covers(RangeKind kind) {
  return kind != RangeKind::kNothing && kind != RangeKind::kMark;
}

// Whether an NVTX row that is drawn is a range; else it is a mark.
bool IsRange(const Trace& trace, uint32_t row);
// Whether it is a range without an end in the file.
bool IsOpenRange(const Trace& trace, uint32_t row);

// The order in which spans nest: outer before inner, equal ones by their numbers.
inline bool NestsBefore(Span a, uint32_t number_of_a, Span b, uint32_t number_of_b) {
  return std::tie(a.begin_ns, b.end_ns, number_of_a) < std::tie(b.begin_ns, a.end_ns, number_of_b);
}

// The row of `repaired`, which is by row, or nothing.
const Layout::RepairedRange* FindRepaired(std::span<const Layout::RepairedRange> repaired,
                                          uint32_t row);

class Ranges {
 public:
  Ranges(const Trace& trace, std::span<const Layout::RepairedRange> repaired)
      : trace_(trace), repaired_(repaired) {}

  RangeKind Kind(uint32_t row) const { return KindOfRange(trace_, row); }
  // The time that the row covers, without end for one that is open.
  Span Covered(uint32_t row) const;
  // All rows in order of their starts, rows that start together in that of the table; empty when
  // that is the order of the table itself.
  std::vector<uint32_t> StartOrder() const;
  // All rows by (start, end descending, row).
  std::vector<uint32_t> NestingOrder() const;

 private:
  const Trace& trace_;
  std::span<const Layout::RepairedRange> repaired_;
};

}  // namespace nsys::perfetto
