// SPDX-License-Identifier: MIT
#include "skills/registry.h"

#include <algorithm>

#include "skills/skills.h"

namespace nsys {

const std::vector<Skill>& AllSkills() {
  using MakeSkill = Skill (*)();
  static constexpr MakeSkill kMakers[] = {
#include "skills/skills.inc"
  };
  static const std::vector<Skill> kSkills = [] {
    std::vector<Skill> made;
    for (const MakeSkill make : kMakers) {
      made.push_back(make());
    }
    return made;
  }();
  return kSkills;
}

const Skill* FindSkill(std::string_view name) {
  const auto& skills = AllSkills();
  const auto at = std::find_if(skills.begin(), skills.end(),
                               [&](const Skill& skill) { return skill.name == name; });
  return at == skills.end() ? nullptr : &*at;
}

}  // namespace nsys
