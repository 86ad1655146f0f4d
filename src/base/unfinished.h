// SPDX-License-Identifier: MIT
// What must not be left behind when a signal ends the process: temporary files and folders. And
// the short stretches in which a signal has to wait. All of it in fixed memory, as a signal handler
// may not allocate.
#pragma once

#include <string>

namespace nsys {

// While it lives, `path` (a file or a folder, there or not) is removed when a signal ends the
// process.
class Unfinished {
 public:
  explicit Unfinished(const std::string& path);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  int slot_;  // -1: there was no room
};

// For a handler that is about to end the process: removes them. Uses only what a handler may use
// (unlink, fork, exec, wait).
void RemoveUnfinished() noexcept;

// While one lives, a signal that would end the process is put off: the handler asks HoldSignal and
// returns, and the destructor raises the signal again.
class HoldSignals {
 public:
  HoldSignals();
  ~HoldSignals();
  HoldSignals(const HoldSignals&) = delete;
  HoldSignals& operator=(const HoldSignals&) = delete;
};

// For the handler: whether the signal has to wait, in which case it is remembered.
bool HoldSignal(int signal_number) noexcept;

}  // namespace nsys
