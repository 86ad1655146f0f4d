// SPDX-License-Identifier: MIT
// Owners of DuckDB's handles, and the few steps that readers of Parquet take with them. Errors are
// DuckDB's own words; the caller knows which file they are about.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "ingest/duckdb_api.h"

namespace nsys {

// A database in memory that writes nothing anywhere and loads no extension.
class DuckdbDatabase {
 public:
  // `threads` 0: one per core. `max_bytes` of memory; 0: DuckDB's own limit.
  static Result<std::unique_ptr<DuckdbDatabase>> Open(int threads, int64_t max_bytes = 0);
  ~DuckdbDatabase();
  DuckdbDatabase(const DuckdbDatabase&) = delete;
  DuckdbDatabase& operator=(const DuckdbDatabase&) = delete;

  const DuckdbApi& api() const { return api_; }
  duckdb_database handle() const { return database_; }

 private:
  explicit DuckdbDatabase(const DuckdbApi& api) : api_(api) {}

  const DuckdbApi& api_;
  duckdb_database database_ = nullptr;
};

// One connection; one thread uses it at a time.
class DuckdbConnection {
 public:
  explicit DuckdbConnection(const DuckdbDatabase& database);
  ~DuckdbConnection();
  DuckdbConnection(const DuckdbConnection&) = delete;
  DuckdbConnection& operator=(const DuckdbConnection&) = delete;

  // Runs `sql` and hands over each chunk of its result, in order, as it is computed, until the sink
  // returns false. The message of the failure, or nothing.
  using ChunkSink = std::function<bool(duckdb_result& result, duckdb_data_chunk chunk)>;
  std::string Stream(const std::string& sql, const ChunkSink& sink);

  // The same for a statement that is prepared already.
  std::string StreamPrepared(duckdb_prepared_statement statement, const ChunkSink& sink);

  // Runs `sql`, which gives no rows of interest. The message of the failure, or nothing.
  std::string Execute(const std::string& sql);

  duckdb_connection handle() const { return connection_; }

 private:
  std::string Fetch(duckdb_result& result, const ChunkSink& sink);

  const DuckdbApi& api_;
  duckdb_connection connection_ = nullptr;
};

}  // namespace nsys
