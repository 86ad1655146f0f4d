// SPDX-License-Identifier: MIT
#include "ingest/duckdb_session.h"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/os_error.h"
#include "base/text.h"

namespace nsys {
namespace {

std::string Words(const char* message) {
  return message == nullptr || *message == '\0' ? "unknown error" : message;
}

// What DuckDB may use so that it tells of an end of memory by itself, which it survives; an
// allocation that fails at any moment can end the process. 0: its own limit.
Result<int64_t> MemoryLimit(int64_t max_bytes) {
  constexpr int64_t kLeast = int64_t{256} << 20;
  const std::optional<int64_t> left = AddressSpaceLeft();
  if (!left) {
    return max_bytes;
  }
  if (*left < kLeast) {
    return Error{
        .code = ErrorCode::kSkillExecution,
        .message = fmt::format("out of memory: DuckDB needs {} MiB, and the limit leaves {} MiB",
                               kLeast >> 20, std::max<int64_t>(*left, 0) >> 20),
        .hint = OutOfMemoryHint()};
  }
  return max_bytes > 0 ? std::min(max_bytes, *left / 2) : *left / 2;
}

}  // namespace

Result<std::unique_ptr<DuckdbDatabase>> DuckdbDatabase::Open(int threads, int64_t max_bytes) {
  NSYS_ASSIGN(const int64_t limit, MemoryLimit(max_bytes));
  NSYS_ASSIGN(const DuckdbApi* api, LoadDuckdb());
  std::unique_ptr<DuckdbDatabase> database(new DuckdbDatabase(*api));
  // The file cache would know files by a descriptor number, which is used again and again.
  constexpr std::array<std::pair<const char*, const char*>, 5> kSettings = {{
      {"autoinstall_known_extensions", "false"},
      {"autoload_known_extensions", "false"},
      {"temp_directory", ""},
      {"preserve_insertion_order", "true"},
      {"enable_external_file_cache", "false"},
  }};
  duckdb_config config = nullptr;
  api->create_config(&config);
  for (const auto& [name, value] : kSettings) {
    api->set_config(config, name, value);
  }
  if (threads > 0) {
    api->set_config(config, "threads", std::to_string(threads).c_str());
  }
  if (limit > 0) {
    api->set_config(config, "memory_limit", fmt::format("{}B", limit).c_str());
  }
  char* message = nullptr;
  const duckdb_state state = api->open_ext(nullptr, &database->database_, config, &message);
  api->destroy_config(&config);
  std::string reason = state == DuckDBSuccess ? "" : Printable(Words(message));
  if (message != nullptr) {
    api->free(message);
  }
  if (state == DuckDBSuccess) {
    return database;
  }
  const bool memory = TellsOfOutOfMemory(reason);
  return Error{.code = memory ? ErrorCode::kSkillExecution : ErrorCode::kProfile,
               .message = fmt::format("DuckDB could not start: {}", reason),
               .hint = memory ? OutOfMemoryHint() : ""};
}

DuckdbDatabase::~DuckdbDatabase() {
  if (database_ != nullptr) {
    api_.close(&database_);
  }
}

DuckdbConnection::DuckdbConnection(const DuckdbDatabase& database) : api_(database.api()) {
  if (api_.connect(database.handle(), &connection_) != DuckDBSuccess) {
    connection_ = nullptr;
  }
}

DuckdbConnection::~DuckdbConnection() {
  if (connection_ != nullptr) {
    api_.disconnect(&connection_);
  }
}

std::string DuckdbConnection::Stream(const std::string& sql, const ChunkSink& sink) {
  if (connection_ == nullptr) {
    return "no connection";
  }
  duckdb_prepared_statement statement = nullptr;
  std::string problem;
  if (api_.prepare(connection_, sql.c_str(), &statement) != DuckDBSuccess) {
    problem = Words(statement == nullptr ? nullptr : api_.prepare_error(statement));
  } else {
    problem = StreamPrepared(statement, sink);
  }
  api_.destroy_prepare(&statement);
  return problem;
}

std::string DuckdbConnection::Execute(const std::string& sql) {
  return Stream(sql, [](duckdb_result&, duckdb_data_chunk) { return true; });
}

std::string DuckdbConnection::StreamPrepared(duckdb_prepared_statement statement,
                                             const ChunkSink& sink) {
  duckdb_pending_result pending = nullptr;
  std::string problem;
  if (api_.pending_prepared_streaming(statement, &pending) != DuckDBSuccess) {
    problem = Words(pending == nullptr ? nullptr : api_.pending_error(pending));
  } else {
    duckdb_result result{};
    problem = api_.execute_pending(pending, &result) == DuckDBSuccess
                  ? Fetch(result, sink)
                  : Words(api_.result_error(&result));
    api_.destroy_result(&result);
  }
  api_.destroy_pending(&pending);
  return problem;
}

std::string DuckdbConnection::Fetch(duckdb_result& result, const ChunkSink& sink) {
  while (duckdb_data_chunk chunk = api_.fetch_chunk(result)) {
    const bool more = sink(result, chunk);
    api_.destroy_data_chunk(&chunk);
    if (!more) {
      return "";
    }
  }
  const char* failure = api_.result_error(&result);
  return failure == nullptr ? std::string() : std::string(failure);
}

}  // namespace nsys
