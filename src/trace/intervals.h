// SPDX-License-Identifier: MIT
// Interval algebra on half-open spans [begin, end) in exact integer nanoseconds. A `SpanSet` is
// sorted, disjoint and without touching or empty members; Union makes one from anything, and the
// other operations take and return SpanSets in one linear sweep.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

namespace nsys {

struct Span {
  int64_t begin_ns = 0;
  int64_t end_ns = 0;
  int64_t length_ns() const { return end_ns - begin_ns; }
  bool operator==(const Span&) const = default;
};

// The smallest span around all spans added so far; nothing before the first.
class Hull {
 public:
  void Add(Span span) {
    if (span_) {
      span_->begin_ns = std::min(span_->begin_ns, span.begin_ns);
      span_->end_ns = std::max(span_->end_ns, span.end_ns);
    } else {
      span_ = span;
    }
  }
  const std::optional<Span>& span() const { return span_; }

 private:
  std::optional<Span> span_;
};

using SpanSet = std::vector<Span>;

// The points covered by any of `spans` (in any order; empty ones add nothing). O(n log n), O(n) if
// sorted.
SpanSet Union(std::vector<Span> spans);

// The points covered by both, or by the first and not the second. O(n + m).
SpanSet Intersect(const SpanSet& a, const SpanSet& b);
SpanSet Subtract(const SpanSet& a, const SpanSet& b);

// The stretches between the members of `set`. What lies before the first and after the last is no
// gap.
SpanSet Gaps(const SpanSet& set);

// Total length of all members.
int64_t Length(const SpanSet& set);

// The length of the part of `span` that lies within [begin_ns, end_ns), at least 0.
int64_t ClippedLength(Span span, int64_t begin_ns, int64_t end_ns);

}  // namespace nsys
