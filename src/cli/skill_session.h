// SPDX-License-Identifier: MIT
// A capture loaded once, and the skills that run on it: what `skill run` and `skill run-all` share.
#pragma once

#include <memory>

#include "analysis/params.h"
#include "analysis/skill.h"
#include "analysis/views.h"
#include "base/result.h"
#include "cli/command_line.h"
#include "cli/find_skill.h"
#include "trace/trace.h"

namespace nsys {

class SqlSessions;

class SkillSession {
 public:
  // Nothing is loaded. `request` has to outlive the session; `skills` run on its capture.
  SkillSession(const SkillRunRequest& request, SkillSet& skills);
  ~SkillSession();
  SkillSession(const SkillSession&) = delete;
  SkillSession& operator=(const SkillSession&) = delete;

  // What has to be loaded to run `skill` in the window or iteration asked for.
  Reads ReadsOf(const Skill& skill, const Params& params) const;

  // Loads the capture, with progress and warnings on standard error. Once, before any answer.
  Status Load(const Reads& reads);

  // What `skill` says, in the window or iteration asked for; a usage error when the capture has no
  // such window or iteration. What `skill` reads has to be loaded.
  Result<Answer> AnswerOf(const Skill& skill, const Params& params);

 private:
  const SkillRunRequest& request_;
  std::unique_ptr<SqlSessions> sql_sessions_;
  Trace trace_;
  std::unique_ptr<Views> views_;  // of trace_
  bool warned_ = false;           // that pauses stand in for a marker
};

// `answer` in the format asked for.
std::string Render(const SkillRunRequest& request, const Skill& skill, const Answer& answer);

// `text` to standard output or to the file asked for.
Status Deliver(const SkillRunRequest& request, const std::string& text);

}  // namespace nsys
