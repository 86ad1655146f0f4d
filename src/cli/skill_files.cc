// SPDX-License-Identifier: MIT
// nsys-ai skill add, skill remove, skill save.
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <system_error>

#include <fmt/core.h>

#include "base/file.h"
#include "cli/commands.h"
#include "cli/find_skill.h"
#include "cli/warning.h"
#include "ingest/capture.h"
#include "ingest/load.h"
#include "query/custom_skills.h"
#include "query/sql_template.h"

namespace nsys {
namespace {

Result<std::string> NeededFolder(const std::optional<std::string>& option) {
  const auto folder = SkillsFolder(option);
  if (folder) {
    return *folder;
  }
  return Error{.code = ErrorCode::kUsage,
               .message = "no folder of custom skills is given",
               .hint = "give --skills-dir DIR, or set NSYS_AI_CUSTOM_SKILLS_DIR"};
}

// The tables of `skill` and the statement itself, on a capture.
Status CheckOnCapture(const SqlSkill& skill, const std::string& profile) {
  NSYS_ASSIGN(const std::unique_ptr<TableSource> source, OpenCapture(profile, 1));
  NSYS_ASSIGN(const Trace trace, LoadTrace(*source, {}, {.threads = 1, .progress = {}}));
  for (const TableId table : skill.skill().needs) {
    if (!trace.schema.Has(table)) {
      Warn(fmt::format("{} has no {} table: on it the skill will abstain", profile,
                       CanonicalName(table)));
      return {};
    }
  }
  NSYS_ASSIGN(const std::unique_ptr<SqlSession> session,
              SqlSession::Open(profile, skill.source().engine, 1));
  return skill.CheckOn(trace.schema, *session);
}

// The parameters that the statement reads, as the file declares them.
Result<std::vector<Param>> ParamsOf(const Skill& skill) {
  NSYS_ASSIGN(const SqlTemplate sql,
              SqlTemplate::Parse(skill.sql, SqlEngine::kSqlite, skill.params, 1));
  std::vector<Param> params;
  for (const Param& param : skill.params) {
    if (sql.UsesValue(param.name)) {
      params.push_back(param);
    }
  }
  return params;
}

// A built-in skill as a custom one; of another name, since those of built-in skills are taken.
Result<MarkdownSkill> MarkdownOf(const Skill& skill) {
  if (skill.sql.empty()) {
    return Error{
        .code = ErrorCode::kSkill,
        .message = fmt::format("'{}' cannot be saved: it is computed in code, and no SQL statement "
                               "gives the same rows",
                               skill.name),
        .hint =
            "run it with nsys-ai skill run; to write a skill of your own see "
            "docs/skill-template.md"};
  }
  MarkdownSkill saved{.name = fmt::format("{}_sql", skill.name),
                      .title = std::string(skill.title),
                      .description = std::string(skill.doc),
                      .category = std::string(skill.category_name())};
  NSYS_ASSIGN(saved.params, ParamsOf(skill));
  for (const TableId table : skill.needs) {
    saved.tables.emplace_back(CanonicalName(table));
  }
  saved.sql = skill.sql;
  return saved;
}

Status MakeParentFolder(const std::string& path) {
  const std::filesystem::path parent = std::filesystem::path(path).parent_path();
  std::error_code error;
  if (!parent.empty()) {
    std::filesystem::create_directories(parent, error);
  }
  return error ? Status(Error{.code = ErrorCode::kOutput,
                              .message = fmt::format("cannot make the folder {}: {}",
                                                     parent.string(), error.message()),
                              .hint = "check the path and its permissions"})
               : Status();
}

}  // namespace

Status RunSkillAdd(const SkillAddRequest& request) {
  NSYS_ASSIGN(const std::string folder, NeededFolder(request.skills_dir));
  NSYS_ASSIGN(const std::unique_ptr<SqlSkill> skill, ReadSkillFile(request.file, nullptr));
  if (Status status = skill->Check(); !status.ok()) {
    Error error = std::move(status).TakeError();
    error.message = fmt::format("{}, {}", request.file, error.message);
    return error;
  }
  if (!request.profile.empty()) {
    NSYS_TRY(CheckOnCapture(*skill, request.profile));
  }
  NSYS_ASSIGN(const std::string path,
              AddSkillFile(*skill, folder, BuiltinSkillNames(), request.replace));
  return WriteStdout(fmt::format("Added skill '{}' → {}\n", skill->source().name, path));
}

Status RunSkillRemove(const SkillRemoveRequest& request) {
  NSYS_TRY(CheckSkillName(request.name));
  NSYS_ASSIGN(const std::string folder, NeededFolder(request.skills_dir));
  NSYS_ASSIGN(const std::string path, RemoveSkillFile(request.name, folder, BuiltinSkillNames()));
  return WriteStdout(fmt::format("Removed skill '{}' ({})\n", request.name, path));
}

Status RunSkillSave(const SkillSaveRequest& request) {
  const SkillSet skills(request.skills_dir);
  NSYS_ASSIGN(const Skill* skill, skills.FindOrSuggest(request.name));
  const SqlSkill* custom = skills.FindCustom(request.name);
  MarkdownSkill saved;
  if (custom != nullptr) {
    saved = custom->source();
  } else {
    NSYS_ASSIGN(saved, MarkdownOf(*skill));
  }
  NSYS_TRY(MakeParentFolder(request.output));
  NSYS_TRY(WriteFileAtomically(request.output, ToMarkdown(saved)));
  NSYS_TRY(WriteStdout(fmt::format("Saved skill '{}' → {}\n", saved.name, request.output)));
  if (custom == nullptr) {
    std::fputs(fmt::format("nsys-ai: note: the skill in it is called '{}', since the name of a "
                           "built-in skill cannot be used again\n",
                           saved.name)
                   .c_str(),
               stderr);
  }
  return {};
}

}  // namespace nsys
