// SPDX-License-Identifier: MIT
// The commands that handle files of custom skills: skill add, skill remove, skill save.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"

namespace nsys {

class SkillFilesCommands {
 public:
  // Adds the three commands to `skill`.
  explicit SkillFilesCommands(CLI::App& skill);

  CLI::App* add() const { return add_; }
  CLI::App* remove() const { return remove_; }
  CLI::App* save() const { return save_; }

  // The request of the one that was given; nothing when none was.
  Result<std::optional<Request>> ToRequest(const std::optional<std::string>& skills_dir) const;

 private:
  CLI::App* add_;
  CLI::App* remove_;
  CLI::App* save_;
  std::string file_;
  std::string name_;
  std::string output_;
  std::string profile_;
  bool force_ = false;
};

// --skills-dir, which may stand before the sub-command or behind it, but once.
class SkillsDirOption {
 public:
  void AddTo(CLI::App& skill);  // behind all sub-commands
  Result<std::optional<std::string>> Value() const;

 private:
  std::optional<std::string> before_;
  std::optional<std::string> behind_;
};

}  // namespace nsys
