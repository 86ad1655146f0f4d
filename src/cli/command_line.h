// SPDX-License-Identifier: MIT
// The command line as a value: what was asked for, checked as far as it can be without a capture.
#pragma once

#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "analysis/params.h"
#include "analysis/window.h"
#include "base/json.h"
#include "base/result.h"
#include "cli/convert_options.h"
#include "cli/sql_options.h"
#include "ingest/sqlite_pages.h"

namespace nsys {

enum class OutputFormat { kText, kJson, kJsonLines, kCsv };

struct HelpRequest {
  std::string text;
  int exit_status = 0;  // 0 when help was asked for, 2 when a command is missing
};

// `skills_dir`: the folder of custom skills as the option --skills-dir names it.
struct SkillListRequest {
  OutputFormat format = OutputFormat::kText;
  std::optional<std::string> skills_dir;
};

struct SkillInfoRequest {
  std::string name;
  OutputFormat format = OutputFormat::kJson;
  std::optional<std::string> skills_dir;
};

struct SkillRunRequest {
  std::string name;
  std::string profile;
  OutputFormat format = OutputFormat::kText;
  JsonLayout layout = JsonLayout::kIndented;
  std::vector<GivenParam> params;
  std::optional<Window> window;
  std::optional<int64_t> iteration;
  std::string marker;         // what opens an iteration
  bool marker_given = false;  // by the user, not by default
  std::optional<int64_t> max_rows;
  std::string output;                  // a file; empty: standard output
  int threads = 0;                     // 0: as many as the machine has
  std::optional<SqliteReader> reader;  // told of when given
  std::optional<std::string> skills_dir;
};

// `run.name` is empty; `run.params` are for every skill that takes them.
struct SkillRunAllRequest {
  SkillRunRequest run;
  std::vector<std::string> only;  // names; empty: every skill
};

struct SkillAddRequest {
  std::string file;
  std::string profile;  // a capture to check the statement on; empty: none
  bool replace = false;
  std::optional<std::string> skills_dir;
};

struct SkillRemoveRequest {
  std::string name;
  std::optional<std::string> skills_dir;
};

struct SkillSaveRequest {
  std::string name;
  std::string output;
  std::optional<std::string> skills_dir;
};

using Request = std::variant<HelpRequest, SkillListRequest, SkillInfoRequest, SkillRunRequest,
                             SkillRunAllRequest, SkillAddRequest, SkillRemoveRequest,
                             SkillSaveRequest, SqlRequest, ConvertRequest>;

// The request that `arguments` (without the program's name) make, or a usage error that names the
// word at fault and, where one is near, the word that was probably meant.
Result<Request> ParseCommandLine(const std::vector<std::string>& arguments);

// Whether errors are wanted as JSON: --format json or jsonl somewhere (of convert: --summary json),
// or NSYS_AI_AGENT=1.
bool WantsJsonErrors(const std::vector<std::string>& arguments);

}  // namespace nsys
