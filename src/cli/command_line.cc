// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <cstdlib>
#include <cstring>

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include "analysis/iterations.h"
#include "base/number.h"
#include "base/text.h"
#include "cli/option_values.h"
#include "cli/skill_files_options.h"
#include "cli/usage_error.h"

namespace nsys {
namespace {

// Words as typed; every conversion is ours, so that every error names the word.
struct RawOptions {
  std::string format = "text";
  std::string name;
  std::string profile;
  std::vector<std::string> params;
  std::vector<std::string> trim;
  std::optional<std::string> iteration;
  std::optional<std::string> marker;
  std::optional<std::string> max_rows;
  std::optional<std::string> device;
  std::optional<std::string> output;
  std::optional<std::string> threads;
  bool compact = false;
  bool no_cache = false;
};

struct Parser {
  CLI::App app{"Answers performance questions about NVIDIA Nsight Systems captures.", "nsys-ai"};
  CLI::App* skill = nullptr;
  CLI::App* list = nullptr;
  CLI::App* info = nullptr;
  CLI::App* run = nullptr;
  CLI::App* sql = nullptr;
  CLI::App* convert = nullptr;
  std::optional<SkillFilesCommands> skill_files;
  SkillsDirOption skills_dir;
  RawOptions raw;
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
            run,
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
  run = skill->add_subcommand("run", "Run a skill on a capture (.sqlite, parquetdir or .nsys-rep)");
  skill_files.emplace(*skill);
  skills_dir.AddTo(*skill);
  list->add_option("--format", raw.format, "text or json")->option_text("FORMAT");
  info->add_option("NAME", raw.name, "The skill")->required();
  info->add_option("--format", raw.format, "json or text")->option_text("FORMAT");
  run->add_option("NAME", raw.name, "The skill (see: nsys-ai skill list)")->required();
  run->add_option("PROFILE", raw.profile,
                  "The capture: .sqlite, a parquetdir, or .nsys-rep; skills that only calculate "
                  "run without");
  run->add_option("--format", raw.format, "text (default), json, jsonl or csv")
      ->option_text("FORMAT");
  run->add_option("-p,--param", raw.params, "A parameter of the skill; may be repeated")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  run->add_option("--trim", raw.trim,
                  "Only this window, in seconds on the capture's clock; END may be inf")
      ->option_text("START END")
      ->expected(2);
  run->add_option("--iteration", raw.iteration, "Only the N-th iteration (from 0); not with --trim")
      ->option_text("N");
  run->add_option("--marker", raw.marker,
                  "NVTX text that opens an iteration, for --iteration (default: sample_0)")
      ->option_text("TEXT");
  run->add_option("--device", raw.device, "Short for -p device=N")->option_text("N");
  run->add_option("--max-rows", raw.max_rows, "JSON: at most N data rows")->option_text("N");
  run->add_option("-o,--output", raw.output, "Write to FILE instead of standard output")
      ->option_text("FILE");
  run->add_flag("--compact", raw.compact, "JSON on one line");
  run->add_option("--threads", raw.threads,
                  "Threads that read (default: one per core); the answer does not depend on it")
      ->option_text("N");
  run->add_flag("--no-cache", raw.no_cache, "Accepted for compatibility: there is no cache")
      ->group("");
  run->footer(
      "Examples:\n"
      "  nsys-ai skill run top_kernels train.sqlite\n"
      "  nsys-ai skill run gpu_idle_gaps train.sqlite -p device=1 -p limit=5 --format json\n"
      "  nsys-ai skill run nvtx_kernel_map train.sqlite --trim 12.5 13.0\n"
      "\nExit status: 0 ran (found, found nothing, or cannot answer), 1 unreadable, 2 usage.");
  sql = AddSqlCommand(app, sql_options);
  convert = AddConvertCommand(app, convert_options);
  app.footer("A capture comes from `nsys export --type=sqlite REPORT.nsys-rep`.");
  for (CLI::App* command : {&app, skill, list, info, run, sql, convert}) {
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

Result<OutputFormat> ParseFormat(const std::string& word, const CLI::App* command,
                                 const CLI::App* run) {
  if (word == "text") {
    return OutputFormat::kText;
  }
  if (word == "json") {
    return OutputFormat::kJson;
  }
  if (command == run && word == "jsonl") {
    return OutputFormat::kJsonLines;
  }
  if (command == run && word == "csv") {
    return OutputFormat::kCsv;
  }
  return UsageError(fmt::format("--format takes {}, not '{}'",
                                command == run ? "text, json, jsonl or csv" : "text or json", word),
                    "for example: --format json");
}

Result<std::vector<GivenParam>> ParseParams(const RawOptions& raw) {
  std::vector<GivenParam> params;
  for (const std::string& word : raw.params) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0) {
      return UsageError(fmt::format("--param takes KEY=VALUE, not '{}'", word),
                        "for example: -p limit=10");
    }
    params.emplace_back(word.substr(0, equals), word.substr(equals + 1));
  }
  if (raw.device) {
    params.emplace_back("device", *raw.device);
  }
  return params;
}

Result<Request> RunRequest(const RawOptions& raw, OutputFormat format,
                           const std::optional<std::string>& skills_dir) {
  SkillRunRequest request{.name = raw.name, .profile = raw.profile, .format = format};
  request.layout = raw.compact ? JsonLayout::kOneLine : JsonLayout::kIndented;
  request.marker = raw.marker.value_or(std::string(kDefaultMarker));
  request.marker_given = raw.marker.has_value();
  request.skills_dir = skills_dir;
  request.output = raw.output.value_or("");
  if (raw.output && raw.output->empty()) {
    return UsageError("--output takes the name of a file, not ''", "for example: -o rows.json");
  }
  NSYS_ASSIGN(request.params, ParseParams(raw));
  NSYS_ASSIGN(request.window, ParseTrim(raw.trim));
  NSYS_ASSIGN(request.iteration, ParseCountOption("--iteration", raw.iteration, 0));
  NSYS_ASSIGN(request.max_rows, ParseCountOption("--max-rows", raw.max_rows, 0));
  NSYS_ASSIGN(const std::optional<int64_t> threads, ParseCountOption("--threads", raw.threads, 1));
  request.threads = static_cast<int>(std::min<int64_t>(threads.value_or(0), 256));
  if (request.iteration && request.window) {
    return UsageError("--iteration and --trim cannot be combined",
                      "an iteration is a window of its own; give one of them");
  }
  if (request.marker.empty()) {
    return UsageError("--marker takes a text of at least one character",
                      "for example: --marker step");
  }
  return Request(std::move(request));
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
  const bool info_default =
      command == parser.info && parser.info->get_option("--format")->count() == 0;
  NSYS_ASSIGN(const OutputFormat format,
              ParseFormat(info_default ? "json" : parser.raw.format, command, parser.run));
  if (command == parser.list) {
    return Request(SkillListRequest{.format = format, .skills_dir = skills_dir});
  }
  if (command == parser.info) {
    return Request(
        SkillInfoRequest{.name = parser.raw.name, .format = format, .skills_dir = skills_dir});
  }
  return RunRequest(parser.raw, format, skills_dir);
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
