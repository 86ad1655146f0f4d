// SPDX-License-Identifier: MIT
// A custom skill as a Markdown file: a heading with its name, one section per part, and the SQL in
// a fence. docs/skill-template.md explains the format to users.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/skill.h"
#include "base/result.h"
#include "query/sql_session.h"

namespace nsys {

inline constexpr size_t kMaxSkillFileBytes = 256 * 1024;

struct MarkdownSkill {
  std::string name;
  std::string title;
  std::string description;
  std::string category;
  std::vector<Param> params;
  std::vector<std::string> tables;  // that must be present
  SqlEngine engine = SqlEngine::kSqlite;
  std::string sql;
  int sql_line = 1;        // of the file, on which `sql` begins
  std::string whole_text;  // of the file, as it was read
};

// An error unless `name` is [a-z][a-z0-9_]* of at most 64 bytes; its hint is a name that would do.
Status CheckSkillName(std::string_view name);

// The skill in `text`, or an error of code kSkill that begins with "line N: ".
Result<MarkdownSkill> ParseMarkdownSkill(std::string_view text);

// The skill as a file that ParseMarkdownSkill reads as the same skill.
std::string ToMarkdown(const MarkdownSkill& skill);

// An error of code kSkill about a line of a file.
Error SkillFileError(int line, std::string_view message, std::string hint);

}  // namespace nsys
