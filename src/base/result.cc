// SPDX-License-Identifier: MIT
#include "base/result.h"

namespace nsys {

std::string_view ErrorCodeName(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
      return "USAGE_ERROR";
    case ErrorCode::kTrimOutOfRange:
      return "TRIM_OUT_OF_RANGE";
    case ErrorCode::kProfile:
      return "PROFILE_ERROR";
    case ErrorCode::kProfileNotFound:
      return "PROFILE_NOT_FOUND";
    case ErrorCode::kSchema:
      return "SCHEMA_ERROR";
    case ErrorCode::kExport:
      return "EXPORT_ERROR";
    case ErrorCode::kExportToolMissing:
      return "EXPORT_TOOL_MISSING";
    case ErrorCode::kSkillNotFound:
      return "SKILL_NOT_FOUND";
    case ErrorCode::kSkillParameter:
      return "SKILL_PARAMETER_REQUIRED";
    case ErrorCode::kSkillExecution:
      return "SKILL_EXECUTION_ERROR";
    case ErrorCode::kSkill:
      return "SKILL_ERROR";
    case ErrorCode::kSql:
      return "SQL_ERROR";
    case ErrorCode::kInterrupted:
      return "INTERRUPTED";
    case ErrorCode::kOutput:
      return "NSYS_AI_ERROR";
  }
  return "NSYS_AI_ERROR";
}

int ExitStatus(ErrorCode code) {
  switch (code) {
    case ErrorCode::kUsage:
    case ErrorCode::kTrimOutOfRange:
    case ErrorCode::kSkillNotFound:
    case ErrorCode::kSkillParameter:
      return 2;
    case ErrorCode::kInterrupted:
      return 130;
    default:
      return 1;
  }
}

}  // namespace nsys
