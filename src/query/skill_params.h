// SPDX-License-Identifier: MIT
// The parameters section of a custom skill, one parameter a line:
//
//   - limit (int, default 15, min 0): largest number of rows
//   - name (str, default "a, b"): text
//   - peak (float, required): a number
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analysis/skill.h"
#include "base/result.h"

namespace nsys {

// Names that a parameter may not have, because placeholders of the program have them.
bool IsReservedPlaceholder(std::string_view name);

// The parameter on one line, without its list mark, or what is wrong with the line.
Result<Param> ParseParamLine(std::string_view text, int line);

// The line of `param`, without the line end.
std::string ParamLine(const Param& param);

}  // namespace nsys
