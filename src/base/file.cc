// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

namespace nsys {
namespace {

// Writes all of `text` to the descriptor; false with errno set when that fails.
bool WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return false;
    }
    text.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

Error WriteError(std::string_view what) {
  return Error{.code = ErrorCode::kOutput,
               .message = fmt::format("cannot write {}: {}", what, std::strerror(errno)),
               .hint = "check the free space and the permissions there"};
}

}  // namespace

Status WriteStdout(std::string_view text) {
  constexpr int kBrokenPipeStatus = 128 + 13;
  if (WriteAll(STDOUT_FILENO, text)) {
    return {};
  }
  if (errno == EPIPE) {
    std::_Exit(kBrokenPipeStatus);
  }
  return WriteError("the result to standard output");
}

Status WriteFileAtomically(const std::string& path, std::string_view text) {
  std::string temporary = path + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) {
    return WriteError(path);
  }
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const bool written = WriteAll(descriptor, text) && ::fchmod(descriptor, 0666 & ~mask) == 0 &&
                       ::fsync(descriptor) == 0;
  const int write_errno = errno;
  const bool closed = ::close(descriptor) == 0;
  if (written && closed && ::rename(temporary.c_str(), path.c_str()) == 0) {
    return {};
  }
  if (!written) {
    errno = write_errno;
  }
  Error error = WriteError(path);
  ::unlink(temporary.c_str());
  return error;
}

}  // namespace nsys
