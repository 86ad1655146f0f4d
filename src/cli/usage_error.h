// SPDX-License-Identifier: MIT
// The error of arguments that cannot be understood: exit status 2.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace nsys {

inline Error UsageError(std::string message, std::string hint) {
  return Error{.code = ErrorCode::kUsage, .message = std::move(message), .hint = std::move(hint)};
}

}  // namespace nsys
