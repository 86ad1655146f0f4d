// SPDX-License-Identifier: MIT
// One function per command. Each writes its result to standard output and returns; warnings and
// progress go to standard error.
#pragma once

#include "base/result.h"
#include "cli/command_line.h"

namespace nsys {

Status RunSkillList(const SkillListRequest& request);
Status RunSkillInfo(const SkillInfoRequest& request);
Status RunSkillRun(const SkillRunRequest& request);
// Gives the exit status: a skill that fails does not stop the others.
Result<int> RunSkillRunAll(const SkillRunAllRequest& request);
Status RunSql(const SqlRequest& request);
// Gives the exit status: with several inputs, errors of some are told along the way.
Result<int> RunConvert(const ConvertRequest& request);
Status RunSkillAdd(const SkillAddRequest& request);
Status RunSkillRemove(const SkillRemoveRequest& request);
Status RunSkillSave(const SkillSaveRequest& request);

}  // namespace nsys
