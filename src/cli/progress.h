// SPDX-License-Identifier: MIT
// One line of progress on standard error, for work that takes a while, on a terminal only.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <string>

namespace nsys {

class Progress {
 public:
  Progress();
  ~Progress();  // removes the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  // What is being done from now on: "reading" so many "rows". With the number of them that there
  // will be, about, their share and the time that remains are shown as well; 0: not known.
  void Begin(std::string what, std::string unit, int64_t total);
  // Something that cannot be counted, and is shown at once.
  void Begin(std::string what);

  // Notes how many have been done so far. Thread-safe; prints at most ten times a second, and
  // nothing in the first half second.
  void Update(int64_t done);

 private:
  using Clock = std::chrono::steady_clock;
  void Print(const std::string& text);

  const bool terminal_;
  const Clock::time_point started_;
  std::mutex mutex_;
  std::string what_ = "reading";
  std::string unit_ = "rows";
  int64_t total_ = 0;
  Clock::time_point phase_start_;
  Clock::time_point last_print_;
  bool shown_ = false;
};

// What the line says: "writing JSON: 45 %, 812,000 events/s, 3 s left".
std::string ProgressText(const std::string& what, const std::string& unit, int64_t done,
                         int64_t total, double seconds);

}  // namespace nsys
