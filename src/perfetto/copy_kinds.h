// SPDX-License-Identifier: MIT
// What each kind of copy is called and where it shows, by ENUM_CUDA_MEMCPY_OPER.
#pragma once

#include <cstdint>
#include <string_view>

namespace nsys::perfetto {

// What a copy shows besides its stream.
enum class CopyPath : uint8_t { kNowhere, kPcie, kDevice, kPeer };
// What it is counted as.
enum class CopyCount : uint8_t { kToDevice, kToHost, kOnDevice, kOther };

struct CopyKind {
  std::string_view name;  // "CUDA Memcpy H2D"
  std::string_view key;   // "h2d": its direction in lower case with _ for blanks
  CopyPath path = CopyPath::kNowhere;
  CopyCount count = CopyCount::kOther;
  // Whether it shows on the device that it reads from, and on that it writes to.
  bool from_device = false;
  bool to_device = false;
};

// Of a number that is no kind: that of an unknown one.
const CopyKind& KindOfCopy(int32_t kind);

inline std::string_view CopyName(int32_t kind) { return KindOfCopy(kind).name; }
inline std::string_view CopyDirectionKey(int32_t kind) { return KindOfCopy(kind).key; }
// "H2D", "Unified D2H", "P2P", …
std::string_view CopyDirection(int32_t kind);

// "Pageable", "Pinned", "Device", …, "Unknown".
std::string_view MemoryKindName(int32_t kind);

}  // namespace nsys::perfetto
