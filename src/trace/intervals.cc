// SPDX-License-Identifier: MIT
#include "trace/intervals.h"

#include <algorithm>

#include "base/sort_runs.h"

namespace nsys {

SpanSet Union(std::vector<Span> spans) {
  const auto earlier = [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; };
  SortByRuns(spans, earlier);
  size_t kept = 0;
  for (const Span& span : spans) {
    if (span.end_ns <= span.begin_ns) {
      continue;
    }
    if (kept > 0 && span.begin_ns <= spans[kept - 1].end_ns) {
      spans[kept - 1].end_ns = std::max(spans[kept - 1].end_ns, span.end_ns);
    } else {
      spans[kept++] = span;
    }
  }
  spans.resize(kept);
  return spans;
}

SpanSet Intersect(const SpanSet& a, const SpanSet& b) {
  SpanSet both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    const int64_t begin = std::max(a[i].begin_ns, b[j].begin_ns);
    const int64_t end = std::min(a[i].end_ns, b[j].end_ns);
    if (begin < end) {
      both.push_back({begin, end});
    }
    a[i].end_ns < b[j].end_ns ? ++i : ++j;
  }
  return both;
}

SpanSet Subtract(const SpanSet& a, const SpanSet& b) {
  SpanSet rest;
  size_t j = 0;
  for (const Span& span : a) {
    int64_t begin = span.begin_ns;
    while (j < b.size() && b[j].end_ns <= begin) {
      ++j;
    }
    for (size_t k = j; k < b.size() && b[k].begin_ns < span.end_ns; ++k) {
      if (b[k].begin_ns > begin) {
        rest.push_back({begin, b[k].begin_ns});
      }
      begin = std::max(begin, b[k].end_ns);
    }
    if (begin < span.end_ns) {
      rest.push_back({begin, span.end_ns});
    }
  }
  return rest;
}

SpanSet Gaps(const SpanSet& set) {
  SpanSet gaps;
  for (size_t i = 1; i < set.size(); ++i) {
    gaps.push_back({set[i - 1].end_ns, set[i].begin_ns});
  }
  return gaps;
}

int64_t Length(const SpanSet& set) {
  int64_t total = 0;
  for (const Span& span : set) {
    total += span.length_ns();
  }
  return total;
}

int64_t ClippedLength(Span span, int64_t begin_ns, int64_t end_ns) {
  return std::max<int64_t>(0, std::min(span.end_ns, end_ns) - std::max(span.begin_ns, begin_ns));
}

}  // namespace nsys
