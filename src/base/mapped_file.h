// SPDX-License-Identifier: MIT
// A file mapped read-only that another program may shorten meanwhile. Its lost pages then read as
// zeros, and the mapping tells that it shrunk; without this the process would get SIGBUS.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nsys {

class MappedFile {
 public:
  // All of the open file `fd`, which may be closed afterwards; `bytes` is its size and not 0. Not
  // mapped when the system refuses or too many files are.
  MappedFile(int fd, size_t bytes);
  MappedFile(MappedFile&& other) noexcept
      : bytes_(std::exchange(other.bytes_, nullptr)), size_(other.size_), entry_(other.entry_) {}
  MappedFile& operator=(MappedFile&&) = delete;
  ~MappedFile();

  bool is_mapped() const { return bytes_ != nullptr; }
  const uint8_t* bytes() const { return bytes_; }
  size_t size() const { return size_; }

  // Tells the system that the bytes from `begin` to `end` will not be read again soon, so that they
  // do not count as memory of this process. Reading them again is slow, not wrong.
  void Release(size_t begin, size_t end) const;

  // Whether bytes were read that the file no longer has. True for ever once it is.
  bool shrunk() const;

 private:
  const uint8_t* bytes_ = nullptr;
  size_t size_ = 0;
  size_t entry_ = 0;  // among the mappings that the signal handler knows
};

}  // namespace nsys
