// SPDX-License-Identifier: MIT
#include "perfetto/proto_tracks.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/hash.h"
#include "perfetto/proto_fields.h"
#include "perfetto/track_names.h"

namespace nsys::perfetto {
namespace {

constexpr uint64_t kExplicitOrder = 3;
constexpr uint64_t kDoNotMerge = 2;
constexpr uint64_t kMergeByKey = 3;

struct Description {
  uint64_t uuid = 0;
  uint64_t parent = 0;  // 0: none
  std::string_view name;
  std::string_view detail = {};  // may be empty
  int32_t rank = 0;
  bool parent_of_others = false;
  bool counter = false;
  std::string_view merge_key;  // empty: a track of its own
};

class TrackWriter {
 public:
  TrackWriter(const Layout& layout, uint32_t sequence, ProtoBuffer& out)
      : layout_(layout), uuids_(layout.options.report), sequence_(sequence), out_(out) {}

  int64_t Run() {
    for (uint32_t group = 0; group < layout_.groups.size(); ++group) {
      const Group& about = layout_.groups[group];
      Write({.uuid = uuids_.OfGroup(group),
             .parent = 0,
             .name = about.name,
             .detail = about.detail,
             .rank = about.sort_index,
             .parent_of_others = true,
             .counter = false,
             .merge_key = {}});
    }
    CollectThreads();
    WriteThreads();
    for (uint32_t track = 0; track < layout_.tracks.size(); ++track) {
      WriteTrack(track);
    }
    return packets_;
  }

 private:
  using Key = std::pair<uint32_t, int64_t>;  // group, thread

  struct ThreadGroup {
    int32_t rank = 0;
    uint64_t uuid = 0;
    std::string_view detail;  // what the capture calls it
  };

  static Key KeyOf(const Track& track) { return {track.group, track.source_tid}; }

  // A thread stands where the first of its tracks would.
  void CollectThreads() {
    for (const Track& track : layout_.tracks) {
      ++lanes_[{track.group, WithoutLane(track.name)}];
      if (!IsOfThread(track)) {
        continue;
      }
      const auto [at, first] = threads_.try_emplace(KeyOf(track));
      if (!track.detail.empty()) {
        at->second.detail = track.detail;
      }
      at->second.rank = first ? track.sort_index : std::min(at->second.rank, track.sort_index);
    }
  }

  void WriteThreads() {
    uint32_t number = 0;
    for (auto& [key, thread] : threads_) {
      const auto [group, tid] = key;
      thread.uuid = uuids_.OfThread(number++);
      std::string name = "Thread " + std::to_string(tid);
      if (!thread.detail.empty()) {
        name.append(" (").append(thread.detail).append(")");
      }
      Write({.uuid = thread.uuid,
             .parent = uuids_.OfGroup(group),
             .name = name,
             .rank = thread.rank,
             .parent_of_others = true,
             .counter = false,
             .merge_key = {}});
    }
  }

  void WriteTrack(uint32_t number) {
    const Track& track = layout_.tracks[number];
    const std::string_view name = WithoutLane(track.name);
    const bool laned = lanes_.at({track.group, name}) > 1;
    Write(
        {.uuid = uuids_.OfTrack(number),
         .parent = IsOfThread(track) ? threads_.at(KeyOf(track)).uuid : uuids_.OfGroup(track.group),
         .name = name,
         .rank = track.sort_index,
         .parent_of_others = false,
         .counter = track.kind == TrackKind::kCounter,
         .merge_key = laned ? name : std::string_view()});
  }

  void Write(const Description& about) {
    out_.Reserve(256 + about.name.size() + about.detail.size() + about.merge_key.size());
    const size_t packet = out_.BeginPart(TraceField::kPacket);
    out_.Uint(PacketField::kSequenceId, sequence_);
    const size_t descriptor = out_.BeginPart(PacketField::kTrackDescriptor);
    out_.Uint(DescriptorField::kUuid, about.uuid);
    out_.Text(DescriptorField::kName, about.name);
    if (about.parent != 0) {
      out_.Uint(DescriptorField::kParent, about.parent);
    }
    if (about.counter) {
      out_.Length(DescriptorField::kCounter, 0);
    }
    if (about.parent_of_others) {
      out_.Uint(DescriptorField::kChildOrdering, kExplicitOrder);
    }
    out_.Int(DescriptorField::kRank, about.rank);
    if (!about.detail.empty()) {
      out_.Text(DescriptorField::kDescription, about.detail);
    }
    out_.Uint(DescriptorField::kMergeBehavior, about.merge_key.empty() ? kDoNotMerge : kMergeByKey);
    if (!about.merge_key.empty()) {
      out_.Text(DescriptorField::kMergeKey, about.merge_key);
    }
    out_.EndPart(descriptor);
    out_.EndPart(packet);
    ++packets_;
  }

  const Layout& layout_;
  const TrackUuids uuids_;
  const uint32_t sequence_;
  ProtoBuffer& out_;
  int64_t packets_ = 0;
  std::map<Key, ThreadGroup> threads_;
  std::map<std::pair<uint32_t, std::string_view>, size_t> lanes_;  // by group and name
};

}  // namespace

// A hash of the report, not 0, above the bits that tell tracks apart.
TrackUuids::TrackUuids(std::string_view report) {
  const uint32_t hash = Fnv32(report) & 0xFFFFFF;
  base_ = static_cast<uint64_t>(hash == 0 ? 1 : hash) << 36;
}

int64_t WriteTracks(const Layout& layout, uint32_t sequence, ProtoBuffer& out) {
  return TrackWriter(layout, sequence, out).Run();
}

}  // namespace nsys::perfetto
