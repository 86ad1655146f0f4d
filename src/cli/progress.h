// SPDX-License-Identifier: MIT
// One line of progress on standard error, for loads that take a while, on a terminal only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>

namespace nsys {

class Progress {
 public:
  Progress();
  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // Notes that `rows` rows have been read so far. Thread-safe; prints at most ten times a second,
  // and nothing in the first half second.
  void Update(int64_t rows);

 private:
  using Clock = std::chrono::steady_clock;
  const bool terminal_;
  const Clock::time_point started_;
  std::mutex mutex_;
  Clock::time_point last_print_;
  bool shown_ = false;
};

}  // namespace nsys
