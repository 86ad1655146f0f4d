// SPDX-License-Identifier: MIT
#include "cli/convert_plan.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include <fmt/format.h>

#include "base/file.h"
#include "base/text.h"
#include "cli/output_guard.h"
#include "cli/usage_error.h"
#include "ingest/file_kind.h"
#include "perfetto/publication_journal.h"
#include "perfetto/workspace.h"

namespace nsys {
namespace {

namespace fs = std::filesystem;

// Where the symbolic link at `path` leads in the end, also when nothing is there yet; `path` itself
// when it is no link.
fs::path Followed(fs::path path) {
  constexpr int kMostLinks = 40;  // as many as the system follows
  std::error_code error;
  for (int i = 0; i < kMostLinks && fs::is_symlink(fs::symlink_status(path, error)); ++i) {
    path = path.parent_path() / fs::read_symlink(path, error);  // replaced by an absolute one
  }
  return path;
}

// The path as the system sees it: absolute, links followed.
std::string Resolved(const std::string& path) {
  std::error_code error;
  const fs::path absolute = Followed(fs::absolute(path, error));
  fs::path resolved = fs::weakly_canonical(absolute, error);
  if (error || resolved.empty()) {
    resolved = absolute.lexically_normal();
  }
  std::string text = resolved.string();
  while (text.size() > 1 && text.ends_with('/')) {
    text.pop_back();
  }
  return text;
}

// Where a word on the command line says that something is written.
struct Output {
  std::string option;  // for messages
  std::string path;
};

// An error when `path` could not be looked at because its links lead in a circle.
Status CheckLinks(const std::string& option, const std::string& path,
                  const std::error_code& error) {
  if (error != std::errc::too_many_symbolic_link_levels) {
    return {};
  }
  return UsageError(fmt::format("{} {} leads through symbolic links that lead to each other",
                                option, ShownPath(path)),
                    "name another place, or remove the links");
}

Status CheckFolder(const std::string& option, const std::string& folder) {
  std::error_code error;
  for (fs::path path = folder; !path.empty(); path = path.parent_path()) {
    const fs::file_status status = fs::status(path, error);
    NSYS_TRY(CheckLinks(option, path.string(), error));
    if (fs::is_directory(status) || path == path.parent_path()) {
      return {};
    }
    if (fs::exists(status)) {
      return UsageError(fmt::format("{}: {} is no folder", option, ShownPath(path.string())),
                        "name another place");
    }
  }
  return {};
}

// An output is a regular file or nothing yet, in a folder or what can become one.
Status CheckTarget(const Output& output) {
  std::error_code error;
  const fs::file_status status = fs::status(output.path, error);
  NSYS_TRY(CheckLinks(output.option, output.path, error));
  if (fs::is_directory(status) || output.path.ends_with('/')) {
    return UsageError(fmt::format("{} {} is a folder", output.option, ShownPath(output.path)),
                      "name a file");
  }
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    return UsageError(
        fmt::format("{} {} is no regular file", output.option, ShownPath(output.path)),
        "name a file: the outputs are written aside and renamed when they are complete");
  }
  return CheckFolder(output.option, FolderOf(output.path));
}

Status CheckAgainstInputs(const Output& output, const std::vector<std::string>& inputs) {
  for (const std::string& input : inputs) {
    if (!RefuseToOverwrite(output.path, input).ok()) {
      return UsageError(fmt::format("{} {} would be written over the input {}, or into it",
                                    output.option, ShownPath(output.path), ShownPath(input)),
                        "name another place");
    }
  }
  return {};
}

Status TakeFolder(const ConvertRequest& request, ConvertJob& job) {
  const bool owned = request.folder.empty();
  std::string folder = request.folder;
  if (owned) {
    NSYS_ASSIGN(folder, perfetto::WorkspaceRoot());
  }
  if (owned || request.inputs.size() > 1) {
    folder += "/" + perfetto::FileStem(job.report);
  }
  NSYS_TRY(CheckFolder(owned ? "the workspace" : "--output", Resolved(folder)));
  job.home = Resolved(folder);
  const perfetto::SetPaths paths = perfetto::PathsIn(job.home, job.report);
  if (request.parquet) {
    job.files[OutputKind::kParquet] = paths.parquet;
    job.files[OutputKind::kDependencies] = paths.dependencies;
  }
  if (request.pftrace) {
    job.files[OutputKind::kPftrace] = paths.pftrace;
  }
  if (request.json) {
    job.files[OutputKind::kJson] = paths.json;
  }
  job.export_folder = job.is_report ? paths.export_folder : "";
  job.manifest = fmt::format(".{}.nsys-ai-set", perfetto::FileStem(job.report));
  if (owned) {  // all that is in it is ours
    job.stale = {paths.json, paths.pftrace, paths.parquet, paths.dependencies, paths.export_folder};
  }
  std::error_code error;
  const auto known = perfetto::ReadManifest(job.home, job.manifest);
  const bool foreign = !owned && job.is_report && fs::exists(paths.export_folder, error) &&
                       std::find(known.begin(), known.end(), paths.export_folder) == known.end();
  if (foreign) {
    return UsageError(fmt::format("the export would replace {}, which was not made by a conversion",
                                  ShownPath(paths.export_folder)),
                      "name another folder with -o");
  }
  return {};
}

Result<ConvertJob> PlanOne(const ConvertRequest& request, const std::string& input) {
  ConvertJob job{.input = input};
  std::error_code error;
  const bool report_name = HasSuffix(input, ".nsys-rep") || HasSuffix(input, ".qdrep");
  job.is_report = report_name && !fs::is_directory(input, error);
  job.report =
      request.options.report.empty() ? perfetto::ReportName(input) : request.options.report;
  if (request.UsesFolder()) {
    NSYS_TRY(TakeFolder(request, job));
  }
  const std::pair<OutputKind, const std::string*> named_files[] = {
      {OutputKind::kJson, &request.output_json},
      {OutputKind::kPftrace, &request.output_pftrace},
      {OutputKind::kParquet, &request.output_parquet},
      {OutputKind::kDependencies, &request.output_dependencies}};
  for (const auto& [kind, named] : named_files) {
    if (!named->empty()) {
      NSYS_TRY(CheckTarget({"output", *named}));
      job.files[kind] = Resolved(*named);
    }
  }
  if (job.home.empty()) {
    job.home = FolderOf(job.files.rbegin()->second);
  }
  return job;
}

Status CheckNames(const std::vector<ConvertJob>& jobs) {
  std::map<std::string, const ConvertJob*> seen;
  for (const ConvertJob& job : jobs) {
    const auto [place, is_new] = seen.emplace(perfetto::FileStem(job.report), &job);
    if (!is_new) {
      return UsageError(
          fmt::format("{} and {} have one name, '{}', and would be written to one "
                      "place",
                      ShownPath(place->second->input), ShownPath(job.input), Printable(job.report)),
          "convert them one by one, with --report NAME for one of them");
    }
  }
  return {};
}

Status CheckPaths(const std::vector<ConvertJob>& jobs, const std::vector<std::string>& inputs) {
  std::vector<Output> all;
  for (const ConvertJob& job : jobs) {
    for (const auto& [kind, path] : job.files) {
      Output output{fmt::format("--output-{}", OutputKindName(kind)), path};
      NSYS_TRY(CheckTarget(output));
      NSYS_TRY(CheckAgainstInputs(output, inputs));
      all.push_back(std::move(output));
    }
    if (!job.export_folder.empty()) {
      const Output folder{"the export", job.export_folder};
      NSYS_TRY(CheckAgainstInputs(folder, inputs));
      for (const std::string& input : inputs) {
        if (IsSameFileOrInside(input, folder.path)) {
          return UsageError(fmt::format("the export would replace {}, which holds the input {}",
                                        ShownPath(folder.path), ShownPath(input)),
                            "move the input, or name another folder with -o");
        }
      }
      all.push_back(folder);
    }
  }
  for (size_t i = 0; i < all.size(); ++i) {
    for (size_t j = 0; j < all.size(); ++j) {
      if (i != j && IsSameFileOrInside(all[i].path, all[j].path)) {
        return UsageError(
            fmt::format("{} {} would be written over {} {}", all[i].option, ShownPath(all[i].path),
                        all[j].option, ShownPath(all[j].path)),
            "name different files");
      }
    }
  }
  return {};
}

}  // namespace

std::string_view OutputKindName(OutputKind kind) {
  switch (kind) {
    case OutputKind::kExport:
      return "export";
    case OutputKind::kParquet:
      return "parquet";
    case OutputKind::kDependencies:
      return "dependencies";
    case OutputKind::kPftrace:
      return "pftrace";
    case OutputKind::kJson:
      break;
  }
  return "json";
}

Result<std::vector<ConvertJob>> PlanConversion(const ConvertRequest& request) {
  std::vector<ConvertJob> jobs;
  for (const std::string& input : request.inputs) {
    NSYS_ASSIGN(ConvertJob job, PlanOne(request, input));
    jobs.push_back(std::move(job));
  }
  NSYS_TRY(CheckNames(jobs));
  NSYS_TRY(CheckPaths(jobs, request.inputs));
  return jobs;
}

}  // namespace nsys
