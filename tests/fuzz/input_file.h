// SPDX-License-Identifier: MIT
// The bytes of a fuzzer as a file. It has a name that leads to it, unlike one in memory alone:
// SQLite follows links before it opens anything.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include <unistd.h>

namespace nsys {

class InputFile {
 public:
  InputFile() : path_(std::filesystem::temp_directory_path().string() + "/nsys-ai-fuzz-XXXXXX") {
    file_ = ::mkstemp(path_.data());
  }
  ~InputFile() { ::unlink(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& Hold(const uint8_t* data, size_t size) {
    if (::ftruncate(file_, 0) != 0 ||
        ::pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
    return path_;
  }

 private:
  std::string path_;
  int file_ = -1;
};

}  // namespace nsys
