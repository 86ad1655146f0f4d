// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <cstdlib>
#include <cstring>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "base/text.h"
#include "cli/option_values.h"
#include "cli/skill_files_options.h"
#include "cli/skill_run_options.h"
#include "cli/usage_error.h"

namespace nsys {
namespace {

struct Parser {
  CLI::App app{"Answers performance questions about NVIDIA Nsight Systems captures.", "nsys-ai"};
  CLI::App* skill = nullptr;
  CLI::App* list = nullptr;
  CLI::App* info = nullptr;
  CLI::App* sql = nullptr;
  CLI::App* convert = nullptr;
  std::optional<SkillRunCommands> skill_run;
  std::optional<SkillFilesCommands> skill_files;
  SkillsDirOption skills_dir;
  std::string skill_name;  // of info
  std::optional<std::string> list_format;
  std::optional<std::string> info_format;
  SqlOptions sql_options;
  ConvertOptions convert_options;

  Parser();
  Parser(const Parser&) = delete;  // the options point into it
  Parser& operator=(const Parser&) = delete;

  // All commands, outer ones first.
  std::vector<const CLI::App*> Levels() const {
    return {&app,
            skill,
            list,
            info,
            skill_run->run(),
            skill_run->run_all(),
            skill_files->add(),
            skill_files->remove(),
            skill_files->save(),
            sql,
            convert};
  }
};

Parser::Parser() {
  app.set_version_flag("--version", std::string("nsys-ai ") + NSYS_AI_VERSION);
  skill = app.add_subcommand("skill", "List, explain and run analysis skills");
  list = skill->add_subcommand("list", "List all skills");
  info =
      skill->add_subcommand("info", "Explain a skill: what it answers, its parameters and columns");
  skill_run.emplace(*skill);
  skill_files.emplace(*skill);
  skills_dir.AddTo(*skill);
  list->add_option("--format", list_format, "text (default) or json")->option_text("FORMAT");
  info->add_option("NAME", skill_name, "The skill")->required();
  info->add_option("--format", info_format, "json (default) or text")->option_text("FORMAT");
  sql = AddSqlCommand(app, sql_options);
  convert = AddConvertCommand(app, convert_options);
  app.footer("A capture comes from `nsys export --type=sqlite REPORT.nsys-rep`.");
  for (CLI::App* command : {&app, skill, list, info, sql, convert}) {
    command->allow_extras();
  }
}

std::vector<std::string> OptionNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) {
      names.push_back("--" + name);
    }
    for (const std::string& name : option->get_snames()) {
      names.push_back("-" + name);
    }
  }
  return names;
}

std::vector<std::string> CommandNames(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* sub : command.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(sub->get_name());
  }
  return names;
}

// The words that lead to `command`: "nsys-ai skill" for `run`.
std::string ParentsOf(const CLI::App& command) {
  std::string parents;
  for (const CLI::App* parent = command.get_parent(); parent != nullptr;
       parent = parent->get_parent()) {
    parents = parents.empty() ? parent->get_name() : parent->get_name() + " " + parents;
  }
  return parents;
}

std::string HelpOf(const CLI::App& command) { return command.help(ParentsOf(command)); }

std::string HelpCommandOf(const CLI::App& command) {
  const std::string parents = ParentsOf(command);
  return (parents.empty() ? "" : parents + " ") + command.get_name() + " --help";
}

// An error for the first word that `command` could not place, if there is one.
Status CheckExtras(const CLI::App& command) {
  std::vector<std::string> extras = command.remaining();
  std::erase(extras, "--");  // only says that positional arguments follow
  if (extras.empty()) {
    return {};
  }
  const std::string& word = extras.front();
  const bool is_option = word.starts_with("-");
  const std::vector<std::string> known = is_option ? OptionNames(command) : CommandNames(command);
  const auto nearest = NearestName(word, known);
  const char* kind = is_option       ? "unknown option"
                     : known.empty() ? "unexpected argument"
                                     : "unknown command";
  std::string hint =
      nearest ? fmt::format("did you mean '{}'?", *nearest)
              : fmt::format("see {} --help",
                            command.get_name().empty() ? "nsys-ai" : command.get_display_name());
  return UsageError(fmt::format("{} '{}'", kind, word), std::move(hint));
}

