// SPDX-License-Identifier: MIT
#include "cli/skill_files_options.h"

namespace nsys {

SkillFilesCommands::SkillFilesCommands(CLI::App& skill)
    : add_(skill.add_subcommand("add", "Add a custom skill from a Markdown file")),
      remove_(skill.add_subcommand("remove", "Remove a custom skill")),
      save_(skill.add_subcommand("save", "Write a skill to a Markdown file")) {
  add_->add_option("FILE", file_, "The Markdown file (see docs/skill-template.md)")->required();
  add_->add_flag("--force", force_, "Replace a custom skill of that name");
  add_->add_option("--profile", profile_, "A capture to check the statement on")
      ->option_text("PROFILE");
  remove_->add_option("NAME", name_, "The custom skill")->required();
  save_->add_option("NAME", name_, "The skill")->required();
  save_->add_option("-o,--output", output_, "The file to write")->required()->option_text("FILE");
  for (CLI::App* command : {add_, remove_, save_}) {
    command->allow_extras();
  }
}

Result<std::optional<Request>> SkillFilesCommands::ToRequest(
    const std::optional<std::string>& skills_dir) const {
  if (add_->parsed()) {
    return std::optional(Request(SkillAddRequest{
        .file = file_, .profile = profile_, .replace = force_, .skills_dir = skills_dir}));
  }
  if (remove_->parsed()) {
    return std::optional(Request(SkillRemoveRequest{.name = name_, .skills_dir = skills_dir}));
  }
  if (!save_->parsed()) {
    return std::optional<Request>();
  }
  if (output_.empty()) {
    return Error{.code = ErrorCode::kUsage,
                 .message = "--output takes the name of a file, not ''",
                 .hint = "for example: -o my_skill.md"};
  }
  return std::optional(
      Request(SkillSaveRequest{.name = name_, .output = output_, .skills_dir = skills_dir}));
}

void SkillsDirOption::AddTo(CLI::App& skill) {
  constexpr const char* kMeaning =
      "Folder of custom skills (default: $NSYS_AI_CUSTOM_SKILLS_DIR, else none)";
  skill.add_option("--skills-dir", before_, kMeaning)->option_text("DIR");
  for (CLI::App* command : skill.get_subcommands([](const CLI::App*) { return true; })) {
    command->add_option("--skills-dir", behind_, kMeaning)->option_text("DIR");
  }
}

Result<std::optional<std::string>> SkillsDirOption::Value() const {
  const std::optional<std::string>& value = before_ ? before_ : behind_;
  if (before_ && behind_) {
    return Error{.code = ErrorCode::kUsage,
                 .message = "--skills-dir is given twice",
                 .hint = "give it once, before the sub-command or behind it"};
  }
  if (value && value->empty()) {
    return Error{.code = ErrorCode::kUsage,
                 .message = "--skills-dir takes the name of a folder, not ''",
                 .hint = "for example: --skills-dir ~/skills"};
  }
  return value;
}

}  // namespace nsys
