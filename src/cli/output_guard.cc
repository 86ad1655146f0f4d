// SPDX-License-Identifier: MIT
#include "cli/output_guard.h"

#include <string_view>

#include <fmt/core.h>

#include "base/file.h"

namespace nsys {
namespace {

// What the forms of one capture are called, behind the name that they share.
constexpr std::string_view kForms[] = {".nsys-rep", ".qdrep", ".sqlite", ".parquetdir", "_pqtdir"};

std::string_view SharedName(std::string_view profile) {
  while (profile.ends_with('/')) {
    profile.remove_suffix(1);
  }
  for (const std::string_view form : kForms) {
    if (profile.ends_with(form)) {
      return profile.substr(0, profile.size() - form.size());
    }
  }
  return {};
}

}  // namespace

Status RefuseToOverwrite(const std::string& output, const std::string& profile) {
  if (output.empty() || profile.empty() || profile == "-") {
    return {};
  }
  bool overwrites = IsSameFileOrInside(output, profile);
  const std::string shared(SharedName(profile));
  for (const std::string_view form : kForms) {
    overwrites =
        overwrites || (!shared.empty() && IsSameFileOrInside(output, shared + std::string(form)));
  }
  if (!overwrites) {
    return {};
  }
  return Error{.code = ErrorCode::kUsage,
               .message = fmt::format("--output {} would overwrite the capture", output),
               .hint = "give another file"};
}

}  // namespace nsys
