// SPDX-License-Identifier: MIT
#include "perfetto/tracks.h"

#include <algorithm>
#include <iterator>
#include <tuple>

#include "perfetto/track_names.h"

namespace nsys::perfetto {
namespace {

// Tracks are declared block after block.
int BlockOf(TrackKind kind) {
  switch (kind) {
    case TrackKind::kStream:
      return 0;
    case TrackKind::kCore:
      return 1;
    case TrackKind::kCopyUsage:
    case TrackKind::kPeerUsage:
    case TrackKind::kPcieUsage:
      return 2;
    case TrackKind::kNvtxKernel:
      return 3;
    case TrackKind::kNvtxRangeKernel:
      return 4;
    case TrackKind::kApi:
      return 5;
    case TrackKind::kNvtxThread:
      return 6;
    default:
      return 7;
  }
}
constexpr int64_t kFirstTid[] = {1,
                                 400'000'000,
                                 500'000'000,
                                 1'000'000'000,
                                 1'050'000'000,
                                 1'100'000'000,
                                 1'200'000'000,
                                 1'300'000'000};

// Usage tracks of a device stand in the order of their names.
int UsageOrder(TrackKind kind) {
  switch (kind) {
    case TrackKind::kPeerUsage:
      return 1;
    case TrackKind::kPcieUsage:
      return 2;
    default:
      return 0;
  }
}

void SetRanks(std::vector<Track>& tracks) {
  std::vector<std::pair<uint32_t, int64_t>> threads;  // (group, thread id)
  for (const Track& track : tracks) {
    if (IsOfThread(track)) {
      threads.emplace_back(track.group, track.source_tid);
    }
  }
  std::sort(threads.begin(), threads.end());
  threads.erase(std::unique(threads.begin(), threads.end()), threads.end());
  for (Track& track : tracks) {
    if (!IsOfThread(track)) {
      continue;
    }
    const auto first =
        std::lower_bound(threads.begin(), threads.end(), std::pair(track.group, INT64_MIN));
    const auto at =
        std::lower_bound(first, threads.end(), std::pair(track.group, track.source_tid));
    track.sort_index =
        ThreadTrackSortIndex(static_cast<uint32_t>(at - first), track.kind, track.lane);
  }
}

// Replaces numbers of the plan by places in layout.tracks.
void Renumber(const std::vector<uint32_t>& places, Layout& layout) {
  const auto place = [&](uint32_t& track) {
    if (track != kNone) {
      track = places[track];
    }
  };
  std::for_each(layout.kernel_stream_track.begin(), layout.kernel_stream_track.end(), place);
  std::for_each(layout.kernel_core_track.begin(), layout.kernel_core_track.end(), place);
  std::for_each(layout.copy_stream_track.begin(), layout.copy_stream_track.end(), place);
  for (CopyUsage& usage : layout.copy_usage) {
    place(usage.track);
  }
  for (Placed& slice : layout.call_slices) {
    place(slice.track);
  }
  for (Placed& slice : layout.range_slices) {
    place(slice.track);
  }
  for (Projected& slice : layout.projections) {
    place(slice.track);
  }
}

// Groups with a track, and their new numbers in those tracks.
void KeepUsedGroups(const GroupPlan& plan, Layout& layout) {
  std::vector<uint32_t> places(plan.size(), kNone);
  for (const Track& track : layout.tracks) {
    places[track.group] = 0;
  }
  for (uint32_t group = 0; group < places.size(); ++group) {
    if (places[group] != kNone) {
      places[group] = static_cast<uint32_t>(layout.groups.size());
      layout.groups.push_back(plan.groups()[group]);
    }
  }
  for (Track& track : layout.tracks) {
    track.group = places[track.group];
  }
}

void NumberGroups(std::vector<Group>& groups) {
  for (size_t i = 0; i < groups.size(); ++i) {
    groups[i].sort_index = static_cast<int32_t>(i) - 10'000;
  }
}

}  // namespace

GroupPlan::GroupPlan(const Processes& processes, const Devices& devices, bool host_tracks)
    : hosts_(host_tracks ? 1 : 0) {
  for (uint32_t process = 0; process < processes.list.size(); ++process) {
    begins_.push_back(static_cast<uint32_t>(groups_.size()));
    const auto add = [&](int64_t device, bool host) {
      Group group{.global_pid = processes.list[process].word,
                  .pid = processes.list[process].pid,
                  .device = device,
                  .host = host};
      group.name = GroupName(group);
      groups_.push_back(std::move(group));
      process_of_.push_back(ProcessId{process});
    };
    if (host_tracks) {
      add(kUnknownDevice, true);
    }
    for (const int64_t device : devices.shown[process]) {
      add(device, false);
    }
  }
  begins_.push_back(static_cast<uint32_t>(groups_.size()));
  for (uint32_t process = 0; process < processes.list.size(); ++process) {
    std::vector<uint32_t>& groups = for_processor_.emplace_back();
    if (host_tracks) {
      groups.push_back(HostOf(ProcessId{process}));
      continue;
    }
    for (const int64_t device : devices.of_process[process]) {
      groups.push_back(Of(ProcessId{process}, device));
    }
  }
}

uint32_t GroupPlan::Of(ProcessId process, int64_t device) const {
  const auto first = groups_.begin() + begins_[Index(process)] + hosts_;
  const auto last = groups_.begin() + begins_[Index(process) + 1];
  const auto at = std::lower_bound(
      first, last, device, [](const Group& group, int64_t key) { return group.device < key; });
  return static_cast<uint32_t>(at - groups_.begin());
}

size_t TrackPlan::Hash::operator()(const TrackSubject& subject) const {
  uint64_t mixed = static_cast<uint64_t>(subject.first) * 0x9E3779B97F4A7C15U;
  mixed = (mixed ^ static_cast<uint64_t>(subject.second)) * 0xC2B2AE3D27D4EB4FU;
  mixed ^= uint64_t{subject.group} << 8 | uint64_t{static_cast<uint8_t>(subject.kind)};
  mixed *= 0x9E3779B97F4A7C15U;
  return mixed ^ mixed >> 32;
}

uint32_t TrackPlan::Subject(const TrackSubject& subject) {
  if (last_number_ != kNone && last_ == subject) {
    return last_number_;
  }
  const auto next = static_cast<uint32_t>(subjects_.size());
  const auto [at, added] = numbers_.try_emplace(subject, next);
  if (added) {
    subjects_.push_back({.about = subject, .intervals = {}, .nested = {}, .tracks = {}});
  }
  last_ = subject;
  last_number_ = at->second;
  return last_number_;
}

uint32_t TrackPlan::TrackOf(uint32_t subject, uint32_t lane) {
  std::vector<uint32_t>& tracks = subjects_[subject].tracks;
  while (tracks.size() <= lane) {
    const auto number = static_cast<uint32_t>(tracks_.size());
    tracks_.push_back({.subject = subject, .lane = static_cast<uint32_t>(tracks.size())});
    tracks.push_back(number);
  }
  return tracks[lane];
}

uint32_t TrackPlan::Place(uint32_t subject, Span slice) {
  SubjectState& state = subjects_[subject];
  const uint32_t lane =
      Nests(state.about.kind) ? state.nested.Place(slice) : state.intervals.Place(slice);
  return TrackOf(subject, lane);
}

std::vector<uint32_t> TrackPlan::Order() const {
  std::vector<uint32_t> order(tracks_.size());
  for (uint32_t track = 0; track < order.size(); ++track) {
    order[track] = track;
  }
  const auto key = [&](uint32_t track) {
    const TrackSubject& about = subjects_[tracks_[track].subject].about;
    return std::tuple(BlockOf(about.kind), about.group, UsageOrder(about.kind), about.first,
                      about.second, tracks_[track].lane);
  };
  std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return key(a) < key(b); });
  return order;
}

