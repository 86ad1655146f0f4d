// SPDX-License-Identifier: MIT
#include "cli/skill_run_options.h"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include "analysis/iterations.h"
#include "cli/option_values.h"
#include "cli/usage_error.h"

namespace nsys {
namespace {

void AddSharedOptions(CLI::App& run, SkillRunWords& raw) {
  run.add_option("-p,--param", raw.params, "A parameter of the skill; may be repeated")
      ->option_text("KEY=VALUE")
      ->allow_extra_args(false);
  run.add_option("--trim", raw.trim,
                 "Only this window, in seconds on the capture's clock; END may be inf")
      ->option_text("START END")
      ->expected(2);
  run.add_option("--iteration", raw.iteration, "Only the N-th iteration (from 0); not with --trim")
      ->option_text("N");
  run.add_option("--marker", raw.marker,
                 "NVTX text that opens an iteration, for --iteration (default: sample_0)")
      ->option_text("TEXT");
  run.add_option("--device", raw.device, "Short for -p device=N")->option_text("N");
  run.add_option("--max-rows", raw.max_rows, "JSON: at most N data rows")->option_text("N");
  run.add_option("-o,--output", raw.output, "Write to FILE instead of standard output")
      ->option_text("FILE");
  run.add_flag("--compact", raw.compact, "JSON on one line");
  run.add_option("--threads", raw.threads,
                 "Threads that read (default: one per core); the answer does not depend on it")
      ->option_text("N");
  run.add_option("--reader", raw.reader, kReaderHelp)->option_text("READER");
  run.add_flag("--no-cache", raw.no_cache, "Accepted for compatibility: there is no cache")
      ->group("");
}

void DescribeRun(CLI::App& run, SkillRunWords& raw) {
  run.add_option("NAME", raw.name, "The skill (see: nsys-ai skill list)")->required();
  run.add_option("PROFILE", raw.profile,
                 "The capture: .sqlite, a parquetdir, or .nsys-rep; skills that only calculate "
                 "run without");
  run.add_option("--format", raw.format, "text (default), json, jsonl or csv")
      ->option_text("FORMAT");
  AddSharedOptions(run, raw);
  run.footer(
      "Examples:\n"
      "  nsys-ai skill run top_kernels train.sqlite\n"
      "  nsys-ai skill run gpu_idle_gaps train.sqlite -p device=1 -p limit=5 --format json\n"
      "  nsys-ai skill run nvtx_kernel_map train.sqlite --trim 12.5 13.0\n"
      "\nExit status: 0 ran (found, found nothing, or cannot answer), 1 unreadable, 2 usage.");
}

void DescribeRunAll(CLI::App& run_all, SkillRunWords& raw) {
  run_all.add_option("PROFILE", raw.profile, "The capture: .sqlite, a parquetdir, or .nsys-rep")
      ->required();
  run_all.add_option("--only", raw.only, "Only these skills, with commas between them")
      ->option_text("NAMES");
  run_all.add_option("--format", raw.format, "text (default), json or jsonl (a line per skill)")
      ->option_text("FORMAT");
  AddSharedOptions(run_all, raw);
  run_all.footer(
      "A parameter goes to every skill that takes it. A skill that needs one that is not given is "
      "not run,\nand says so.\n\n"
      "Examples:\n"
      "  nsys-ai skill run-all train.sqlite --format json -o all.json\n"
      "  nsys-ai skill run-all train.sqlite --only top_kernels,gpu_idle_gaps --trim 12.5 13.0\n"
      "\nExit status: 0 all ran, 1 the capture or a skill failed, 2 usage.");
}

Result<OutputFormat> ParseRunFormat(const std::string& word) {
  static constexpr std::pair<const char*, OutputFormat> kChoices[] = {
      {"text", OutputFormat::kText},
      {"json", OutputFormat::kJson},
      {"jsonl", OutputFormat::kJsonLines},
      {"csv", OutputFormat::kCsv}};
  return Choose("--format", word, kChoices);
}

Result<OutputFormat> ParseRunAllFormat(const std::string& word) {
  static constexpr std::pair<const char*, OutputFormat> kChoices[] = {
      {"text", OutputFormat::kText},
      {"json", OutputFormat::kJson},
      {"jsonl", OutputFormat::kJsonLines}};
  return Choose("--format", word, kChoices);
}

Result<std::vector<GivenParam>> ParseParams(const SkillRunWords& raw) {
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

Result<SkillRunRequest> RunRequest(const SkillRunWords& raw, OutputFormat format,
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
  NSYS_ASSIGN(request.reader, ParseReader(raw.reader));
  if (request.iteration && request.window) {
    return UsageError("--iteration and --trim cannot be combined",
                      "an iteration is a window of its own; give one of them");
  }
  if (request.marker.empty()) {
    return UsageError("--marker takes a text of at least one character",
                      "for example: --marker step");
  }
  return request;
}

Result<SkillRunAllRequest> RunAllRequest(const SkillRunWords& raw, SkillRunRequest run) {
  SkillRunAllRequest request{.run = std::move(run), .only = {}};
  if (!raw.only) {
    return request;
  }
  request.only = SplitAtCommas({*raw.only});
  std::erase(request.only, "");
  if (request.only.empty()) {
    return UsageError("--only takes the names of skills",
                      "for example: --only top_kernels,gpu_idle_gaps");
  }
  return request;
}

}  // namespace

SkillRunCommands::SkillRunCommands(CLI::App& skill)
    : run_(skill.add_subcommand("run",
                                "Run a skill on a capture (.sqlite, parquetdir or .nsys-rep)")),
      run_all_(skill.add_subcommand("run-all", "Run every skill on a capture, loaded once")) {
  DescribeRun(*run_, words_);
  DescribeRunAll(*run_all_, words_);
  for (CLI::App* command : {run_, run_all_}) {
    command->allow_extras();
  }
}

Result<Request> SkillRunCommands::ToRequest(const std::optional<std::string>& skills_dir) const {
  const bool all = run_all_->parsed();
  NSYS_ASSIGN(const OutputFormat format,
              all ? ParseRunAllFormat(words_.format) : ParseRunFormat(words_.format));
  NSYS_ASSIGN(SkillRunRequest run, RunRequest(words_, format, skills_dir));
  if (!all) {
    return Request(std::move(run));
  }
  NSYS_ASSIGN(SkillRunAllRequest run_all, RunAllRequest(words_, std::move(run)));
  return Request(std::move(run_all));
}

}  // namespace nsys
