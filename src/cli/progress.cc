// SPDX-License-Identifier: MIT
#include "cli/progress.h"

#include <cstdio>
#include <string>

#include <unistd.h>

#include <fmt/core.h>

#include "base/number.h"

namespace nsys {

Progress::Progress()
    : terminal_(::isatty(STDERR_FILENO) == 1), started_(Clock::now()), last_print_(started_) {}

Progress::~Progress() {
  if (shown_) {
    std::fputs("\r\x1b[K", stderr);
  }
}

void Progress::Update(int64_t rows) {
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
  shown_ = true;
  const double seconds = std::chrono::duration<double>(now - started_).count();
  const std::string line =
      fmt::format("\rreading: {} rows, {:.1f} s\x1b[K", FormatCount(rows), seconds);
  std::fputs(line.c_str(), stderr);
}

}  // namespace nsys
