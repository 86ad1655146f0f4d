// SPDX-License-Identifier: MIT
#include "base/folder_lock.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/os_error.h"
#include "base/text.h"

namespace nsys {
namespace {

// Whether the open file is the one that the path leads to: the holder before us may have removed
// it while we waited.
bool IsAt(int descriptor, const std::string& path) {
  struct stat ours{};
  struct stat there{};
  return ::fstat(descriptor, &ours) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         ours.st_dev == there.st_dev && ours.st_ino == there.st_ino;
}

// Who holds the lock, as the holder wrote it.
std::string HolderOf(int descriptor) {
  std::array<char, 256> text{};
  const ssize_t got = ::pread(descriptor, text.data(), text.size(), 0);
  return got <= 0 ? "another process"
                  : Printable(std::string_view(text.data(), static_cast<size_t>(got)));
}

void WriteHolder(int descriptor) {
  std::array<char, 128> host{};
  if (::gethostname(host.data(), host.size() - 1) != 0) {
    host[0] = '\0';
  }
  const std::string text = fmt::format("process {} on {}", ::getpid(), host.data());
  // Told to others only: when the disk is full, they learn less.
  if (::ftruncate(descriptor, 0) == 0) {
    const ssize_t ignored = ::pwrite(descriptor, text.data(), text.size(), 0);
    static_cast<void>(ignored);
  }
}

bool HasNoLocks(int error) { return error == ENOSYS || error == EOPNOTSUPP || error == ENOLCK; }

}  // namespace

Result<std::unique_ptr<FolderLock>> FolderLock::Take(
    const std::string& folder, const std::optional<std::chrono::milliseconds>& wait) {
  using Clock = std::chrono::steady_clock;
  constexpr std::chrono::milliseconds kPause(20);
  const std::string path = fmt::format("{}/{}", folder, kFolderLockName);
  const auto begun = Clock::now();
  for (;;) {
    // From here until a signal's handler knows of the file that this makes.
    std::optional<HoldSignals> held(std::in_place);
    FileDescriptor file(::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666));
    if (!file.is_open()) {
      const int error = errno;
      return Error{.code = ErrorCode::kOutput,
                   .message = fmt::format("cannot write into {}: {}", folder, std::strerror(error)),
                   .hint = HintFor(error, "check the free space and the permissions there")};
    }
    const bool locked = ::flock(file.get(), LOCK_EX | LOCK_NB) == 0;
    if ((locked && IsAt(file.get(), path)) || (!locked && HasNoLocks(errno))) {
      WriteHolder(file.get());
      return std::unique_ptr<FolderLock>(new FolderLock(path, std::move(file)));
    }
    const std::string holder = locked ? std::string() : HolderOf(file.get());
    file.Close();
    if (locked) {
      continue;
    }
    if (wait && Clock::now() - begun >= *wait) {
      return Error{.code = ErrorCode::kOutput,
                   .message = fmt::format("{} is writing into {}", holder, folder),
                   .hint = "run again when it is done, or wait for it with --wait"};
    }
    held.reset();
    std::this_thread::sleep_for(kPause);
  }
}

FolderLock::~FolderLock() {
  if (IsAt(file_.get(), path_)) {
    ::unlink(path_.c_str());
  }
}

}  // namespace nsys
