// SPDX-License-Identifier: MIT
// What groups and tracks are called and in what order a viewer shows them. Names hold numbers only,
// so that one search finds the same track in every trace; what the capture calls a process, a GPU
// or a thread goes into their details.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

std::string GroupName(const Group& group);
// `lanes`: of the track's subject.
std::string TrackName(const Track& track, size_t lanes);
// " / Lane 2": the end of the names of a track's lanes, which count from 0.
std::string LaneSuffix(uint32_t lane);
// The name without such an end.
std::string_view WithoutLane(std::string_view name);
// The order of tracks of the GPU in their group; 0 for tracks of a thread.
int32_t DeviceTrackSortIndex(const Track& track);
// Fills the details of all groups and tracks.
void AddDetails(const Trace& trace, Layout& layout);

}  // namespace nsys::perfetto
