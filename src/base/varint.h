// SPDX-License-Identifier: MIT
// Numbers of variable length: seven bits to a byte, lowest first.
#pragma once

#include <cstdint>
#include <string>

namespace nsys {

inline void AppendVarint(std::string& out, uint64_t value) {
  while (value >= 0x80) {
    out.push_back(static_cast<char>((value & 0x7F) | 0x80));
    value >>= 7;
  }
  out.push_back(static_cast<char>(value));
}

}  // namespace nsys
