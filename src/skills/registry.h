// SPDX-License-Identifier: MIT
// All built-in skills. The list is generated from the files of this folder: adding src/skills/x.cc
// with `Skill skill_x()` is the whole of adding a skill.
#pragma once

#include <string_view>
#include <vector>

#include "analysis/skill.h"

namespace nsys {

// In byte order of their names. Built on first use; lives as long as the program.
const std::vector<Skill>& AllSkills();

// The skill of that name, or null.
const Skill* FindSkill(std::string_view name);

}  // namespace nsys
