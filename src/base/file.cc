// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/os_error.h"
#include "base/unfinished.h"

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
  const int error = errno;
  return Error{.code = ErrorCode::kOutput,
               .message = fmt::format("cannot write {}: {}", what, std::strerror(error)),
               .hint = HintFor(error, "check the free space and the permissions there")};
}

// Writes into something that cannot be replaced: a device, a pipe.
Status WriteInto(const std::string& target, const std::string& path, std::string_view text) {
  const int descriptor = ::open(target.c_str(), O_WRONLY | O_CLOEXEC);
  if (descriptor < 0) {
    return WriteError(path);
  }
  const bool written = WriteAll(descriptor, text);
  const int write_errno = errno;
  const bool closed = ::close(descriptor) == 0;
  if (written && closed) {
    return {};
  }
  if (!written) {
    errno = write_errno;
  }
  return WriteError(path);
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
  std::error_code ignored;
  const std::string resolved = std::filesystem::canonical(path, ignored).string();
  const std::string target = resolved.empty() ? path : resolved;
  struct stat old{};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && !S_ISREG(old.st_mode)) {
    return WriteInto(target, path, text);
  }
  std::string temporary = target + ".XXXXXX";
  const int descriptor = ::mkstemp(temporary.data());
  if (descriptor < 0) {
    return WriteError(path);
  }
  const Unfinished unfinished(temporary);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? old.st_mode & 07777 : 0666 & ~mask;
  const bool written =
      WriteAll(descriptor, text) && ::fchmod(descriptor, mode) == 0 && ::fsync(descriptor) == 0;
  const int write_errno = errno;
  const bool closed = ::close(descriptor) == 0;
  if (written && closed && ::rename(temporary.c_str(), target.c_str()) == 0) {
    return {};
  }
  if (!written) {
    errno = write_errno;
  }
  Error error = WriteError(path);
  ::unlink(temporary.c_str());
  return error;
}

Result<std::string> ReadFile(const std::string& path, size_t max_bytes, ErrorCode code) {
  const auto failed = [&](std::string_view why, std::string hint) {
    return Error{.code = code,
                 .message = fmt::format("cannot read {}: {}", path, why),
                 .hint = std::move(hint)};
  };
  // Without O_NONBLOCK, opening a pipe would wait for its other end.
  const int descriptor = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor < 0) {
    const int error = errno;
    return failed(std::strerror(error), HintFor(error, "check the path and its permissions"));
  }
  const std::unique_ptr<const int, void (*)(const int*)> closer(&descriptor,
                                                                [](const int* d) { ::close(*d); });
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || !S_ISREG(status.st_mode)) {
    return failed("it is no regular file", "give a file");
  }
  std::string text;
  std::array<char, 16384> block{};
  for (ssize_t got = 1; got != 0;) {
    got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno != EINTR) {
      return failed(std::strerror(errno), "check the file");
    }
    text.append(block.data(), static_cast<size_t>(std::max<ssize_t>(got, 0)));
    if (text.size() > max_bytes) {
      return failed(fmt::format("it has more than {} bytes", max_bytes), "make it shorter");
    }
  }
  return text;
}

bool IsSameFileOrInside(const std::string& path, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::path file = fs::weakly_canonical(path, error);
  const fs::path capture = error ? fs::path() : fs::weakly_canonical(other, error);
  if (error) {
    return false;  // a name that is too long, say: nothing is there, and nothing can be
  }
  struct stat a{};
  struct stat b{};
  const bool both = ::stat(path.c_str(), &a) == 0 && ::stat(other.c_str(), &b) == 0;
  if (both && a.st_dev == b.st_dev && a.st_ino == b.st_ino) {
    return true;
  }
  const auto [in_capture, in_file] =
      std::mismatch(capture.begin(), capture.end(), file.begin(), file.end());
  return in_capture == capture.end();
}

}  // namespace nsys
