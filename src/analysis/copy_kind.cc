// SPDX-License-Identifier: MIT
#include "analysis/copy_kind.h"

#include <array>
#include <string_view>

namespace nsys {

std::string CopyKindName(int32_t kind) {
  static constexpr std::array<std::string_view, 14> kNames = {
      "unknown", "H2D", "D2H", "H2A", "A2H",    "A2A",    "A2D",
      "D2A",     "D2D", "H2H", "P2P", "UM H2D", "UM D2H", "UM D2D"};
  if (kind >= 0 && static_cast<size_t>(kind) < kNames.size()) {
    return std::string(kNames[static_cast<size_t>(kind)]);
  }
  return "unknown(" + std::to_string(kind) + ")";
}

}  // namespace nsys
