// SPDX-License-Identifier: MIT
#include "perfetto/json_ranges.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <tuple>

#include "base/grouping.h"
#include "perfetto/ranges.h"

namespace nsys::perfetto {
namespace {

class RangeOrder {
 public:
  RangeOrder(const Trace& trace, const Layout& layout) : trace_(trace), layout_(layout) {}

  std::vector<RangeEvent> All() {
    Grouping slices = SlicesByTrack();
    events_.reserve(2 * slice_count());
    for (size_t track = 0; track < slices.groups(); ++track) {
      AddTrack(slices.Of(track));
    }
    return std::move(events_);
  }

 private:
  struct Open {
    int64_t end_ns = 0;
    uint32_t slice = 0;
  };

  size_t slice_count() const { return layout_.range_slices.size() + layout_.projections.size(); }
  uint32_t TrackOf(size_t slice) const {
    const size_t ranges = layout_.range_slices.size();
    return slice < ranges ? layout_.range_slices[slice].track
                          : layout_.projections[slice - ranges].track;
  }
  Span SpanOf(uint32_t slice) const {
    const size_t ranges = layout_.range_slices.size();
    if (slice < ranges) {
      return layout_.RangeSpan(trace_, layout_.range_slices[slice].row);
    }
    const Projected& projected = layout_.projections[slice - ranges];
    return {projected.start_ns, projected.end_ns};
  }
  bool IsMark(uint32_t slice) const {
    return slice < layout_.range_slices.size() && !IsRange(trace_, layout_.range_slices[slice].row);
  }

  // Slices by the place of their track among all in the order of (group, tid).
  Grouping SlicesByTrack() const {
    std::vector<uint32_t> tracks(layout_.tracks.size());
    std::iota(tracks.begin(), tracks.end(), 0U);
    std::sort(tracks.begin(), tracks.end(), [&](uint32_t a, uint32_t b) {
      return std::tie(layout_.tracks[a].group, layout_.tracks[a].tid) <
             std::tie(layout_.tracks[b].group, layout_.tracks[b].tid);
    });
    std::vector<uint32_t> place(tracks.size());
    for (uint32_t i = 0; i < tracks.size(); ++i) {
      place[tracks[i]] = i;
    }
    return {slice_count(), tracks.size(), [&](uint32_t slice) { return place[TrackOf(slice)]; }};
  }

  // Rows come by (start, end), so mostly only slices that start together have to change places.
  void SortBegins(std::span<uint32_t> slices) const {
    const auto starts_earlier = [&](uint32_t a, uint32_t b) {
      return SpanOf(a).begin_ns < SpanOf(b).begin_ns;
    };
    const auto less = [&](uint32_t a, uint32_t b) {
      return NestsBefore(SpanOf(a), a, SpanOf(b), b);
    };
    if (!std::is_sorted(slices.begin(), slices.end(), starts_earlier)) {
      std::sort(slices.begin(), slices.end(), less);
      return;
    }
    for (size_t i = 0; i < slices.size();) {
      size_t end = i + 1;
      while (end < slices.size() && !starts_earlier(slices[i], slices[end])) {
        ++end;
      }
      if (end - i > 1) {
        std::sort(&slices[i], &slices[i] + (end - i), less);
      }
      i = end;
    }
  }

  void AddTrack(std::span<uint32_t> slices) {
    SortBegins(slices);
    for (const uint32_t slice : slices) {
      const Span span = SpanOf(slice);
      EndUntil(span.begin_ns);
      events_.push_back({2 * slice});
      if (IsMark(slice)) {
        continue;
      }
      if (span.end_ns <= span.begin_ns) {
        events_.push_back({2 * slice + 1});
      } else {
        Push({span.end_ns, slice});
      }
    }
    EndUntil(INT64_MAX);
  }

  void EndUntil(int64_t time_ns) {
    while (!open_.empty() && open_.back().end_ns <= time_ns) {
      events_.push_back({2 * open_.back().slice + 1});
      open_.pop_back();
    }
  }

  // Keeps the earliest end on top, of equal ones the latest begin. Ranges of a track nest, so that
  // nothing has to move; were they to cross, the ends would still come in order of time.
  void Push(Open range) {
    open_.push_back(range);
    for (size_t i = open_.size() - 1; i > 0 && open_[i - 1].end_ns < open_[i].end_ns; --i) {
      std::swap(open_[i - 1], open_[i]);
    }
  }

  const Trace& trace_;
  const Layout& layout_;
  std::vector<Open> open_;  // of the track at hand
  std::vector<RangeEvent> events_;
};

}  // namespace

std::vector<RangeEvent> OrderRangeEvents(const Trace& trace, const Layout& layout) {
  return RangeOrder(trace, layout).All();
}

}  // namespace nsys::perfetto
