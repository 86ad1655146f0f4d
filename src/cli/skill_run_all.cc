// SPDX-License-Identifier: MIT
// nsys-ai skill run-all: the capture is loaded once, and what skills share is computed once.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "analysis/params.h"
#include "cli/commands.h"
#include "cli/find_skill.h"
#include "cli/output_guard.h"
#include "cli/skill_session.h"
#include "cli/usage_error.h"
#include "output/rows_json.h"

namespace nsys {
namespace {

constexpr int kUsageStatus = 2;

struct BoundSkill {
  const Skill* skill;
  Params params;
};

struct LeftOutSkill {
  const Skill* skill;
  std::string reason;
};

struct Plan {
  std::vector<BoundSkill> run;
  std::vector<LeftOutSkill> left_out;
};

Result<std::vector<const Skill*>> ChosenSkills(const SkillRunAllRequest& request,
                                               const SkillSet& skills) {
  if (request.only.empty()) {
    return skills.all();
  }
  std::vector<const Skill*> chosen;
  for (const std::string& name : request.only) {
    NSYS_ASSIGN(const Skill* skill, skills.FindOrSuggest(name));
    if (std::find(chosen.begin(), chosen.end(), skill) == chosen.end()) {
      chosen.push_back(skill);
    }
  }
  return chosen;
}

// Those of `given` that `skill` takes.
std::vector<GivenParam> ParamsFor(const Skill& skill, const std::vector<GivenParam>& given) {
  std::vector<GivenParam> taken;
  std::copy_if(given.begin(), given.end(), std::back_inserter(taken),
               [&](const GivenParam& param) { return skill.FindParam(param.first) != nullptr; });
  return taken;
}

// The required parameters that were not given.
std::vector<std::string> LackingParams(const Skill& skill, const std::vector<GivenParam>& given) {
  std::vector<std::string> lacking;
  for (const Param& param : skill.params) {
    const bool is_given = std::any_of(
        given.begin(), given.end(), [&](const GivenParam& one) { return one.first == param.name; });
    if (param.required && !is_given) {
      lacking.push_back(param.name);
    }
  }
  return lacking;
}

// "needs -p name=VALUE -p theoretical_flops=VALUE"
std::string NeedsText(const std::vector<std::string>& lacking) {
  std::string text = "needs";
  for (const std::string& name : lacking) {
    text += fmt::format(" -p {}=VALUE", name);
  }
  return text;
}

Status CheckParamsAreTaken(const std::vector<const Skill*>& skills,
                           const std::vector<GivenParam>& given) {
  for (const auto& [name, value] : given) {
    const bool taken = std::any_of(skills.begin(), skills.end(), [&](const Skill* skill) {
      return skill->FindParam(name) != nullptr;
    });
    if (!taken) {
      return UsageError(fmt::format("none of these skills takes the parameter '{}'", name),
                        "nsys-ai skill list --format json shows all parameters");
    }
  }
  return {};
}

Result<Plan> MakePlan(const SkillRunAllRequest& request, const SkillSet& skills) {
  NSYS_ASSIGN(const std::vector<const Skill*> chosen, ChosenSkills(request, skills));
  std::vector<GivenParam> given = request.run.params;
  if (request.run.marker_given && !request.run.iteration) {
    given.emplace_back("marker", request.run.marker);
  }
  NSYS_TRY(CheckParamsAreTaken(chosen, given));
  Plan plan;
  for (const Skill* skill : chosen) {
    const std::vector<GivenParam> own = ParamsFor(*skill, given);
    if (const auto lacking = LackingParams(*skill, own); !lacking.empty()) {
      plan.left_out.push_back({skill, NeedsText(lacking)});
      continue;
    }
    NSYS_ASSIGN(Params params, BindParams(*skill, own));
    plan.run.push_back({skill, std::move(params)});
  }
  if (plan.run.empty()) {
    const LeftOutSkill& first = plan.left_out.front();
    return UsageError(fmt::format("nothing to run: {} {}", first.skill->name, first.reason),
                      fmt::format("see nsys-ai skill info {}", first.skill->name));
  }
  return plan;
}

// Collects the answers in the format asked for.
class Report {
 public:
  explicit Report(const SkillRunRequest& request) : request_(request) {}

  void Add(const Skill& skill, const Answer& answer) {
    if (request_.format == OutputFormat::kText) {
      AddSection(skill, Render(request_, skill, answer));
    } else {
      AddEntry({{"skill", skill.name}, {"rows", RowsToList(answer, request_.max_rows)}});
    }
  }

  void AddError(const Skill& skill, const Error& error) {
    if (request_.format == OutputFormat::kText) {
      AddSection(skill, fmt::format("Error [{}]: {}\n", ErrorCodeName(error.code), error.message));
    } else {
      AddEntry({{"skill", skill.name}, {"error", ErrorObject(error)}});
    }
  }

  void AddLeftOut(const LeftOutSkill& left_out) {
    if (request_.format == OutputFormat::kText) {
      AddSection(*left_out.skill, fmt::format("Not run: {}.\n", left_out.reason));
    } else {
      AddEntry({{"skill", left_out.skill->name}, {"not_run", left_out.reason}});
    }
  }

  std::string Text() && {
    if (request_.format != OutputFormat::kJson) {
      return std::move(text_);
    }
    const Object document{{"profile", request_.profile}, {"skills", std::move(entries_)}};
    return ToJson(document, request_.layout) + "\n";
  }

 private:
  void AddSection(const Skill& skill, const std::string& body) {
    text_ += fmt::format("{}# {}\n\n{}", text_.empty() ? "" : "\n", skill.name, body);
  }

  void AddEntry(Object entry) {
    if (request_.format == OutputFormat::kJsonLines) {
      text_ += ToJson(entry, JsonLayout::kOneLine) + "\n";
    } else {
      entries_.emplace_back(std::move(entry));
    }
  }

  const SkillRunRequest& request_;
  std::string text_;
  List entries_;
};

}  // namespace

Result<int> RunSkillRunAll(const SkillRunAllRequest& request) {
  SkillSet skills(request.run.skills_dir);
  NSYS_ASSIGN(const Plan plan, MakePlan(request, skills));
  NSYS_TRY(RefuseToOverwrite(request.run.output, request.run.profile));
  SkillSession session(request.run, skills);
  Reads reads;
  for (const BoundSkill& bound : plan.run) {
    reads.Add(session.ReadsOf(*bound.skill, bound.params));
  }
  NSYS_TRY(session.Load(reads));
  Report report(request.run);
  int status = 0;
  for (const BoundSkill& bound : plan.run) {
    Result<Answer> answer = session.AnswerOf(*bound.skill, bound.params);
    if (answer.ok()) {
      report.Add(*bound.skill, answer.value());
    } else if (ExitStatus(answer.error().code) == kUsageStatus) {
      return answer.error();  // of the window: true for every skill
    } else {
      report.AddError(*bound.skill, answer.error());
      status = ExitStatus(answer.error().code);
    }
  }
  for (const LeftOutSkill& left_out : plan.left_out) {
    report.AddLeftOut(left_out);
  }
  NSYS_TRY(Deliver(request.run, std::move(report).Text()));
  return status;
}

}  // namespace nsys
