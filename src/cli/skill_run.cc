// SPDX-License-Identifier: MIT
// nsys-ai skill run: bind, open, load, run, print.
#include <fmt/core.h>

#include "analysis/params.h"
#include "cli/commands.h"
#include "cli/find_skill.h"
#include "cli/output_guard.h"
#include "cli/skill_session.h"
#include "cli/warning.h"

namespace nsys {
namespace {

// The skill's parameters. Without --iteration, --marker is short for the skill's own parameter.
Result<Params> ParamsOf(const SkillRunRequest& request, const Skill& skill) {
  std::vector<GivenParam> given = request.params;
  if (request.marker_given && !request.iteration) {
    if (skill.FindParam("marker") == nullptr) {
      return Error{.code = ErrorCode::kUsage,
                   .message = fmt::format("--marker says which ranges open an iteration, but skill "
                                          "'{}' was asked for none",
                                          skill.name),
                   .hint = "add --iteration N"};
    }
    given.emplace_back("marker", request.marker);
  }
  return BindParams(skill, given);
}

// What a table without rows cannot say.
void WarnOfNoAnswer(const Answer& answer) {
  if (answer.abstention) {
    Warn(answer.abstention->reason);
  } else if (answer.problem) {
    Warn("the arguments fit no part of this capture; --format json says why");
  }
}

}  // namespace

Status RunSkillRun(const SkillRunRequest& request) {
  SkillSet skills(request.skills_dir);
  if (skills.Find(request.name) == nullptr && skills.Find(request.profile) != nullptr) {
    return Error{.code = ErrorCode::kUsage,
                 .message = fmt::format("'{}' stands where the capture belongs", request.profile),
                 .hint = fmt::format("the skill comes first: nsys-ai skill run {} {}",
                                     request.profile, request.name)};
  }
  NSYS_ASSIGN(const Skill* skill, skills.FindOrSuggest(request.name));
  const bool no_capture = request.profile.empty() || request.profile == "-";
  if (request.profile.empty() && skill->needs_capture) {
    return Error{.code = ErrorCode::kUsage,
                 .message = fmt::format("skill '{}' needs a capture", skill->name),
                 .hint = fmt::format("nsys-ai skill run {} PROFILE", skill->name)};
  }
  NSYS_ASSIGN(const Params params, ParamsOf(request, *skill));
  NSYS_TRY(RefuseToOverwrite(request.output, request.profile));
  SkillSession session(request, skills);
  if (skill->needs_capture || !no_capture) {
    NSYS_TRY(session.Load(session.ReadsOf(*skill, params)));
  }
  NSYS_ASSIGN(const Answer answer, session.AnswerOf(*skill, params));
  if (request.format == OutputFormat::kCsv) {
    WarnOfNoAnswer(answer);
  }
  return Deliver(request, Render(request, *skill, answer));
}

}  // namespace nsys
