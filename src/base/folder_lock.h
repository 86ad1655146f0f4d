// SPDX-License-Identifier: MIT
// One writer per folder: an advisory lock on a hidden file in it, which is gone when the holder
// lets go, and free when the holder was killed.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "base/file_descriptor.h"
#include "base/result.h"
#include "base/unfinished.h"

namespace nsys {

inline constexpr std::string_view kFolderLockName = ".nsys-ai-lock";

class FolderLock {
 public:
  // Waits until nobody holds the lock, at most for `wait` (nothing: for ever). The error tells who
  // holds it. On a file system that has no locks, none is taken.
  static Result<std::unique_ptr<FolderLock>> Take(
      const std::string& folder, const std::optional<std::chrono::milliseconds>& wait);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

 private:
  FolderLock(std::string path, FileDescriptor file)
      : path_(std::move(path)), file_(std::move(file)), unfinished_(path_) {}

  std::string path_;
  FileDescriptor file_;
  Unfinished unfinished_;
};

}  // namespace nsys
