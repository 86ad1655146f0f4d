// SPDX-License-Identifier: MIT
#include "cli/find_skill.h"

#include <algorithm>
#include <cstdlib>

#include <fmt/core.h>

#include "base/text.h"
#include "cli/warning.h"
#include "skills/registry.h"

namespace nsys {

std::optional<std::string> SkillsFolder(const std::optional<std::string>& option) {
  if (option) {
    return option;
  }
  const char* variable = std::getenv("NSYS_AI_CUSTOM_SKILLS_DIR");
  return variable != nullptr && *variable != '\0' ? std::optional<std::string>(variable)
                                                  : std::nullopt;
}

BuiltinNames BuiltinSkillNames() {
  BuiltinNames names;
  for (const Skill& skill : AllSkills()) {
    names.emplace_back(skill.name);
  }
  return names;
}

SkillSet::SkillSet(const std::optional<std::string>& skills_dir) {
  if (const auto folder = SkillsFolder(skills_dir)) {
    custom_ = CustomSkills::Load(*folder, BuiltinSkillNames(), capture_);
    for (const std::string& warning : custom_.warnings()) {
      Warn(warning);
    }
  }
  for (const Skill& skill : AllSkills()) {
    all_.push_back(&skill);
  }
  for (const auto& skill : custom_.skills()) {
    all_.push_back(&skill->skill());
  }
  std::sort(all_.begin(), all_.end(),
            [](const Skill* a, const Skill* b) { return a->name < b->name; });
}

const Skill* SkillSet::Find(std::string_view name) const {
  const auto at = std::find_if(all_.begin(), all_.end(),
                               [&](const Skill* skill) { return skill->name == name; });
  return at == all_.end() ? nullptr : *at;
}

Result<const Skill*> SkillSet::FindOrSuggest(const std::string& name) const {
  if (const Skill* skill = Find(name)) {
    return skill;
  }
  std::vector<std::string> names;
  for (const Skill* skill : all_) {
    names.emplace_back(skill->name);
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
