// SPDX-License-Identifier: MIT
// From DuckDB's vectors to the batches that a TableSource hands over: every integer width becomes
// 64 bits, texts stay where they are.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "ingest/duckdb_api.h"
#include "ingest/table_source.h"

namespace nsys {

// Converts chunk after chunk; the buffers are reused.
class ChunkConverter {
 public:
  ChunkConverter(const DuckdbApi& api, std::span<const WantedColumn> wanted);

  // The rows of `chunk` from `first_row` on. Valid until the next call, and as long as the chunk.
  Batch Convert(duckdb_result& result, duckdb_data_chunk chunk, size_t first_row);

 private:
  struct Column {
    CellType type = CellType::kInteger;
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string_view> texts;
    std::vector<uint8_t> valid;
    std::vector<ForeignCell> foreign;
  };

  void ConvertCells(duckdb_type type, void* data, Column& column) const;
  void ConvertIntegers(duckdb_type type, const void* data, Column& column) const;
  void ConvertReals(duckdb_type type, const void* data, Column& column) const;
  void ConvertTexts(duckdb_type type, void* data, Column& column) const;
  void ConvertForeign(duckdb_type type, void* data, size_t first_row, Column& column);

  const DuckdbApi& api_;
  std::vector<Column> columns_;
  std::vector<uint8_t> had_value_;
  std::vector<ColumnBatch> views_;
};

}  // namespace nsys
