// SPDX-License-Identifier: MIT
// Directions of memory copies, as Nsight numbers them (ENUM_CUDA_MEMCPY_OPER).
#pragma once

#include <cstdint>
#include <string>

namespace nsys {

inline constexpr int32_t kCopyHostToDevice = 1;

// "H2D", "D2D", "P2P", … or "unknown(<n>)".
std::string CopyKindName(int32_t kind);

}  // namespace nsys
