// SPDX-License-Identifier: MIT
// The files that a capture is read from, as they were when reading began. Readers open them by
// name and more than once, and other programs may write or replace them at any time: what was read
// is true only if they are still the same afterwards.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/file_stamp.h"
#include "base/result.h"

namespace nsys {

class InputFiles {
 public:
  // Adds the file that `path` leads to, before anything of it is read.
  void Add(const std::string& path);

  // An error when one of the files is no longer what it was.
  Status CheckUnchanged() const;

 private:
  struct Entry {
    std::string path;
    std::optional<FileStamp> stamp;
  };
  std::vector<Entry> files_;
};

Error ChangedWhileRead(const std::string& path);

}  // namespace nsys
