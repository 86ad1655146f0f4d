// SPDX-License-Identifier: MIT
// From words on a command line to the parameters of a skill.
#pragma once

#include <span>
#include <string>
#include <utility>

#include "analysis/skill.h"

namespace nsys {

using GivenParam = std::pair<std::string, std::string>;  // KEY, VALUE as typed

// The parameters of `skill` from what was given, with defaults for the rest. Unknown, repeated,
// ill-typed and missing parameters are usage errors that name the parameter and what it takes.
Result<Params> BindParams(const Skill& skill, std::span<const GivenParam> given);

}  // namespace nsys
