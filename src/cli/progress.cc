// SPDX-License-Identifier: MIT
#include "cli/progress.h"

#include <algorithm>
#include <cstdio>
#include <string>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include "base/number.h"

namespace nsys {

std::string ProgressText(const std::string& what, const std::string& unit, int64_t done,
                         int64_t total, double seconds) {
  if (total <= 0 || done <= 0) {
    return fmt::format("{}: {} {}, {:.1f} s", what, FormatCount(done), unit, seconds);
  }
  const double rate = static_cast<double>(done) / std::max(seconds, 1e-3);
  // The total is an estimate: it never says that all is done while something is.
  const int64_t percent = std::min<int64_t>(
      99, static_cast<int64_t>(100.0 * static_cast<double>(done) / static_cast<double>(total)));
  const double left = static_cast<double>(std::max<int64_t>(total - done, 0)) / rate;
  return fmt::format("{}: {} %, {} {}/s, {:.0f} s left", what, percent,
                     FormatCount(static_cast<int64_t>(rate)), unit, left);
}

Progress::Progress()
    : terminal_(::isatty(STDERR_FILENO) == 1),
      started_(Clock::now()),
      phase_start_(started_),
      last_print_(started_) {}

Progress::~Progress() {
  if (shown_) {
    std::fputs("\r\x1b[K", stderr);
  }
}

void Progress::Begin(std::string what, std::string unit, int64_t total) {
  const std::lock_guard lock(mutex_);
  what_ = std::move(what);
  unit_ = std::move(unit);
  total_ = total;
  phase_start_ = Clock::now();
}

void Progress::Begin(std::string what) {
  const std::lock_guard lock(mutex_);
  if (terminal_) {
    Print(what);
  }
}

void Progress::Update(int64_t done) {
  if (!terminal_) {
    return;
  }
  const auto now = Clock::now();
  if (now - started_ < std::chrono::milliseconds(500)) {
    return;
  }
  const std::lock_guard lock(mutex_);
  if (shown_ && now - last_print_ < std::chrono::milliseconds(100)) {
    return;
  }
  last_print_ = now;
  const double seconds = std::chrono::duration<double>(now - phase_start_).count();
  Print(ProgressText(what_, unit_, done, total_, seconds));
}

void Progress::Print(const std::string& text) {
  shown_ = true;
  std::fputs(fmt::format("\r{}\x1b[K", text).c_str(), stderr);
}

}  // namespace nsys
