// SPDX-License-Identifier: MIT
#include "base/file_stamp.h"

#include <ctime>

#include <sys/stat.h>

namespace nsys {
namespace {

constexpr int64_t kSecond = 1'000'000'000;

int64_t Nanoseconds(const timespec& time) { return time.tv_sec * kSecond + time.tv_nsec; }

// What the kernel stamps files with; it goes forward in steps of some milliseconds.
int64_t StampingClock() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return Nanoseconds(now);
}

}  // namespace

std::optional<FileStamp> StampAt(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) {
    return std::nullopt;
  }
  return FileStamp{.device = info.st_dev,
                   .inode = info.st_ino,
                   .size = info.st_size,
                   .modified_ns = Nanoseconds(info.st_mtim)};
}

std::optional<FileStamp> SettledStampAt(const std::string& path) {
  constexpr int kMostWaits = 100;
  constexpr timespec kWait = {.tv_sec = 0, .tv_nsec = 1'000'000};
  for (int waits = 0;; ++waits) {
    const int64_t before = StampingClock();
    const std::optional<FileStamp> stamp = StampAt(path);
    // A time in the future comes from another machine's clock or was set by hand.
    const bool fresh =
        stamp && stamp->modified_ns >= before && stamp->modified_ns < before + kSecond;
    if (!fresh || waits == kMostWaits) {
      return stamp;
    }
    nanosleep(&kWait, nullptr);
  }
}

}  // namespace nsys
