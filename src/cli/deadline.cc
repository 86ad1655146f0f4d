// SPDX-License-Identifier: MIT
#include "cli/deadline.h"

#include <chrono>
#include <cstdio>
#include <string>

#include <unistd.h>

#include <fmt/core.h>

#include "base/number.h"
#include "base/result.h"
#include "base/unfinished.h"
#include "output/rows_json.h"

namespace nsys {
namespace {

constexpr int64_t kGraceMs = 2000;  // in which the engine itself should stop

[[noreturn]] void EndProcess(int64_t timeout_ms, bool as_json) {
  const Error error{.code = ErrorCode::kSql,
                    .message = fmt::format("the statement ran longer than {}",
                                           FormatDuration(timeout_ms * 1'000'000)),
                    .hint = "ask for less, or give it more time"};
  const std::string text = as_json ? ErrorToJson(error)
                                   : fmt::format("Error [{}]: {}; {}\n", ErrorCodeName(error.code),
                                                 error.message, error.hint);
  // Nothing has gone to standard output yet: results are printed when they are complete.
  const ssize_t written =
      ::write(as_json ? STDOUT_FILENO : STDERR_FILENO, text.data(), text.size());
  static_cast<void>(written);
  RemoveUnfinished();
  ::_exit(1);
}

}  // namespace

Deadline::Deadline(int64_t timeout_ms, bool as_json)
    : watcher_([this, timeout_ms, as_json] {
        std::unique_lock lock(mutex_);
        const auto limit = std::chrono::milliseconds(timeout_ms + kGraceMs);
        if (!done_signal_.wait_for(lock, limit, [this] { return done_; })) {
          EndProcess(timeout_ms, as_json);
        }
      }) {}

Deadline::~Deadline() {
  {
    const std::scoped_lock lock(mutex_);
    done_ = true;
  }
  done_signal_.notify_all();
  watcher_.join();
}

}  // namespace nsys
