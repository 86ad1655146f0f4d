// SPDX-License-Identifier: MIT
// Skills by name, built-in and custom, for all commands that take one.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/skill.h"
#include "base/result.h"
#include "query/custom_skills.h"

namespace nsys {

// The folder of custom skills: that of --skills-dir, else of NSYS_AI_CUSTOM_SKILLS_DIR, else none.
std::optional<std::string> SkillsFolder(const std::optional<std::string>& option);

// The names of all built-in skills.
BuiltinNames BuiltinSkillNames();

class SkillSet {
 public:
  // The built-in skills and, with a folder, those in it. Warns about what cannot be used.
  explicit SkillSet(const std::optional<std::string>& skills_dir);

  // In byte order of their names.
  const std::vector<const Skill*>& all() const { return all_; }
  // The skill of that name, or null.
  const Skill* Find(std::string_view name) const;
  // The skill of that name, or an error that lists all names and suggests the nearest.
  Result<const Skill*> FindOrSuggest(const std::string& name) const;
  // The custom skill of that name, or null.
  const SqlSkill* FindCustom(std::string_view name) const { return custom_.Find(name); }

  // The capture that custom skills run on.
  void UseCapture(CaptureAccess capture) { *capture_ = std::move(capture); }

 private:
  std::shared_ptr<CaptureAccess> capture_ = std::make_shared<CaptureAccess>();
  CustomSkills custom_;
  std::vector<const Skill*> all_;
};

}  // namespace nsys
