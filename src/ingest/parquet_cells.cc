// SPDX-License-Identifier: MIT
#include "ingest/parquet_cells.h"

#include <algorithm>
#include <cmath>

namespace nsys {
namespace {

template <typename Source, typename Wide>
void Widen(const void* data, const std::vector<uint8_t>& valid, std::vector<Wide>& to) {
  const auto* values = static_cast<const Source*>(data);
  for (size_t row = 0; row < valid.size(); ++row) {
    to[row] = valid[row] != 0 ? static_cast<Wide>(values[row]) : Wide{0};
  }
}

// Every integer type as Wide; false for any other type.
template <typename Wide>
bool WidenIntegers(duckdb_type type, const void* data, const std::vector<uint8_t>& valid,
                   std::vector<Wide>& to) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      Widen<bool>(data, valid, to);
      return true;
    case DUCKDB_TYPE_TINYINT:
      Widen<int8_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_SMALLINT:
      Widen<int16_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_INTEGER:
      Widen<int32_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_BIGINT:
      Widen<int64_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_UTINYINT:
      Widen<uint8_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_USMALLINT:
      Widen<uint16_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_UINTEGER:
      Widen<uint32_t>(data, valid, to);
      return true;
    case DUCKDB_TYPE_UBIGINT:
      Widen<uint64_t>(data, valid, to);
      return true;
    default:
      return false;
  }
}

// A real counts when it is a whole number in range.
template <typename Source>
void Whole(const void* data, std::vector<uint8_t>& valid, std::vector<int64_t>& to) {
  const auto* values = static_cast<const Source*>(data);
  for (size_t row = 0; row < valid.size(); ++row) {
    to[row] = 0;
    if (valid[row] == 0) {
      continue;
    }
    const auto real = static_cast<double>(values[row]);
    valid[row] = real >= -0x1p63 && real < 0x1p63 && std::trunc(real) == real ? 1 : 0;
    if (valid[row] != 0) {
      to[row] = static_cast<int64_t>(real);
    }
  }
}

}  // namespace

ChunkConverter::ChunkConverter(const DuckdbApi& api, std::span<const WantedColumn> wanted)
    : api_(api), columns_(wanted.size()), views_(wanted.size()) {
  for (size_t i = 0; i < wanted.size(); ++i) {
    columns_[i].type = wanted[i].type;
  }
}

Batch ChunkConverter::Convert(duckdb_result& result, duckdb_data_chunk chunk, size_t first_row) {
  const size_t rows = api_.data_chunk_get_size(chunk);
  for (size_t i = 0; i < columns_.size(); ++i) {
    Column& column = columns_[i];
    duckdb_vector vector = api_.data_chunk_get_vector(chunk, i);
    const uint64_t* mask = api_.vector_get_validity(vector);
    column.valid.assign(rows, 1);
    for (size_t row = 0; mask != nullptr && row < rows; ++row) {
      column.valid[row] = static_cast<uint8_t>(mask[row / 64] >> (row % 64) & 1);
    }
    const duckdb_type type = api_.column_type(&result, i);
    void* data = api_.vector_get_data(vector);
    const size_t count = rows - first_row;
    views_[i] = {.integers = {}, .texts = {}, .valid = {}};
    if (column.type == CellType::kInteger) {
      ConvertIntegers(type, data, column);
      views_[i].integers = {column.integers.data() + first_row, count};
    } else if (column.type == CellType::kReal) {
      ConvertReals(type, data, column);
      views_[i].reals = {column.reals.data() + first_row, count};
    } else {
      ConvertTexts(type, data, column);
      views_[i].texts = {column.texts.data() + first_row, count};
    }
    views_[i].valid = {column.valid.data() + first_row, count};
  }
  return {.rows = rows - first_row, .columns = views_};
}

void ChunkConverter::ConvertIntegers(duckdb_type type, const void* data, Column& column) const {
  std::vector<uint8_t>& valid = column.valid;
  std::vector<int64_t>& to = column.integers;
  to.resize(valid.size());
  if (WidenIntegers(type, data, valid, to)) {
    return;
  }
  switch (type) {
    case DUCKDB_TYPE_FLOAT:
      return Whole<float>(data, valid, to);
    case DUCKDB_TYPE_DOUBLE:
      return Whole<double>(data, valid, to);
    default:
      std::fill(valid.begin(), valid.end(), uint8_t{0});
      std::fill(to.begin(), to.end(), 0);
  }
}

void ChunkConverter::ConvertReals(duckdb_type type, const void* data, Column& column) const {
  std::vector<uint8_t>& valid = column.valid;
  std::vector<double>& to = column.reals;
  to.resize(valid.size());
  if (WidenIntegers(type, data, valid, to)) {
    return;
  }
  switch (type) {
    case DUCKDB_TYPE_FLOAT:
      return Widen<float>(data, valid, to);
    case DUCKDB_TYPE_DOUBLE:
      return Widen<double>(data, valid, to);
    default:
      std::fill(valid.begin(), valid.end(), uint8_t{0});
      std::fill(to.begin(), to.end(), 0.0);
  }
}

void ChunkConverter::ConvertTexts(duckdb_type type, void* data, Column& column) const {
  column.texts.assign(column.valid.size(), std::string_view());
  if (type != DUCKDB_TYPE_VARCHAR && type != DUCKDB_TYPE_BLOB) {
    std::fill(column.valid.begin(), column.valid.end(), uint8_t{0});
    return;
  }
  auto* strings = static_cast<duckdb_string_t*>(data);
  for (size_t row = 0; row < column.valid.size(); ++row) {
    if (column.valid[row] == 0) {
      continue;
    }
    column.texts[row] = {api_.string_t_data(&strings[row]), api_.string_t_length(strings[row])};
  }
}

}  // namespace nsys
