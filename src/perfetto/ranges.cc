// SPDX-License-Identifier: MIT
#include "perfetto/ranges.h"

#include <algorithm>
#include <numeric>

namespace nsys::perfetto {

RangeKind KindOfRange(const Trace& trace, uint32_t row) {
  const bool open = !trace.nvtx.open.empty() && trace.nvtx.open[row] != 0;
  switch (trace.nvtx.event_type[row]) {
    case kNvtxPushPop:
      return open ? RangeKind::kOpenPushPop : RangeKind::kPushPop;
    case kNvtxStartEnd:
    case 71:  // the same of a text log
      return open ? RangeKind::kOpenStartEnd : RangeKind::kStartEnd;
    case 70:
      return open ? RangeKind::kOpenPushPop : RangeKind::kTextPushPop;
    case 66:  // a push and a start of a text log: ranges only where they have an end
      return open ? RangeKind::kNothing : RangeKind::kTextPushPop;
    case 68:
      return open ? RangeKind::kNothing : RangeKind::kStartEnd;
    case 34:
    case 65:
      return RangeKind::kMark;
    default:
      return RangeKind::kNothing;
  }
}

bool IsRange(const Trace& trace, uint32_t row) {
  return trace.nvtx.event_type.empty() || Covers(KindOfRange(trace, row));
}

bool IsOpenRange(const Trace& trace, uint32_t row) {
  return !trace.nvtx.event_type.empty() && IsOpen(KindOfRange(trace, row));
}

const Layout::RepairedRange* FindRepaired(std::span<const Layout::RepairedRange> repaired,
                                          uint32_t row) {
  const auto at = std::lower_bound(
      repaired.begin(), repaired.end(), row,
      [](const Layout::RepairedRange& range, uint32_t key) { return range.row < key; });
  return at != repaired.end() && at->row == row ? &*at : nullptr;
}

Span Ranges::Covered(uint32_t row) const {
  if (const auto* range = FindRepaired(repaired_, row)) {
    return {range->start_ns, range->end_ns};
  }
  Span span = trace_.nvtx.span(row);
  if (!trace_.nvtx.open.empty() && trace_.nvtx.open[row] != 0 && IsOpen(Kind(row))) {
    span.end_ns = INT64_MAX;
  }
  return span;
}

std::vector<uint32_t> Ranges::StartOrder() const {
  std::vector<uint32_t> order;
  if (repaired_.empty()) {
    return order;
  }
  order.resize(trace_.nvtx.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    return Covered(a).begin_ns < Covered(b).begin_ns;
  });
  return order;
}

std::vector<uint32_t> Ranges::NestingOrder() const {
  std::vector<uint32_t> order = StartOrder();
  if (order.empty()) {
    order.resize(trace_.nvtx.size());
    std::iota(order.begin(), order.end(), 0U);
  }
  // Only rows that start together can stand wrongly.
  const auto start = [&](size_t place) { return Covered(order[place]).begin_ns; };
  for (size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    const int64_t time = start(begin);
    end = begin + 1;
    while (end < order.size() && start(end) == time) {
      ++end;
    }
    if (end - begin > 1) {
      std::stable_sort(
          order.begin() + static_cast<std::ptrdiff_t>(begin),
          order.begin() + static_cast<std::ptrdiff_t>(end),
          [&](uint32_t a, uint32_t b) { return Covered(a).end_ns > Covered(b).end_ns; });
    }
  }
  return order;
}

}  // namespace nsys::perfetto
