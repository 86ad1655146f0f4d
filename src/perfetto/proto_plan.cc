// SPDX-License-Identifier: MIT
#include "perfetto/proto_plan.h"

#include <algorithm>

#include "perfetto/ranges.h"
#include "perfetto/work_order.h"

namespace nsys::perfetto {
namespace {

// Calls `visit(track, item)` for everything drawn except what lies on streams.
template <typename Visit>
void ForEachItem(const Layout& layout, const Visit& visit) {
  const auto drawn = [&](uint32_t track, size_t item) {
    if (track != kNone) {
      visit(track, static_cast<uint32_t>(item));
    }
  };
  for (size_t row = 0; row < layout.kernel_core_track.size(); ++row) {
    drawn(layout.kernel_core_track[row], row);
  }
  for (size_t i = 0; i < layout.copy_usage.size(); ++i) {
    drawn(layout.copy_usage[i].track, i);
  }
  for (const Placed& call : layout.call_slices) {
    drawn(call.track, call.row);
  }
  for (const Placed& range : layout.range_slices) {
    drawn(range.track, range.row);
  }
  for (size_t i = 0; i < layout.projections.size(); ++i) {
    drawn(layout.projections[i].track, i);
  }
}

}  // namespace

Span NestedSpan(const Trace& trace, const Layout& layout, TrackKind kind, uint32_t item) {
  if (IsProjected(kind)) {
    return {layout.projections[item].start_ns, layout.projections[item].end_ns};
  }
  return layout.RangeSpan(trace, item);
}

bool HasLength(const Trace& trace, TrackKind kind, uint32_t item) {
  return IsProjected(kind) || IsRange(trace, item);
}

Result<ProtoPlan> ProtoPlan::Make(const Trace& trace, const Layout& layout, size_t part_events) {
  if (trace.kernels.size() >= kCopyItem || trace.copies.size() >= kCopyItem) {
    return Error{.code = ErrorCode::kOutput,
                 .message = "too many kernels or copies for a protobuf trace",
                 .hint = "Select a part of the capture with --trim."};
  }
  ProtoPlan plan;
  plan.CountItems(trace, layout);
  plan.FillItems(trace, layout);
  plan.SortNested(trace, layout);
  plan.CutParts(trace, layout, part_events);
  plan.JoinBlocks(part_events);
  return plan;
}

void ProtoPlan::CountItems(const Trace& trace, const Layout& layout) {
  track_begin_.assign(layout.tracks.size() + 1, 0);
  const auto count = [&](uint32_t track) {
    if (track != kNone) {
      ++track_begin_[track + 1];
    }
  };
  for (size_t row = 0; row < trace.kernels.size(); ++row) {
    count(layout.kernel_stream_track[row]);
  }
  for (size_t row = 0; row < trace.copies.size(); ++row) {
    count(layout.copy_stream_track[row]);
  }
  ForEachItem(layout, [&](uint32_t track, uint32_t) { ++track_begin_[track + 1]; });
  for (size_t track = 0; track < layout.tracks.size(); ++track) {
    track_begin_[track + 1] += track_begin_[track];
  }
}

void ProtoPlan::FillItems(const Trace& trace, const Layout& layout) {
  items_.resize(track_begin_.back());
  track_fill_.assign(track_begin_.begin(), track_begin_.end() - 1);
  FillStreams(trace, layout);
  ForEachItem(layout, [&](uint32_t track, uint32_t item) { items_[track_fill_[track]++] = item; });
  track_fill_ = {};
}

void ProtoPlan::FillStreams(const Trace& trace, const Layout& layout) {
  const auto place = [&](uint32_t track, uint32_t item) {
    if (track != kNone) {
      items_[track_fill_[track]++] = item;
    }
  };
  ForEachWork(
      trace, [&](uint32_t kernel) { place(layout.kernel_stream_track[kernel], kernel); },
      [&](uint32_t copy) { place(layout.copy_stream_track[copy], copy | kCopyItem); });
}

// Outer slices before inner ones. Most tracks are in this order already.
void ProtoPlan::SortNested(const Trace& trace, const Layout& layout) {
  for (uint32_t track = 0; track < layout.tracks.size(); ++track) {
    const TrackKind kind = layout.tracks[track].kind;
    if (!Nests(kind)) {
      continue;
    }
    const auto before = [&](uint32_t a, uint32_t b) {
      return NestsBefore(NestedSpan(trace, layout, kind, a), a, NestedSpan(trace, layout, kind, b),
                         b);
    };
    const std::span<uint32_t> items(items_.data() + track_begin_[track],
                                    track_begin_[track + 1] - track_begin_[track]);
    if (!std::is_sorted(items.begin(), items.end(), before)) {
      std::sort(items.begin(), items.end(), before);
    }
  }
}

void ProtoPlan::CutTrack(uint32_t track, size_t begin, size_t end, size_t part_events) {
  for (size_t at = begin; at < end; at += part_events) {
    const size_t stop = std::min(end, at + part_events);
    parts_.push_back(
        {.track = track, .begin = at, .end = stop, .last = stop == end, .open_ends = {}});
  }
}

void ProtoPlan::CutParts(const Trace& trace, const Layout& layout, size_t part_events) {
  size_t slice = 0;   // of extra_slices, which lie by track
  size_t sample = 0;  // of counter_samples, which lie by track
  for (uint32_t track = 0; track < layout.tracks.size(); ++track) {
    const size_t first_part = parts_.size();
    CutTrack(track, 0, track_begin_[track + 1] - track_begin_[track], part_events);
    if (Nests(layout.tracks[track].kind)) {
      FindOpenEnds(trace, layout, first_part);
    }
    const size_t first_slice = slice;
    while (slice < layout.extra_slices.size() && layout.extra_slices[slice].track == track) {
      ++slice;
    }
    CutTrack(track, first_slice, slice, part_events);
    const size_t first_sample = sample;
    while (sample < layout.counter_samples.size() &&
           layout.counter_samples[sample].track == track) {
      ++sample;
    }
    CutTrack(track, first_sample, sample, part_events);
  }
}

// The slices that are open where each part begins, for the parts of one track from `first_part` on.
void ProtoPlan::FindOpenEnds(const Trace& trace, const Layout& layout, size_t first_part) {
  std::vector<int64_t> open;
  for (size_t number = first_part; number < parts_.size(); ++number) {
    Part& part = parts_[number];
    part.open_ends = open;
    if (part.last) {
      return;
    }
    const TrackKind kind = layout.tracks[part.track].kind;
    for (size_t at = part.begin; at < part.end; ++at) {
      const Span span = NestedSpan(trace, layout, kind, item(part.track, at));
      while (!open.empty() && open.back() <= span.begin_ns) {
        open.pop_back();
      }
      if (HasLength(trace, kind, item(part.track, at))) {
        open.push_back(span.end_ns);
      }
    }
  }
}

void ProtoPlan::JoinBlocks(size_t part_events) {
  block_begin_.push_back(0);
  size_t events = 0;
  for (size_t part = 0; part < parts_.size(); ++part) {
    const size_t more = parts_[part].end - parts_[part].begin;
    if (events > 0 && events + more > part_events) {
      block_begin_.push_back(part);
      events = 0;
    }
    events += more;
  }
  block_begin_.push_back(parts_.size());
}

}  // namespace nsys::perfetto
