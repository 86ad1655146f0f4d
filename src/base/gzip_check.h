// SPDX-License-Identifier: MIT
// Reads a gzip file back from disk, as any reader will, in constant memory.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace nsys {

// Inflates the file at `path`, which must hold exactly one member, and hands the text on in pieces.
// An error names what is wrong: no gzip file, cut short, wrong checksum or length, bytes behind the
// end.
Status ReadGzip(const std::string& path, const std::function<Status(std::string_view piece)>& take);

}  // namespace nsys
