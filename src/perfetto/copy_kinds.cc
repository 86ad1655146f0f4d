// SPDX-License-Identifier: MIT
#include "perfetto/copy_kinds.h"

#include <array>

namespace nsys::perfetto {
namespace {

constexpr std::string_view kPrefix = "CUDA Memcpy ";
constexpr CopyKind kUnknown = {.name = "CUDA Memcpy Unknown", .key = "unknown"};

// Of the device that a copy reads from and the one it writes to, those it shows on.
enum Shown : uint8_t { kNeither = 0, kFrom = 1, kTo = 2, kBoth = 3 };

constexpr CopyKind Kind(std::string_view name, std::string_view key, CopyPath path, CopyCount count,
                        Shown devices) {
  return {.name = name,
          .key = key,
          .path = path,
          .count = count,
          .from_device = (devices & kFrom) != 0,
          .to_device = (devices & kTo) != 0};
}

constexpr std::array<CopyKind, 14> kKinds = {{
    kUnknown,
    Kind("CUDA Memcpy H2D", "h2d", CopyPath::kPcie, CopyCount::kToDevice, kTo),
    Kind("CUDA Memcpy D2H", "d2h", CopyPath::kPcie, CopyCount::kToHost, kFrom),
    Kind("CUDA Memcpy H2A", "h2a", CopyPath::kPcie, CopyCount::kToDevice, kBoth),
    Kind("CUDA Memcpy A2H", "a2h", CopyPath::kPcie, CopyCount::kToHost, kBoth),
    Kind("CUDA Memcpy A2A", "a2a", CopyPath::kDevice, CopyCount::kOnDevice, kBoth),
    Kind("CUDA Memcpy A2D", "a2d", CopyPath::kDevice, CopyCount::kOnDevice, kBoth),
    Kind("CUDA Memcpy D2A", "d2a", CopyPath::kDevice, CopyCount::kOnDevice, kBoth),
    Kind("CUDA Memcpy D2D", "d2d", CopyPath::kDevice, CopyCount::kOnDevice, kBoth),
    Kind("CUDA Memcpy H2H", "h2h", CopyPath::kNowhere, CopyCount::kOther, kNeither),
    Kind("CUDA Memcpy P2P", "p2p", CopyPath::kPeer, CopyCount::kOther, kBoth),
    Kind("CUDA Memcpy Unified H2D", "unified_h2d", CopyPath::kPcie, CopyCount::kToDevice, kTo),
    Kind("CUDA Memcpy Unified D2H", "unified_d2h", CopyPath::kPcie, CopyCount::kToHost, kFrom),
    Kind("CUDA Memcpy Unified D2D", "unified_d2d", CopyPath::kDevice, CopyCount::kOnDevice, kBoth),
}};

}  // namespace

const CopyKind& KindOfCopy(int32_t kind) {
  return kind >= 0 && static_cast<size_t>(kind) < kKinds.size() ? kKinds[static_cast<size_t>(kind)]
                                                                : kUnknown;
}

std::string_view CopyDirection(int32_t kind) { return CopyName(kind).substr(kPrefix.size()); }

std::string_view MemoryKindName(int32_t kind) {
  constexpr std::array<std::string_view, 7> kNames = {
      "Pageable", "Pinned", "Device", "Array", "Managed", "Device Static", "Managed Static"};
  return kind >= 0 && static_cast<size_t>(kind) < kNames.size() ? kNames[static_cast<size_t>(kind)]
                                                                : "Unknown";
}

}  // namespace nsys::perfetto
