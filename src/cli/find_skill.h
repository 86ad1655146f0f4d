// SPDX-License-Identifier: MIT
// Skills by name, for all commands that take one.
#pragma once

#include <string>

#include "analysis/skill.h"
#include "base/result.h"

namespace nsys {

// The skill of that name, or an error that lists all names and suggests the nearest.
Result<const Skill*> FindSkillOrSuggest(const std::string& name);

}  // namespace nsys
