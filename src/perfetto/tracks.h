// SPDX-License-Identifier: MIT
// Groups and tracks of a Perfetto trace while they are made: slices ask for a lane of a track by
// what the track is about; at the end tracks get their order, numbers and names, and groups that
// stayed empty are dropped.
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "perfetto/devices.h"
#include "perfetto/lanes.h"
#include "perfetto/layout.h"
#include "perfetto/processes.h"

namespace nsys::perfetto {

// All groups that can be needed, in their final order: by (pid, process word), the host side of the
// process first, then its devices.
class GroupPlan {
 public:
  GroupPlan(const Processes& processes, const Devices& devices, bool host_tracks);

  uint32_t Of(ProcessId process, int64_t device) const;
  uint32_t HostOf(ProcessId process) const { return begins_[Index(process)]; }
  // Where rows of the processor of a process are shown: on its host group or under all its devices.
  const std::vector<uint32_t>& ForProcessor(ProcessId process) const {
    return for_processor_[Index(process)];
  }
  ProcessId ProcessOf(uint32_t group) const { return process_of_[group]; }
  size_t size() const { return groups_.size(); }
  const std::vector<Group>& groups() const { return groups_; }

 private:
  std::vector<Group> groups_;
  std::vector<ProcessId> process_of_;
  std::vector<uint32_t> begins_;  // by process, one more than processes
  std::vector<std::vector<uint32_t>> for_processor_;
  uint32_t hosts_ = 0;  // host groups per process
};

// What a track is about, whatever its lanes.
struct TrackSubject {
  TrackKind kind = TrackKind::kStream;
  uint32_t group = 0;  // of the GroupPlan
  int64_t first = 0;   // the context of a stream, the thread id of tracks of a thread
  int64_t second = 0;  // the stream
  bool operator==(const TrackSubject&) const = default;
};

class TrackPlan {
 public:
  // The number of a subject, made on first use.
  uint32_t Subject(const TrackSubject& subject);
  // The number of the track on whose lane `slice` goes. Slices of a subject come in order of their
  // start; at equal starts NVTX ranges (which nest) the longer first, others the shorter first.
  uint32_t Place(uint32_t subject, Span slice);
  // The first lane, for what takes no room.
  uint32_t FirstTrack(uint32_t subject) { return TrackOf(subject, 0); }

  // Fills layout.groups and layout.tracks, turns the numbers of this plan in the columns of
  // `layout` into places there, and counts the lanes.
  void Finish(const GroupPlan& groups, Layout& layout) const;

 private:
  struct SubjectState {
    TrackSubject about;
    IntervalLanes intervals;
    LaminarLanes nested;
    std::vector<uint32_t> tracks;  // by lane
  };
  struct PlannedTrack {
    uint32_t subject = 0;
    uint32_t lane = 0;
  };
  struct Hash {
    size_t operator()(const TrackSubject& subject) const;
  };
  uint32_t TrackOf(uint32_t subject, uint32_t lane);
  std::vector<uint32_t> Order() const;
  Track Finished(uint32_t track) const;

  std::vector<SubjectState> subjects_;
  std::vector<PlannedTrack> tracks_;
  std::unordered_map<TrackSubject, uint32_t, Hash> numbers_;
  TrackSubject last_;
  uint32_t last_number_ = kNone;
};

// The order of a track of a thread inside its group: threads one after the other, and of each NVTX
// Kernel, NVTX Thread, CUDA API, start-end ranges, and what the operating system and the profiler
// did. `rank` is the place of the thread in the group.
int32_t ThreadTrackSortIndex(uint32_t rank, TrackKind kind, uint32_t lane);

// The group of a process and a device in a finished layout, which is made, in its place, when there
// is none. Numbers of later groups shift; tracks follow.
uint32_t FindOrAddGroup(Layout& layout, int64_t global_pid, int64_t device);

}  // namespace nsys::perfetto
