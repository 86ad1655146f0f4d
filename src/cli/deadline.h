// SPDX-License-Identifier: MIT
// Ends the process when a statement outlives its time limit by far. Engines look at the clock
// between steps; a single function call inside a statement can go on for hours.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

namespace nsys {

// While it lives and `timeout_ms` and some grace have not passed, nothing happens; afterwards it
// prints the error of the limit, as JSON when `as_json`, removes what was being written, and
// exits 1.
class Deadline {
 public:
  Deadline(int64_t timeout_ms, bool as_json);
  ~Deadline();
  Deadline(const Deadline&) = delete;
  Deadline& operator=(const Deadline&) = delete;

 private:
  std::mutex mutex_;
  std::condition_variable done_signal_;
  bool done_ = false;
  std::thread watcher_;
};

}  // namespace nsys