// What `skill list` and `skill info` print.
Result<OutputFormat> ParseFormat(const std::string& word) {
  static constexpr std::pair<const char*, OutputFormat> kChoices[] = {
      {"text", OutputFormat::kText}, {"json", OutputFormat::kJson}};
  return Choose("--format", word, kChoices);
}

// The innermost command that the words name.
const CLI::App& LastParsed(const Parser& parser) {
  const CLI::App* last = &parser.app;
  for (const CLI::App* level : parser.Levels()) {
    if (level->parsed()) {
      last = level;
    }
  }
  return *last;
}

Result<Request> ToRequest(const Parser& parser) {
  for (const CLI::App* level : parser.Levels()) {
    if (level == &parser.app || level->parsed()) {
      NSYS_TRY(CheckExtras(*level));
    }
  }
  const CLI::App* command = &LastParsed(parser);
  if (command == &parser.app || command == parser.skill) {
    return Request(HelpRequest{.text = HelpOf(*command), .exit_status = 2});
  }
  NSYS_ASSIGN(const std::optional<std::string> skills_dir, parser.skills_dir.Value());
  NSYS_ASSIGN(std::optional<Request> files_request, parser.skill_files->ToRequest(skills_dir));
  if (files_request) {
    return *std::move(files_request);
  }
  if (command == parser.sql) {
    NSYS_ASSIGN(SqlRequest sql, ToSqlRequest(parser.sql_options));
    return Request(std::move(sql));
  }
  if (command == parser.convert) {
    NSYS_ASSIGN(ConvertRequest convert, ToConvertRequest(parser.convert_options));
    return Request(std::move(convert));
  }
  if (command == parser.list) {
    NSYS_ASSIGN(const OutputFormat format, ParseFormat(parser.list_format.value_or("text")));
    return Request(SkillListRequest{.format = format, .skills_dir = skills_dir});
  }
  if (command == parser.info) {
    NSYS_ASSIGN(const OutputFormat format, ParseFormat(parser.info_format.value_or("json")));
    return Request(
        SkillInfoRequest{.name = parser.skill_name, .format = format, .skills_dir = skills_dir});
  }
  return parser.skill_run->ToRequest(skills_dir);
}

}  // namespace

Result<Request> ParseCommandLine(const std::vector<std::string>& arguments) {
  Parser parser;
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());  // the order CLI11 wants
  try {
    parser.app.parse(std::move(reversed));
  } catch (const CLI::CallForHelp&) {
    return Request(HelpRequest{.text = HelpOf(LastParsed(parser))});
  } catch (const CLI::CallForVersion& version) {
    return Request(HelpRequest{.text = std::string(version.what()) + "\n"});
  } catch (const CLI::ParseError& error) {
    // A misspelt word often shows as a missing argument; the misspelling is the better message.
    for (const CLI::App* level : parser.Levels()) {
      NSYS_TRY(CheckExtras(*level));
    }
    return UsageError(error.what(), fmt::format("see {}", HelpCommandOf(LastParsed(parser))));
  }
  return ToRequest(parser);
}

bool WantsJsonErrors(const std::vector<std::string>& arguments) {
  const char* agent = std::getenv("NSYS_AI_AGENT");
  if (agent != nullptr && std::strcmp(agent, "1") == 0) {
    return true;
  }
  // The formats of convert are those of its files.
  const bool convert = !arguments.empty() && arguments.front() == "convert";
  const std::string option = convert ? "--summary" : "--format";
  for (size_t i = 0; i < arguments.size(); ++i) {
    const std::string& word = arguments[i];
    const bool next = word == option && i + 1 < arguments.size();
    const std::string value = next                             ? arguments[i + 1]
                              : word.starts_with(option + "=") ? word.substr(option.size() + 1)
                                                               : "";
    if (value == "json" || (!convert && value == "jsonl")) {
      return true;
    }
  }
  return false;
}

}  // namespace nsys
