// SPDX-License-Identifier: MIT
// A folder of custom skills, one Markdown file each: read it, add to it, remove from it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "query/sql_skill.h"

namespace nsys {

// Names that custom skills may not have.
using BuiltinNames = std::vector<std::string>;

class CustomSkills {
 public:
  CustomSkills() = default;

  // The skills of the *.md files in `folder`, in byte order of the file names. What cannot be used
  // is left out with a warning: files that do not parse, names of built-in skills, second files of
  // one name, the folder itself.
  static CustomSkills Load(const std::string& folder, const BuiltinNames& builtins,
                           const std::shared_ptr<const CaptureAccess>& capture);

  const std::vector<std::unique_ptr<SqlSkill>>& skills() const { return skills_; }
  const SqlSkill* Find(std::string_view name) const;
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  void Add(const std::string& path, const BuiltinNames& builtins,
           const std::shared_ptr<const CaptureAccess>& capture);

  std::vector<std::unique_ptr<SqlSkill>> skills_;
  std::vector<std::string> warnings_;
};

// The skill in the file at `path`. Errors name the file and the line.
Result<std::unique_ptr<SqlSkill>> ReadSkillFile(const std::string& path,
                                                std::shared_ptr<const CaptureAccess> capture);

// Writes the file of `skill`, byte for byte, as <folder>/<name>.md, whole or not at all; gives that
// path. Makes the folder if need be. Refuses names of built-in skills, and of custom ones unless
// `replace`.
Result<std::string> AddSkillFile(const SqlSkill& skill, const std::string& folder,
                                 const BuiltinNames& builtins, bool replace);

// Removes <folder>/<name>.md, a symbolic link itself rather than its target; gives that path.
Result<std::string> RemoveSkillFile(const std::string& name, const std::string& folder,
                                    const BuiltinNames& builtins);

}  // namespace nsys
