// SPDX-License-Identifier: MIT
#include "ingest/sqlite_file.h"

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <optional>

#include <sys/stat.h>

#include <fmt/format.h>

#include "base/os_error.h"
#include "base/text.h"
#include "ingest/file_kind.h"

namespace nsys {
namespace {

std::optional<int64_t> FileSize(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0 || !S_ISREG(info.st_mode)) {
    return std::nullopt;
  }
  return info.st_size;
}

// Empty when there is no such file.
Result<std::string> ReadPrefix(const std::string& path, size_t bytes) {
  std::string prefix(bytes, '\0');
  std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen(path.c_str(), "rbe"), &std::fclose);
  if (!file && IsOutOfFiles(errno)) {
    return CannotOpen(path, errno);
  }
  prefix.resize(file ? std::fread(prefix.data(), 1, bytes, file.get()) : 0);
  return prefix;
}

uint32_t BigEndian(std::string_view bytes, size_t offset, size_t length) {
  uint32_t value = 0;
  for (size_t i = 0; i < length; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[offset + i]);
  }
  return value;
}

// A rollback journal is hot while its header is intact; a writer removes or zeroes it at the end.
Status CheckJournal(const std::string& path, const std::string& target) {
  using namespace std::string_view_literals;
  NSYS_ASSIGN(const std::string head, ReadPrefix(target + "-journal", 8));
  if (head != "\xD9\xD5\x05\xF9\x20\xA1\x63\xD7"sv) {
    return {};
  }
  return Error{
      .code = ErrorCode::kProfile,
      .message = fmt::format("{} has an unfinished transaction (a -journal file lies beside it): "
                             "it is still being written, or its writer died",
                             ShownPath(path)),
      .hint = "wait for the export to finish, or export the report again"};
}

// The header states the number of pages; a shorter file lost its end.
Status CheckLength(const std::string& path) {
  constexpr size_t kHeaderBytes = 100;
  NSYS_ASSIGN(const std::string header, ReadPrefix(path, kHeaderBytes));
  const int64_t size = FileSize(path).value_or(0);
  if (header.size() < kHeaderBytes) {
    return DamagedSqlite(path, "", fmt::format("it has {} bytes, fewer than a header", size));
  }
  const uint32_t stated_page = BigEndian(header, 16, 2);
  const int64_t page = stated_page == 1 ? 65536 : stated_page;
  const int64_t pages = BigEndian(header, 28, 4);
  // The count is meaningful only when the last writer kept it in step with the change counter.
  const bool valid = BigEndian(header, 24, 4) == BigEndian(header, 92, 4);
  if (!valid || pages * page <= size) {
    return {};
  }
  return DamagedSqlite(path, "", fmt::format("it has {} of {} bytes", size, pages * page));
}

}  // namespace

Error DamagedSqlite(const std::string& path, std::string_view table, std::string_view detail) {
  const std::string where =
      table.empty() ? std::string() : fmt::format(" in table {}", Printable(table));
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("{} is damaged or truncated{}: {}", ShownPath(path), where,
                                 Printable(detail)),
          .hint = "export the report again"};
}

Result<LogBeside> CheckSqliteFiles(const std::string& path, const std::string& target) {
  NSYS_TRY(CheckJournal(path, target));
  if (FileSize(target + "-wal").value_or(0) > 0) {
    return LogBeside::kYes;  // pages in the log need not be in the file yet
  }
  NSYS_TRY(CheckLength(path));
  return LogBeside::kNo;
}

}  // namespace nsys
