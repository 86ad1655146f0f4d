// SPDX-License-Identifier: MIT
// JSON out: valid UTF-8-free ASCII, keys in their order, integers unquoted, reals in shortest
// round-trip form, never NaN or Infinity. The same value always gives the same bytes.
#pragma once

#include <string>
#include <string_view>

#include "base/value.h"

namespace nsys {

enum class JsonLayout { kIndented, kOneLine };  // two blanks a level, or everything on one line

// `value` as JSON text without a final newline. A real that is not finite becomes null.
std::string ToJson(const Value& value, JsonLayout layout);

// Appends `text` as a quoted JSON string: non-ASCII as \uXXXX (surrogate pairs above U+FFFF),
// bytes that are not UTF-8 as U+FFFD.
void AppendJsonString(std::string& out, std::string_view text);

}  // namespace nsys
