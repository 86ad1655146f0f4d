// SPDX-License-Identifier: MIT
// What a statement of the user may do in SQLite: read the tables and views of the capture, call
// functions that compute, and nothing else; for a while, in so much memory.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <sqlite3.h>

#include "base/result.h"
#include "query/sql_session.h"
#include "trace/trace.h"

namespace nsys {

// Settings of a connection before anything of the user's reaches it, and the functions of views.h.
// Temporary results stay in memory.
Status PrepareConnection(sqlite3* db);

// Creates the short views in the temporary schema, where they hide nothing and are not listed.
Status CreateShortViews(sqlite3* db, const Schema& schema);

// What the sandbox lets pass, for messages.
inline constexpr std::string_view kSqliteReads =
    "a capture is only read: SELECT, WITH, VALUES, EXPLAIN, PRAGMA table_info";

// Why a statement stopped before its end.
enum class StopReason { kNone, kInterrupted, kTimeout };

// Tells a running statement to stop. Interrupt and Check may be called from any thread.
class StopSign {
 public:
  void Start(int64_t timeout_ms);
  void Interrupt() { interrupted_.store(true); }
  void Clear() { interrupted_.store(false); }
  // Whether it is time to stop, and why; cheap.
  StopReason Check();
  StopReason reason() const { return reason_.load(); }

 private:
  std::atomic<bool> interrupted_ = false;
  std::chrono::steady_clock::time_point deadline_;
  std::atomic<StopReason> reason_ = StopReason::kNone;
};

// The error of a statement that was stopped.
Error StoppedError(StopReason reason, const SqlLimits& limits);

// The gate of one connection. While it is closed, only reading passes; what opens it is code of
// ours that creates and fills tables.
class SqliteGate {
 public:
  SqliteGate(sqlite3* db, const std::vector<std::string>& tables,
             const std::vector<std::string>& views, StopSign& stop);

  void Close();
  void Open();

  // Why something was refused since the gate was closed, if it was.
  const std::optional<Error>& refused() const { return refused_; }

  int Authorize(int action, const char* first, const char* second);

 private:
  bool MayRead(const char* table, const char* column);

  sqlite3* db_;
  std::set<std::string> tables_;  // in lower case
  std::set<std::string> views_;
  StopSign& stop_;
  std::optional<Error> refused_;
};

// Limits the memory of all SQLite connections of the process while it lives: to what they use now,
// without `already_own` bytes of this session, and `bytes` more for each that lives.
class SqliteMemoryLimit {
 public:
  SqliteMemoryLimit(int64_t bytes, int64_t already_own);
  ~SqliteMemoryLimit();
  SqliteMemoryLimit(const SqliteMemoryLimit&) = delete;
  SqliteMemoryLimit& operator=(const SqliteMemoryLimit&) = delete;

 private:
  int64_t bytes_;
};

}  // namespace nsys
