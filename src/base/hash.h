// SPDX-License-Identifier: MIT
// FNV-1a. These hashes are part of outputs and of names of files, so they stay what they are.
#pragma once

#include <cstdint>
#include <string_view>

namespace nsys {

constexpr uint32_t Fnv32(std::string_view text) {
  uint32_t hash = 2166136261U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  return hash;
}

constexpr uint64_t Fnv64(std::string_view text) {
  uint64_t hash = 14695981039346656037U;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211U;
  }
  return hash;
}

}  // namespace nsys
