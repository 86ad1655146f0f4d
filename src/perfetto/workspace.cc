// SPDX-License-Identifier: MIT
#include "perfetto/workspace.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "base/text.h"

namespace nsys::perfetto {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kForms[] = {".nsys-rep", ".qdrep", ".sqlite", ".parquetdir", "_pqtdir"};

const char* Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? nullptr : value;
}

}  // namespace

std::string ReportName(const std::string& input) {
  std::string path = input;
  while (path.size() > 1 && path.ends_with('/')) {
    path.pop_back();
  }
  std::string name = fs::path(path).filename().string();
  if (name.empty() || name == "." || name == "..") {
    std::error_code ignored;
    name = fs::weakly_canonical(path, ignored).filename().string();
  }
  const std::string lower = LowerAscii(name);
  for (const std::string_view form : kForms) {
    if (lower.size() > form.size() && lower.ends_with(form)) {
      name.resize(name.size() - form.size());
      break;
    }
  }
  return name.empty() ? "capture" : name;
}

std::string FileStem(const std::string& report) {
  std::string stem = report;
  std::replace_if(
      stem.begin(), stem.end(),
      [](char c) { return c == '/' || static_cast<unsigned char>(c) < 0x20 || c == '\x7F'; }, '_');
  if (stem.empty() || stem == "." || stem == "..") {
    stem.insert(0, "_");
  }
  return stem;
}

Result<std::string> WorkspaceRoot() {
  if (const char* root = Variable("NSYS_WORKSPACE_ROOT")) {
    return std::string(root);
  }
  if (const char* home = Variable("HOME")) {
    return std::string(home) + "/.nsys-workspace";
  }
  return Error{.code = ErrorCode::kUsage,
               .message = "neither NSYS_WORKSPACE_ROOT nor HOME says where to write",
               .hint = "set one of them, or give a folder with -o DIR"};
}

SetPaths PathsIn(const std::string& folder, const std::string& report) {
  const std::string stem = folder + "/" + FileStem(report);
  return {.export_folder = folder + "/parquet",
          .parquet = stem + ".perfetto.parquet",
          .dependencies = stem + ".kernel_dependencies.parquet",
          .pftrace = stem + ".pftrace",
          .json = stem + ".perfetto.json.gz"};
}

}  // namespace nsys::perfetto
