// SPDX-License-Identifier: MIT
#include "base/file.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/file_descriptor.h"
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

// Writes into something that cannot be replaced: a device, a pipe.
Status WriteInto(const std::string& target, const std::string& path, std::string_view text) {
  FileDescriptor file(::open(target.c_str(), O_WRONLY | O_CLOEXEC));
  const bool written = file.is_open() && WriteAll(file.get(), text) && file.Close();
  return written ? Status() : Status(CannotWrite(path, errno));
}

// Opens, flushes and closes.
Status Sync(const std::string& path, int flags) {
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | flags));
  // Some file systems cannot flush a folder, and need not.
  const bool flushed = file.is_open() && (::fsync(file.get()) == 0 || errno == EINVAL);
  return flushed ? Status() : Status(CannotWrite(path, errno));
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
  return CannotWrite("the result to standard output", errno);
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
  FileDescriptor file(::mkstemp(temporary.data()));
  if (!file.is_open()) {
    return CannotWrite(path, errno);
  }
  const Unfinished unfinished(temporary);
  const mode_t mask = ::umask(0);
  ::umask(mask);
  const mode_t mode = exists ? old.st_mode & 07777 : 0666 & ~mask;
  const bool written = WriteAll(file.get(), text) && ::fchmod(file.get(), mode) == 0 &&
                       ::fsync(file.get()) == 0 && file.Close() &&
                       ::rename(temporary.c_str(), target.c_str()) == 0;
  if (written) {
    return {};
  }
  Error error = CannotWrite(path, errno);
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
  const FileDescriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) {
    const int error = errno;
    return failed(std::strerror(error), HintFor(error, "check the path and its permissions"));
  }
  struct stat status{};
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return failed("it is no regular file", "give a file");
  }
  std::string text;
  std::array<char, 16384> block{};
  for (ssize_t got = 1; got != 0;) {
    got = ::read(file.get(), block.data(), block.size());
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

bool IsThere(const std::string& path) {
  struct stat info{};
  return ::lstat(path.c_str(), &info) == 0;
}

std::string FolderOf(const std::string& path) {
  return std::filesystem::path(path).parent_path().string();
}

Status SyncFolder(const std::string& folder) { return Sync(folder, O_DIRECTORY); }

Status SyncTree(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(fs::symlink_status(path, error))) {
    return Sync(path, 0);
  }
  fs::recursive_directory_iterator entry(path, error);
  for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
    const bool folder = entry->is_directory(error);
    if (folder || entry->is_regular_file(error)) {
      NSYS_TRY(Sync(entry->path().string(), folder ? O_DIRECTORY : 0));
    }
  }
  return error ? Status(CannotWrite(path, error.value())) : SyncFolder(path);
}

Error CannotWrite(std::string_view what, int error) {
  return {.code = ErrorCode::kOutput,
          .message = fmt::format("cannot write {}: {}", what, std::strerror(error)),
          .hint = HintFor(error, "check the free space and the permissions there")};
}

}  // namespace nsys
