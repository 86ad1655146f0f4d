// SPDX-License-Identifier: MIT
// Writes a Parquet file row group by row group: numbers, doubles and UTF-8 text, with or without
// NULL, pages packed by zstd. Row groups are encoded on any thread (parquet_encoder.h) and taken in
// their order; only what the footer says of each is kept.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_sink.h"
#include "base/result.h"

namespace nsys {

enum class ParquetType : uint8_t { kInt64, kUint64, kUint32, kDouble, kText };

struct ParquetColumn {
  std::string_view name;  // lives as long as the schema is used
  ParquetType type = ParquetType::kInt64;
  bool nullable = false;
};
using ParquetSchema = std::vector<ParquetColumn>;

// What the footer says of a column of a row group.
struct ParquetChunk {
  bool dictionary = false;
  uint64_t offset = 0;       // of its first page in the row group
  uint64_t data_offset = 0;  // of its first page of data
  uint64_t plain_bytes = 0;  // both with the heads of the pages
  uint64_t packed_bytes = 0;
  int64_t nulls = 0;
  bool has_range = false;  // whether the smallest and the largest value are known
  std::string min;         // in plain form
  std::string max;
};

struct ParquetRowGroup {
  int64_t rows = 0;
  std::vector<ParquetChunk> chunks;  // by column
  PackedBlock packed;                // for BlockSink::Take
};

class ParquetFile {
 public:
  ParquetFile(const ParquetSchema& schema, BlockSink& sink) : schema_(schema), sink_(sink) {}

  // In this order; one thread. No row group may be empty.
  Status Begin();
  Status Take(const ParquetRowGroup& group);
  Status End();

  int64_t rows() const { return rows_; }

 private:
  const ParquetSchema& schema_;
  BlockSink& sink_;
  uint64_t offset_ = 0;
  int64_t rows_ = 0;
  size_t groups_ = 0;
  std::string group_entries_;  // what the footer says of the row groups so far
};

// Reads the footer of the file at `path` back: an error unless it is one of a Parquet file that
// lies whole before it and has `rows` rows.
Status CheckParquetFooter(const std::string& path, int64_t rows);

}  // namespace nsys