Track TrackPlan::Finished(uint32_t track) const {
  const SubjectState& subject = subjects_[tracks_[track].subject];
  const TrackSubject& about = subject.about;
  Track result{.kind = about.kind, .group = about.group, .lane = tracks_[track].lane};
  if (about.kind == TrackKind::kStream) {
    result.context = about.first;
    result.stream = about.second;
  } else {
    result.source_tid = about.first;
  }
  result.name = TrackName(result, subject.tracks.size());
  return result;
}

void TrackPlan::Finish(const GroupPlan& groups, Layout& layout) const {
  const std::vector<uint32_t> order = Order();
  std::vector<uint32_t> places(order.size());
  int64_t used[std::size(kFirstTid)] = {};
  for (uint32_t place = 0; place < order.size(); ++place) {
    const TrackSubject& about = subjects_[tracks_[order[place]].subject].about;
    const int block = BlockOf(about.kind);
    Track track = Finished(order[place]);
    track.tid = kFirstTid[block] + used[block]++;
    track.sort_index = DeviceTrackSortIndex(track);
    if (track.lane > 0 && track.kind == TrackKind::kStream) {
      ++layout.counts.stream_lanes;
    }
    if (track.lane > 0 && track.kind == TrackKind::kNvtxKernel) {
      ++layout.counts.nvtx_kernel_lanes;
    }
    places[order[place]] = place;
    layout.tracks.push_back(std::move(track));
  }
  SetRanks(layout.tracks);
  KeepUsedGroups(groups, layout);
  NumberGroups(layout.groups);
  Renumber(places, layout);
}

uint32_t FindOrAddGroup(Layout& layout, int64_t global_pid, int64_t device) {
  Group group{.global_pid = ProcessWord(global_pid),
              .pid = Process{global_pid}.pid(),
              .device = device < 0 ? kUnknownDevice : device};
  const auto key = [](const Group& of) {
    return std::tuple(of.pid, of.global_pid, of.host ? 0 : 1, of.device);
  };
  const auto at = std::lower_bound(layout.groups.begin(), layout.groups.end(), group,
                                   [&](const Group& a, const Group& b) { return key(a) < key(b); });
  const auto place = static_cast<uint32_t>(at - layout.groups.begin());
  if (at != layout.groups.end() && key(*at) == key(group)) {
    return place;
  }
  group.name = GroupName(group);
  layout.groups.insert(at, std::move(group));
  for (Track& track : layout.tracks) {
    track.group += track.group >= place ? 1 : 0;
  }
  NumberGroups(layout.groups);
  return place;
}

}  // namespace nsys::perfetto
