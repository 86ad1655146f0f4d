// SPDX-License-Identifier: MIT
#include "query/duckdb_appender.h"

#include <algorithm>
#include <string_view>

#include "base/text.h"

namespace nsys {

ChunkAppender::ChunkAppender(const DuckdbApi& api, duckdb_connection connection,
                             const std::string& table, const std::vector<AppendedColumn>& columns)
    : api_(api), columns_(columns) {
  std::vector<duckdb_logical_type> types;
  for (const AppendedColumn& target : columns_) {
    types.push_back(api_.create_logical_type(target.type));
  }
  chunk_ = api_.create_data_chunk(types.data(), types.size());
  for (duckdb_logical_type& type : types) {
    api_.destroy_logical_type(&type);
  }
  ok_ = api_.appender_create(connection, nullptr, table.c_str(), &appender_) == DuckDBSuccess;
}
ChunkAppender::~ChunkAppender() {
  api_.destroy_data_chunk(&chunk_);
  api_.appender_destroy(&appender_);
}

bool ChunkAppender::Append(const Batch& batch) {
  const size_t most = api_.vector_size();
  for (size_t first = 0; ok_ && first < batch.rows; first += most) {
    const size_t rows = std::min(most, batch.rows - first);
    api_.data_chunk_reset(chunk_);
    for (size_t i = 0; i < columns_.size(); ++i) {
      Fill(api_.data_chunk_get_vector(chunk_, i), columns_[i], batch.columns[i], first, rows);
    }
    api_.data_chunk_set_size(chunk_, rows);
    ok_ = api_.append_data_chunk(appender_, chunk_) == DuckDBSuccess;
  }
  return ok_;
}

std::string ChunkAppender::Close() {
  ok_ = ok_ && api_.appender_close(appender_) == DuckDBSuccess;
  const char* words = ok_ ? nullptr : api_.appender_error(appender_);
  return ok_ ? "" : (words == nullptr ? "the rows could not be loaded" : words);
}

void ChunkAppender::Fill(duckdb_vector vector, const AppendedColumn& target,
                         const ColumnBatch& column, size_t first, size_t rows) {
  api_.vector_ensure_validity_writable(vector);
  uint64_t* validity = api_.vector_get_validity(vector);
  void* data = api_.vector_get_data(vector);
  for (size_t row = 0; row < rows; ++row) {
    const size_t from = first + row;
    if (column.valid[from] == 0) {
      api_.validity_set_row_invalid(validity, row);
    } else if (target.cell == CellType::kInteger) {
      static_cast<int64_t*>(data)[row] = column.integers[from];
    } else if (target.cell == CellType::kReal) {
      static_cast<double*>(data)[row] = column.reals[from];
    } else {
      FillText(vector, target, column.texts[from], row);
    }
  }
}

void ChunkAppender::FillText(duckdb_vector vector, const AppendedColumn& target,
                             std::string_view text, size_t row) {
  if (target.type == DUCKDB_TYPE_BLOB || IsValidUtf8(text)) {
    const char* bytes = text.data() == nullptr ? "" : text.data();
    api_.vector_assign_string_element_len(vector, row, bytes, text.size());
    return;
  }
  const std::string valid = ToValidUtf8(text);
  api_.vector_assign_string_element_len(vector, row, valid.data(), valid.size());
}

}  // namespace nsys
