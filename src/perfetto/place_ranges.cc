// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>
#include <vector>

#include "base/grouping.h"
#include "perfetto/placement.h"
#include "perfetto/projection.h"

namespace nsys::perfetto {
namespace {

class RangePlacer {
 public:
  RangePlacer(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout)
      : parts_(parts), trace_(parts.trace), plan_(plan), drawn_(drawn), layout_(layout) {}

  void Run() {
    ProjectAndShow();
    layout_.last_ns = drawn_.span() ? drawn_.span()->end_ns : 0;
    PlaceOnThreads();
    PlaceProjections();
  }

 private:
  void ProjectAndShow();
  void Show(uint32_t row, ProcessId process, size_t first_projection);
  void KeepInside(RangeKind kind, size_t first_projection);
  void Count(RangeKind kind);
  void PlaceOnThreads();
  void PlaceProjections();

  ThreadId ThreadOf(uint32_t row) const {
    return trace_.nvtx_lanes[Index(trace_.nvtx.lane[row])].thread;
  }
  int64_t TidOf(uint32_t row) const {
    const ThreadId thread = ThreadOf(row);
    return thread == ThreadId::kNone ? 0 : trace_.threads[Index(thread)].tid();
  }

  const Parts& parts_;
  const Trace& trace_;
  TrackPlan& plan_;
  Hull& drawn_;
  Layout& layout_;
  std::vector<uint32_t> slices_begin_;  // by row, one more than rows: into layout.range_slices
};

// Which groups show each row, and where its kernels are. Slices and projections have their group
// in place of the track.
void RangePlacer::ProjectAndShow() {
  Projection projection(trace_, parts_.processes, parts_.index, parts_.links.kernels, parts_.groups,
                        parts_.options.nvtx_scope);
  slices_begin_.reserve(trace_.nvtx.size() + 1);
  for (uint32_t row = 0; row < trace_.nvtx.size(); ++row) {
    slices_begin_.push_back(static_cast<uint32_t>(layout_.range_slices.size()));
    const RangeKind kind = parts_.ranges.Kind(row);
    if (kind == RangeKind::kNothing) {
      continue;
    }
    const Span span = parts_.ranges.Covered(row);
    const size_t first_projection = layout_.projections.size();
    if (Covers(kind)) {
      projection.Append(row, span, layout_.projections);
    }
    if (IsInTrim(parts_.options, span)) {
      Show(row, parts_.processes.Known(parts_.processes.OfThread(ThreadOf(row))), first_projection);
      Count(kind);
      drawn_.Add({span.begin_ns, IsOpen(kind) ? span.begin_ns : span.end_ns});
    }
    KeepInside(kind, first_projection);
  }
  slices_begin_.push_back(static_cast<uint32_t>(layout_.range_slices.size()));
}

// A row stands under the devices that it is projected to, else under all of its process.
void RangePlacer::Show(uint32_t row, ProcessId process, size_t first_projection) {
  if (!parts_.options.host_tracks && first_projection < layout_.projections.size()) {
    for (size_t i = first_projection; i < layout_.projections.size(); ++i) {
      layout_.range_slices.push_back({.row = row, .track = layout_.projections[i].track});
    }
    return;
  }
  for (const uint32_t group : parts_.groups.ForProcessor(process)) {
    layout_.range_slices.push_back({.row = row, .track = group});
  }
}

// Takes out projections that lie outside of what is drawn.
void RangePlacer::KeepInside(RangeKind kind, size_t first_projection) {
  std::vector<Projected>& all = layout_.projections;
  const auto first = all.begin() + static_cast<std::ptrdiff_t>(first_projection);
  all.erase(std::remove_if(first, all.end(),
                           [&](const Projected& projected) {
                             return !IsInTrim(parts_.options,
                                              {projected.start_ns, projected.end_ns});
                           }),
            all.end());
  const auto count = static_cast<int64_t>(all.size() - first_projection);
  for (size_t i = first_projection; i < all.size(); ++i) {
    drawn_.Add({all[i].start_ns, all[i].end_ns});
  }
  Counts& counts = layout_.counts;
  (kind == RangeKind::kPushPop ? counts.projected_ranges : counts.projected_other_ranges) += count;
}

void RangePlacer::Count(RangeKind kind) {
  Counts& counts = layout_.counts;
  switch (kind) {
    case RangeKind::kPushPop:
      ++counts.ranges;
      break;
    case RangeKind::kTextPushPop:
      ++counts.text_ranges;
      break;
    case RangeKind::kStartEnd:
      ++counts.start_end_ranges;
      break;
    case RangeKind::kOpenPushPop:
    case RangeKind::kOpenStartEnd:
      ++counts.open_ranges;
      break;
    case RangeKind::kMark:
      ++counts.marks;
      break;
    case RangeKind::kNothing:
      break;
  }
}

void RangePlacer::PlaceOnThreads() {
  for (const uint32_t row : parts_.ranges.NestingOrder()) {
    const RangeKind kind = parts_.ranges.Kind(row);
    for (uint32_t i = slices_begin_[row]; i < slices_begin_[row + 1]; ++i) {
      uint32_t& track = layout_.range_slices[i].track;
      const uint32_t subject =
          plan_.Subject({.kind = IsStartEnd(kind) ? TrackKind::kNvtxRange : TrackKind::kNvtxThread,
                         .group = track,
                         .first = TidOf(row)});
      track = kind == RangeKind::kMark ? plan_.FirstTrack(subject)
                                       : plan_.Place(subject, layout_.RangeSpan(trace_, row));
    }
  }
}

// Projections lie in no order of time: each track sorts its own.
void RangePlacer::PlaceProjections() {
  std::vector<Projected>& all = layout_.projections;
  size_t subjects = 0;
  for (Projected& projected : all) {
    const bool start_end = IsStartEnd(parts_.ranges.Kind(projected.row));
    projected.track =
        plan_.Subject({.kind = start_end ? TrackKind::kNvtxRangeKernel : TrackKind::kNvtxKernel,
                       .group = projected.track,
                       .first = TidOf(projected.row)});
    subjects = std::max(subjects, size_t{projected.track} + 1);
  }
  Grouping by_subject(all.size(), subjects, [&](uint32_t i) { return all[i].track; });
  const auto before = [&](uint32_t a, uint32_t b) {
    return NestsBefore({all[a].start_ns, all[a].end_ns}, a, {all[b].start_ns, all[b].end_ns}, b);
  };
  for (uint32_t subject = 0; subject < subjects; ++subject) {
    const std::span<uint32_t> order = by_subject.Of(subject);
    if (!std::ranges::is_sorted(order, before)) {
      std::ranges::sort(order, before);
    }
    for (const uint32_t i : order) {
      all[i].track = plan_.Place(subject, {all[i].start_ns, all[i].end_ns});
    }
  }
}

}  // namespace

void PlaceRanges(const Parts& parts, TrackPlan& plan, Hull& drawn, Layout& layout) {
  RangePlacer(parts, plan, drawn, layout).Run();
}

}  // namespace nsys::perfetto
