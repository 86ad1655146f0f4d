// SPDX-License-Identifier: MIT
#include "ingest/file_ranges.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>

namespace nsys {

bool ReadFully(int fd, char* to, size_t bytes, off_t offset) {
  while (bytes > 0) {
    const ssize_t got = pread(fd, to, bytes, offset);
    if (got < 0 && errno == EINTR) {
      continue;
    }
    if (got <= 0) {
      return false;
    }
    to += got;
    offset += got;
    bytes -= static_cast<size_t>(got);
  }
  return true;
}

bool WriteFully(int fd, const char* from, size_t bytes, off_t offset) {
  while (bytes > 0) {
    const ssize_t put = pwrite(fd, from, bytes, offset);
    if (put < 0 && errno == EINTR) {
      continue;
    }
    if (put <= 0) {
      return false;
    }
    from += put;
    offset += put;
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

bool CopyRange(int from, int to, int64_t offset, int64_t bytes) {
  std::string buffer(size_t{1} << 20, '\0');
  while (bytes > 0) {
    const size_t part = std::min(buffer.size(), static_cast<size_t>(bytes));
    if (!ReadFully(from, buffer.data(), part, offset)) {
      return false;
    }
    if (!WriteFully(to, buffer.data(), part, offset)) {
      return false;
    }
    offset += static_cast<int64_t>(part);
    bytes -= static_cast<int64_t>(part);
  }
  return true;
}

}  // namespace nsys
