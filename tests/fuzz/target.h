// SPDX-License-Identifier: MIT
// What fuzz targets share.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "ingest/load.h"

namespace nsys {

// Ends the run, so that the fuzzer keeps the input.
inline void Require(bool holds) {
  if (!holds) {
    std::abort();
  }
}

inline Reads EveryColumn() {
  Reads reads;
  for (size_t table = 0; table < kTableCount; ++table) {
    for (size_t column = 0; column < kColumnCount; ++column) {
      reads.Add(static_cast<TableId>(table), {static_cast<Column>(column)});
    }
  }
  return reads;
}

// A folder that goes away with the process.
class FuzzFolder {
 public:
  FuzzFolder() : path_(std::filesystem::temp_directory_path().string() + "/nsys-ai-fuzz-XXXXXX") {
    Require(::mkdtemp(path_.data()) != nullptr);
  }
  ~FuzzFolder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  FuzzFolder(const FuzzFolder&) = delete;
  FuzzFolder& operator=(const FuzzFolder&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace nsys
