// SPDX-License-Identifier: MIT
// The tracks of a protobuf trace: for each group a track that holds the others in their order; in
// it those of the device, and for each thread a track that holds the thread's own. Lanes of one
// thing are tracks of one name that Perfetto shows as one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "perfetto/layout.h"
#include "perfetto/proto_writer.h"

namespace nsys::perfetto {

// Numbers of tracks, different for different reports, so that traces can be merged.
class TrackUuids {
 public:
  explicit TrackUuids(std::string_view report);
  uint64_t OfTrack(uint32_t track) const { return base_ | track; }
  uint64_t OfGroup(uint32_t group) const { return base_ | kGroup | group; }
  uint64_t OfThread(uint32_t number) const { return base_ | kThread | number; }

 private:
  static constexpr uint64_t kGroup = uint64_t{1} << 32;
  static constexpr uint64_t kThread = uint64_t{2} << 32;
  uint64_t base_ = 0;
};

// Appends a packet for each track, of the packet sequence `sequence`; returns their number.
int64_t WriteTracks(const Layout& layout, uint32_t sequence, ProtoBuffer& out);

}  // namespace nsys::perfetto
