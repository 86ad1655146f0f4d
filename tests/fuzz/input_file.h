// SPDX-License-Identifier: MIT
// The bytes of a fuzzer as a file. It has a name that leads to it, unlike one in memory alone:
// SQLite follows links before it opens anything.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nsys {

class InputFile {
 public:
  InputFile() : path_(std::filesystem::temp_directory_path().string() + "/nsys-ai-fuzz-XXXXXX") {
    file_ = ::mkstemp(path_.data());
  }
  explicit InputFile(std::string path)
      : path_(std::move(path)), file_(::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600)) {}
  ~InputFile() { ::unlink(path_.c_str()); }
  InputFile(const InputFile&) = delete;
  InputFile& operator=(const InputFile&) = delete;

  const std::string& Hold(const uint8_t* data, size_t size) {
    if (::ftruncate(file_, 0) != 0 ||
        ::pwrite(file_, data, size, 0) != static_cast<ssize_t>(size)) {
      std::abort();
    }
    // Of a file that was written just now the program would wait for the clock to go on.
    const timespec times[2] = {{.tv_sec = ++seconds_, .tv_nsec = 0},
                               {.tv_sec = seconds_, .tv_nsec = 0}};
    ::futimens(file_, times);
    return path_;
  }

 private:
  std::string path_;
  int file_ = -1;
  time_t seconds_ = 0;
};

}  // namespace nsys
