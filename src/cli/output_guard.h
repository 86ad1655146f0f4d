// SPDX-License-Identifier: MIT
// Keeps results from being written over what they were computed from.
#pragma once

#include <string>

#include "base/result.h"

namespace nsys {

// A usage error when `output` (empty: standard output) is the capture `profile`, lies inside it, or
// is the report or the export of the same name beside it.
Status RefuseToOverwrite(const std::string& output, const std::string& profile);

}  // namespace nsys
