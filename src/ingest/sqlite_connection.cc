// SPDX-License-Identifier: MIT
#include "ingest/sqlite_connection.h"

#include <filesystem>

#include <fmt/format.h>

#include "base/os_error.h"
#include "base/text.h"
#include "ingest/file_kind.h"
#include "ingest/sqlite_file.h"
#include "ingest/sqlite_temp.h"

namespace nsys {
namespace {

// `path` as a URI of SQLite: everything that could mean something there is percent-encoded.
std::string FileUri(std::string_view path) {
  std::string uri = path.starts_with('/') ? "file://" : "file:";
  for (const char c : path) {
    const bool plain = IsLetter(c) || IsDigit(c) || c == '/' || c == '.' || c == '-' || c == '_';
    if (plain) {
      uri += c;
    } else {
      uri += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return uri;
}

}  // namespace

Result<SqliteFile> SqliteFile::Open(const std::string& path) {
  // SQLite keeps its companion files beside the target of a symbolic link.
  std::error_code error;
  const std::string resolved = std::filesystem::canonical(path, error).string();
  const std::string target = error ? path : resolved;
  InputFiles inputs;
  inputs.Add(path);
  NSYS_ASSIGN(const LogBeside log, CheckSqliteFiles(path, target));
  if (log == LogBeside::kYes) {
    inputs.Add(target + "-wal");
  }
  return SqliteFile(path, target, log == LogBeside::kYes, std::move(inputs));
}

Result<SqliteDatabase> SqliteFile::Connect(bool for_queries) const {
  // With a log, the locking-free VFS and exclusive mode keep the index of the log in memory, and
  // the log itself is left as it is: no file appears, none changes.
  const char* base = has_log_ ? "unix-none" : "unix";
  const char* vfs = for_queries ? MemoryTempVfs(base) : base;
  const std::string uri = FileUri(target_) + (has_log_ ? "?mode=ro" : "?mode=ro&immutable=1");
  sqlite3* raw = nullptr;
  const int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  const int opened = sqlite3_open_v2(uri.c_str(), &raw, flags, vfs);
  SqliteDatabase db(raw);
  if (opened != SQLITE_OK) {
    return ReadError("", db.get());
  }
  if (has_log_) {
    sqlite3_db_config(db.get(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
    sqlite3_exec(db.get(), "PRAGMA locking_mode=EXCLUSIVE", nullptr, nullptr, nullptr);
  }
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, nullptr);
  sqlite3_db_config(db.get(), SQLITE_DBCONFIG_DQS_DML, 0, nullptr);
  // Not mapped: a file that is shortened meanwhile would end the process instead of a read.
  sqlite3_exec(db.get(), "PRAGMA cell_size_check=ON; PRAGMA mmap_size=0", nullptr, nullptr,
               nullptr);
  return db;
}

Error SqliteFile::ReadError(std::string_view table, sqlite3* db) const {
  if (Status unchanged = inputs_.CheckUnchanged(); !unchanged.ok()) {
    return std::move(unchanged).TakeError();
  }
  const int code = db == nullptr ? SQLITE_NOMEM : sqlite3_errcode(db) & 0xFF;
  if (code == SQLITE_CANTOPEN && IsOutOfFiles(sqlite3_system_errno(db))) {
    return CannotOpen(path_, sqlite3_system_errno(db));
  }
  const std::string detail = db == nullptr ? "out of memory" : sqlite3_errmsg(db);
  const bool damage = code == SQLITE_CORRUPT || code == SQLITE_NOTADB || code == SQLITE_IOERR ||
                      code == SQLITE_FORMAT || code == SQLITE_ERROR;
  if (damage) {
    return DamagedSqlite(path_, table, detail);
  }
  if (code == SQLITE_NOMEM) {
    return {.code = ErrorCode::kSkillExecution,
            .message = fmt::format("out of memory while reading {}", ShownPath(path_)),
            .hint = OutOfMemoryHint()};
  }
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("cannot read {}: {}", ShownPath(path_), Printable(detail)),
          .hint = code == SQLITE_BUSY || code == SQLITE_LOCKED
                      ? "another program is writing the file; wait until it has finished"
                      : ""};
}

}  // namespace nsys
