// SPDX-License-Identifier: MIT
// Handles into a Trace: each a 32-bit number with a type of its own, so that one cannot stand for
// another. `kNone` means that the capture does not tell.
#pragma once

#include <cstdint>

namespace nsys {

enum class StringId : uint32_t { kNone = 0xFFFFFFFF };    // a text in the StringPool
enum class ProcessId : uint32_t { kNone = 0xFFFFFFFF };   // row of Trace::processes
enum class ThreadId : uint32_t { kNone = 0xFFFFFFFF };    // row of Trace::threads
enum class LaneId : uint32_t { kNone = 0xFFFFFFFF };      // row of Trace::lanes
enum class NvtxLaneId : uint32_t { kNone = 0xFFFFFFFF };  // row of Trace::nvtx_lanes

template <typename Id>
constexpr uint32_t Index(Id id) {
  return static_cast<uint32_t>(id);
}

}  // namespace nsys
