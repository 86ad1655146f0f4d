// SPDX-License-Identifier: MIT
// Warnings and notes go to standard error, one line each.
#pragma once

#include <cstdio>
#include <string>

#include <fmt/core.h>

#include "base/text.h"

namespace nsys {

inline void Warn(const std::string& text) {
  std::fputs(fmt::format("nsys-ai: warning: {}\n", Printable(text)).c_str(), stderr);
}

// What was asked for and is no warning.
inline void Tell(const std::string& text) {
  std::fputs(fmt::format("nsys-ai: {}\n", Printable(text)).c_str(), stderr);
}

}  // namespace nsys
