// SPDX-License-Identifier: MIT
#include "ingest/input_files.h"

#include <fmt/format.h>

#include "ingest/file_kind.h"

namespace nsys {

void InputFiles::Add(const std::string& path) {
  files_.push_back({.path = path, .stamp = SettledStampAt(path)});
}

Status InputFiles::CheckUnchanged() const {
  for (const Entry& file : files_) {
    if (StampAt(file.path) != file.stamp) {
      return ChangedWhileRead(file.path);
    }
  }
  return {};
}

Error ChangedWhileRead(const std::string& path) {
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("{} changed while it was read", ShownPath(path)),
          .hint = "wait until it is written, then try again"};
}

}  // namespace nsys
