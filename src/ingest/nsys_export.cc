// SPDX-License-Identifier: MIT
#include "ingest/nsys_export.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "base/unfinished.h"
#include "ingest/file_kind.h"
#include "ingest/nsys_tool.h"
#include "ingest/parquet_source.h"

namespace nsys {
namespace {

namespace fs = std::filesystem;

// Nanoseconds since the epoch of the last change; nothing when `path` does not exist.
std::optional<int64_t> ModifiedNs(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return info.st_mtim.tv_sec * int64_t{1'000'000'000} + info.st_mtim.tv_nsec;
}

// A folder is as new as the newest table in it.
std::optional<int64_t> ExportTimeNs(const std::string& path) {
  std::error_code error;
  if (!fs::is_directory(path, error)) {
    return ModifiedNs(path);
  }
  std::optional<int64_t> newest;
  for (const std::string& name : ListParquetFiles(path)) {
    newest = std::max(newest, ModifiedNs(fmt::format("{}/{}", path, name)));
  }
  return newest;
}

std::string WithoutExtension(const std::string& report) {
  const size_t dot = report.rfind('.');
  const size_t slash = report.rfind('/');
  const bool in_name = dot != std::string::npos && (slash == std::string::npos || dot > slash);
  return in_name ? report.substr(0, dot) : report;
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string LastLine(const std::string& path) {
  std::string text = ReadText(path);
  text.erase(text.find_last_not_of(" \t\r\n") + 1);
  const size_t begin = text.find_last_of("\r\n");
  return Printable(begin == std::string::npos ? text : text.substr(begin + 1));
}

std::string FirstLine(const std::string& path) {
  const std::string text = ReadText(path);
  return Printable(text.substr(0, text.find_first_of("\r\n")));
}

bool WritesParquet(const std::string& nsys, const std::string& log) {
  RunLogged({nsys, "export", "--help"}, log);
  return ReadText(log).find("parquetdir") != std::string::npos;
}

Error ExportFailed(const std::string& report, const std::string& nsys, std::string_view reason) {
  return {.code = ErrorCode::kExport,
          .message = fmt::format("nsys could not export {}: {}", ShownPath(report), reason),
          .hint = fmt::format("{} was used; a report needs an nsys no older than the one that "
                              "wrote it (set NSYS to choose another)",
                              ShownPath(nsys))};
}

// The report's name for the export; nsys replaces what follows a percent sign in output names.
std::string OutputStem(const std::string& report) {
  std::string stem = fs::path(WithoutExtension(report)).filename().string();
  std::replace(stem.begin(), stem.end(), '%', '_');
  return stem.empty() ? "export" : stem;
}

// `text` as one word of a POSIX shell, for commands that are shown.
std::string ShellWord(std::string_view text) {
  const bool plain = text.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                         "0123456789/._-+=:@,") == std::string_view::npos;
  if (plain && !text.empty()) {
    return std::string(text);
  }
  std::string word = "'";
  for (const char c : text) {
    if (c == '\'') {
      word += "'\\''";
    } else {
      word += c;
    }
  }
  return word + '\'';
}

}  // namespace

SiblingExports FindSiblingExports(const std::string& report) {
  const std::optional<int64_t> report_ns = ModifiedNs(report);
  const std::string stem = WithoutExtension(report);
  std::vector<std::pair<int64_t, std::string>> fresh;
  SiblingExports siblings;
  for (const char* suffix : {".sqlite", ".parquetdir", "_pqtdir"}) {
    const std::string path = stem + suffix;
    const std::optional<int64_t> time_ns = ExportTimeNs(path);
    if (!time_ns || path == report) {
      continue;
    }
    if (report_ns && *time_ns < *report_ns) {
      siblings.stale.push_back(path);
    } else {
      fresh.emplace_back(*time_ns, path);
    }
  }
  std::stable_sort(fresh.begin(), fresh.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  for (auto& [time_ns, path] : fresh) {
    siblings.fresh.push_back(std::move(path));
  }
  return siblings;
}

Result<std::unique_ptr<TemporaryExport>> TemporaryExport::Make(const std::string& nsys,
                                                               const std::string& report) {
  const char* base = std::getenv("TMPDIR");
  std::string folder =
      fmt::format("{}/nsys-ai-XXXXXX", base == nullptr || *base == '\0' ? "/tmp" : base);
  if (mkdtemp(folder.data()) == nullptr) {
    return Error{.code = ErrorCode::kExport,
                 .message = fmt::format("cannot create the temporary folder {}: {}",
                                        ShownPath(folder), std::strerror(errno)),
                 .hint = "set TMPDIR to a folder with room for the export"};
  }
  std::unique_ptr<TemporaryExport> made(new TemporaryExport(folder));
  const std::string log = folder + "/nsys.log";
  const std::string type = WritesParquet(nsys, log) ? "parquetdir" : "sqlite";
  made->path_ = fmt::format("{}/{}.{}", folder, OutputStem(report), type);
  const std::string input = report.starts_with('-') ? "./" + report : report;
  const int status =
      RunLogged({nsys, "export", "--type=" + type, "--include-blobs=true", "--force-overwrite=true",
                 "--quiet=true", "--output=" + made->path_, input},
                log);
  if (status == 127) {
    return ExportFailed(report, nsys, "it did not start");
  }
  if (status != 0) {
    const std::string line = LastLine(log);
    return ExportFailed(report, nsys, line.empty() ? fmt::format("exit status {}", status) : line);
  }
  std::error_code error;
  if (!fs::exists(made->path_, error)) {
    return ExportFailed(report, nsys, "it wrote nothing");
  }
  return made;
}

TemporaryExport::~TemporaryExport() {
  std::error_code ignored;
  fs::remove_all(folder_, ignored);
}

Error NsysMissing(const std::string& report, const SiblingExports& siblings) {
  const std::string stem = WithoutExtension(report);
  std::string hint = fmt::format(
      "where nsys is installed, run `nsys export --type=parquetdir --include-blobs=true -o {} {}`, "
      "then give the folder it writes, or put it beside the report",
      ShownPath(ShellWord(stem + ".parquetdir")), ShownPath(ShellWord(report)));
  if (!siblings.stale.empty()) {
    hint += fmt::format("; {} is older than the report and was not used",
                        ShownPath(siblings.stale.front()));
  }
  return {.code = ErrorCode::kExportToolMissing,
          .message = fmt::format("{} is a report; reading it needs nsys, which was not found",
                                 ShownPath(report)),
          .hint = std::move(hint)};
}

void RemoveTemporaryExports() noexcept {
  KillRunningChild();
  RemoveUnfinished();
}

Result<NsysTool> FindExporter(const std::string& named, const std::string& log) {
  NSYS_ASSIGN(std::string path, named.empty() ? FindNsys() : FindNamedNsys("--nsys ", named));
  if (path.empty()) {
    return NsysTool{};
  }
  if (RunLogged({path, "--version"}, log) == 127) {
    return Error{.code = ErrorCode::kExportToolMissing,
                 .message = fmt::format("{} does not start", ShownPath(path)),
                 .hint = "name another with --nsys PATH or NSYS"};
  }
  NsysTool tool{.path = std::move(path), .version = FirstLine(log)};
  if (!WritesParquet(tool.path, log)) {
    return Error{.code = ErrorCode::kExport,
                 .message = fmt::format("{} ({}) cannot export to parquetdir", ShownPath(tool.path),
                                        tool.version),
                 .hint =
                     "Nsight Systems 2024.6 or newer is needed; name it with --nsys PATH, or "
                     "give a .sqlite export"};
  }
  return tool;
}

Status ExportTables(const NsysTool& tool, const std::string& report, const std::string& output,
                    const std::string& log) {
  std::error_code error;
  const fs::path absolute = fs::absolute(report, error);
  // What follows a percent sign in the name of an output is replaced by nsys, so a folder that has
  // one in its path is written to from inside.
  const bool from_inside = output.find('%') != std::string::npos;
  const fs::path target(output);
  const std::string shown = from_inside ? target.filename().string() : output;
  const int status =
      RunLogged({tool.path, "export", "--type=parquetdir", "--ts-normalize=true",
                 "--force-overwrite=true", "--quiet=true", "--output=" + shown, absolute.string()},
                log, from_inside ? target.parent_path().string() : "");
  if (status == 127) {
    return ExportFailed(report, tool.path, "it did not start");
  }
  if (status != 0) {
    const std::string line = LastLine(log);
    return ExportFailed(report, tool.path,
                        line.empty() ? fmt::format("exit status {}", status) : line);
  }
  if (!fs::is_directory(target, error) || ListParquetFiles(output).empty()) {
    return ExportFailed(report, tool.path, "it wrote no tables");
  }
  return {};
}

}  // namespace nsys
