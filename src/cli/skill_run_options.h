// SPDX-License-Identifier: MIT
// The commands that run skills: skill run, skill run-all.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include "cli/command_line.h"

namespace nsys {

// Words as typed; every conversion is ours, so that every error names the word.
struct SkillRunWords {
  std::string format = "text";
  std::string name;
  std::string profile;
  std::vector<std::string> params;
  std::vector<std::string> trim;
  std::optional<std::string> iteration;
  std::optional<std::string> marker;
  std::optional<std::string> max_rows;
  std::optional<std::string> device;
  std::optional<std::string> output;
  std::optional<std::string> threads;
  std::optional<std::string> reader;
  std::optional<std::string> only;
  bool compact = false;
  bool no_cache = false;
};

class SkillRunCommands {
 public:
  // Adds the two commands to `skill`.
  explicit SkillRunCommands(CLI::App& skill);

  CLI::App* run() const { return run_; }
  CLI::App* run_all() const { return run_all_; }

  // The request of the one that was given.
  Result<Request> ToRequest(const std::optional<std::string>& skills_dir) const;

 private:
  CLI::App* run_;
  CLI::App* run_all_;
  SkillRunWords words_;  // of the one that was given
};

}  // namespace nsys
