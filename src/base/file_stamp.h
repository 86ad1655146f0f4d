// SPDX-License-Identifier: MIT
// What tells that a file is no longer the one that was opened, or was written since.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include <sys/types.h>

namespace nsys {

struct FileStamp {
  dev_t device = 0;
  ino_t inode = 0;
  int64_t size = 0;
  int64_t modified_ns = 0;

  bool operator==(const FileStamp&) const = default;
};

// Nothing when there is no such file.
std::optional<FileStamp> StampAt(const std::string& path);

// The same, so that any later writing changes it: waits, some milliseconds at most, while the clock
// that stamps files shows the time of the last writing.
std::optional<FileStamp> SettledStampAt(const std::string& path);

}  // namespace nsys
