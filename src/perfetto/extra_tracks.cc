// SPDX-License-Identifier: MIT
#include "perfetto/extra_tracks.h"

#include <algorithm>
#include <numeric>

#include "perfetto/extras.h"
#include "perfetto/track_names.h"
#include "perfetto/tracks.h"

namespace nsys::perfetto {
namespace {

// Below all tracks of threads.
constexpr int32_t kFirstSortIndex = 2'000'000'000;

// Moves `items` to the places `place` tells for their tracks, in the order of the tracks; items of
// one track keep theirs.
template <typename Item>
std::vector<Item> ByTrack(std::vector<Item> items, const std::vector<uint32_t>& place,
                          size_t tracks) {
  std::vector<size_t> begin(tracks + 1, 0);
  for (Item& item : items) {
    item.track = place[item.track];
    ++begin[item.track + 1];
  }
  std::partial_sum(begin.begin(), begin.end(), begin.begin());
  std::vector<Item> sorted(items.size());
  for (const Item& item : items) {
    sorted[begin[item.track]++] = item;
  }
  return sorted;
}

}  // namespace

uint32_t ExtraTracks::Text(std::string_view text) {
  if (const auto at = texts_.find(text); at != texts_.end()) {
    return at->second;
  }
  const auto place = static_cast<uint32_t>(layout_.texts.size());
  layout_.texts.emplace_back(text);
  texts_.emplace(text, place);
  return place;
}

uint32_t ExtraTracks::TrackOf(uint32_t subject, uint32_t lane) {
  std::vector<uint32_t>& tracks = subjects_[subject].tracks;
  if (lane == tracks.size()) {
    tracks.push_back(static_cast<uint32_t>(planned_.size()));
    planned_.push_back({.subject = subject, .lane = lane});
  }
  return tracks[lane];
}

void ExtraTracks::Slice(uint32_t subject, Span span, uint32_t name,
                        std::initializer_list<Arg> args) {
  const auto first_arg = static_cast<uint32_t>(layout_.extra_args.size());
  for (const auto& [key, value] : args) {
    if (value != kNoNumber) {
      layout_.extra_args.push_back({.key = key, .is_text = false, .value = value});
    }
  }
  const uint32_t lane = subjects_[subject].lanes.Place(span);
  slices_.push_back({.start_ns = span.begin_ns,
                     .end_ns = span.end_ns,
                     .track = TrackOf(subject, lane),
                     .name = name,
                     .first_arg = first_arg,
                     .arg_count = static_cast<uint32_t>(layout_.extra_args.size()) - first_arg});
}

void ExtraTracks::Sample(uint32_t subject, int64_t time_ns, int64_t value) {
  samples_.push_back({.time_ns = time_ns, .track = TrackOf(subject, 0), .value = value});
}

Track ExtraTracks::Finished(const PlannedTrack& planned) const {
  const SubjectState& state = subjects_[planned.subject];
  Track track;
  track.kind = state.about.kind;
  track.group = state.about.group;
  track.lane = planned.lane;
  track.name = state.name;
  track.proto_only = state.about.proto_only;
  if (planned.lane > 0) {
    track.name += LaneSuffix(planned.lane);
  }
  if (track.kind == TrackKind::kOsrt || track.kind == TrackKind::kOverhead) {
    track.source_tid = state.about.first;
  } else if (track.kind != TrackKind::kCounter) {
    track.context = state.about.first;
    track.stream = state.about.second;
  }
  return track;
}

// Appends the tracks in the order of their subjects and lanes; returns where each planned one is.
std::vector<uint32_t> ExtraTracks::AddTracks() {
  std::vector<uint32_t> order(planned_.size());
  std::iota(order.begin(), order.end(), 0U);
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) {
    const PlannedTrack& left = planned_[a];
    const PlannedTrack& right = planned_[b];
    return left.subject == right.subject
               ? left.lane < right.lane
               : subjects_[left.subject].about < subjects_[right.subject].about;
  });
  std::vector<uint32_t> place(planned_.size());
  const size_t first = layout_.tracks.size();
  for (size_t i = 0; i < order.size(); ++i) {
    place[order[i]] = static_cast<uint32_t>(first + i);
    layout_.tracks.push_back(Finished(planned_[order[i]]));
    layout_.tracks.back().tid = kFirstExtraTid + static_cast<int64_t>(i);
  }
  SetSortIndices(first);
  return place;
}

// Tracks of a thread join the others of the thread, which the group may hold already.
void ExtraTracks::SetSortIndices(size_t first) {
  using Key = std::pair<uint32_t, int64_t>;  // group, thread
  std::map<Key, uint32_t> ranks;
  std::vector<Key> threads;
  const auto rank_all = [&](size_t begin, size_t end) {
    threads.clear();
    for (size_t i = begin; i < end; ++i) {
      if (IsOfThread(layout_.tracks[i])) {
        threads.emplace_back(layout_.tracks[i].group, layout_.tracks[i].source_tid);
      }
    }
    std::sort(threads.begin(), threads.end());
    for (const Key& key : threads) {
      const auto of_group = [&](const auto& rank) { return rank.first.first == key.first; };
      if (!ranks.contains(key)) {
        const auto rank = std::count_if(ranks.begin(), ranks.end(), of_group);
        ranks[key] = static_cast<uint32_t>(rank);
      }
    }
  };
  rank_all(0, first);
  rank_all(first, layout_.tracks.size());
  int32_t next = kFirstSortIndex;
  for (size_t i = first; i < layout_.tracks.size(); ++i) {
    Track& track = layout_.tracks[i];
    track.sort_index = IsOfThread(track)
                           ? ThreadTrackSortIndex(ranks.at({track.group, track.source_tid}),
                                                  track.kind, track.lane)
                           : next++;
  }
}

void ExtraTracks::MoveOrigin() {
  const bool alone = layout_.counts.kernels == 0 && layout_.counts.copies == 0 &&
                     layout_.call_slices.empty() && layout_.range_slices.empty();
  int64_t origin_ns = alone ? INT64_MAX : layout_.origin_ns;
  const auto cover = [&](uint32_t track, int64_t start_ns, int64_t end_ns) {
    if (!layout_.IsLeftOut(track)) {
      origin_ns = std::min(origin_ns, start_ns);
      layout_.last_ns = std::max(layout_.last_ns, end_ns);
    }
  };
  for (const ExtraSlice& slice : layout_.extra_slices) {
    cover(slice.track, slice.start_ns, slice.end_ns);
  }
  for (const CounterSample& sample : layout_.counter_samples) {
    cover(sample.track, sample.time_ns, sample.time_ns);
  }
  layout_.origin_ns = origin_ns == INT64_MAX ? layout_.origin_ns : origin_ns;
  if (!layout_.anchored) {
    layout_.anchor_ns = origin_ns;
  }
}

void ExtraTracks::Finish() {
  const std::vector<uint32_t> place = AddTracks();
  layout_.extra_slices = ByTrack(std::move(slices_), place, layout_.tracks.size());
  layout_.counter_samples = ByTrack(std::move(samples_), place, layout_.tracks.size());
  MoveOrigin();
  for (CounterSample& sample : layout_.counter_samples) {
    sample.time_ns = std::max(sample.time_ns, layout_.origin_ns);
  }
  const auto is_counted = [&](const auto& item) { return !layout_.IsLeftOut(item.track); };
  layout_.counts.extra_slices = std::ranges::count_if(layout_.extra_slices, is_counted);
  layout_.counts.counter_samples = std::ranges::count_if(layout_.counter_samples, is_counted);
}

}  // namespace nsys::perfetto
