// SPDX-License-Identifier: MIT
// Rows on their way into a table of DuckDB, in chunks.
#pragma once

#include <string>
#include <vector>

#include "ingest/duckdb_session.h"
#include "ingest/table_source.h"

namespace nsys {

struct AppendedColumn {
  CellType cell;     // how its cells arrive
  duckdb_type type;  // BIGINT, DOUBLE, VARCHAR or BLOB
  const char* name;  // of the type
};

class ChunkAppender {
 public:
  // `columns` are those of the table, and outlive the appender.
  ChunkAppender(const DuckdbApi& api, duckdb_connection connection, const std::string& table,
                const std::vector<AppendedColumn>& columns);
  ~ChunkAppender();
  ChunkAppender(const ChunkAppender&) = delete;
  ChunkAppender& operator=(const ChunkAppender&) = delete;

  // False on failure. Bytes of texts that are not UTF-8 become U+FFFD.
  bool Append(const Batch& batch);

  // The message of the failure, or nothing.
  std::string Close();

 private:
  void Fill(duckdb_vector vector, const AppendedColumn& target, const ColumnBatch& column,
            size_t first, size_t rows);
  void FillText(duckdb_vector vector, const AppendedColumn& target, std::string_view text,
                size_t row);

  const DuckdbApi& api_;
  const std::vector<AppendedColumn>& columns_;
  duckdb_data_chunk chunk_ = nullptr;
  duckdb_appender appender_ = nullptr;
  bool ok_ = false;
};

}  // namespace nsys
