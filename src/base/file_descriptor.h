// SPDX-License-Identifier: MIT
// An open file that closes itself.
#pragma once

#include <unistd.h>

#include <utility>

namespace nsys {

class FileDescriptor {
 public:
  // As open gives it: a negative one is no open file.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (is_open()) {
      ::close(fd_);
    }
  }
  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Closes it now. False, with errno set, when what was written may be lost.
  bool Close() { return ::close(std::exchange(fd_, -1)) == 0; }

 private:
  int fd_;
};

}  // namespace nsys
