// SPDX-License-Identifier: MIT
#include "cli/find_skill.h"

#include <vector>

#include <fmt/core.h>

#include "base/text.h"
#include "skills/registry.h"

namespace nsys {

Result<const Skill*> FindSkillOrSuggest(const std::string& name) {
  if (const Skill* skill = FindSkill(name)) {
    return skill;
  }
  std::vector<std::string> names;
  for (const Skill& skill : AllSkills()) {
    names.emplace_back(skill.name);
  }
  const auto nearest = NearestName(name, names);
  Error error{.code = ErrorCode::kSkillNotFound,
              .message = fmt::format("unknown skill '{}'", name),
              .hint = nearest ? fmt::format("did you mean '{}'?", *nearest)
                              : "nsys-ai skill list shows all skills"};
  error.details = {{"skill", name}, {"available_skills", std::move(names)}};
  return error;
}

}  // namespace nsys
