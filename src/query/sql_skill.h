// SPDX-License-Identifier: MIT
// A custom skill as a Skill like any other: the same runner, parameters, windows and formats.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "analysis/skill.h"
#include "base/result.h"
#include "query/markdown_skill.h"
#include "query/sql_session.h"
#include "query/sql_template.h"

namespace nsys {

// The capture that custom skills run on. The command gives it before it runs one.
struct CaptureAccess {
  std::string path;
  // A session of that engine, opened when it is first asked for.
  std::function<Result<SqlSession*>(SqlEngine engine)> session;
};

// Owns a custom skill and the texts that its Skill points to.
class SqlSkill {
 public:
  // `capture` has to outlive the skill; it is looked at when the skill runs.
  static Result<std::unique_ptr<SqlSkill>> Make(MarkdownSkill source, std::string file,
                                                std::shared_ptr<const CaptureAccess> capture);
  SqlSkill(const SqlSkill&) = delete;
  SqlSkill& operator=(const SqlSkill&) = delete;

  const Skill& skill() const { return skill_; }
  const MarkdownSkill& source() const { return source_; }
  const std::string& file() const { return file_; }

  // Prepares the statement without a capture, in all forms that it can take.
  Status Check() const;
  // Prepares the statement on a capture, parameters without values included.
  Status CheckOn(const Schema& schema, SqlSession& session) const;

 private:
  SqlSkill(MarkdownSkill source, std::string file, SqlTemplate sql,
           std::shared_ptr<const CaptureAccess> capture);
  Result<Answer> Run(const Query& query) const;
  // Nothing for a name that stands for no value.
  std::optional<Value> ValueOf(const Query& query, const std::string& name) const;
  Result<Answer> AnswerTo(Error error) const;

  MarkdownSkill source_;
  std::string file_;
  SqlTemplate sql_;
  std::shared_ptr<const CaptureAccess> capture_;
  Skill skill_;
};

}  // namespace nsys
