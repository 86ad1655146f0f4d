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

bool IsInteger(duckdb_type type) {
  return type == DUCKDB_TYPE_BOOLEAN || type == DUCKDB_TYPE_TINYINT ||
         type == DUCKDB_TYPE_SMALLINT || type == DUCKDB_TYPE_INTEGER ||
         type == DUCKDB_TYPE_BIGINT || type == DUCKDB_TYPE_UTINYINT ||
         type == DUCKDB_TYPE_USMALLINT || type == DUCKDB_TYPE_UINTEGER ||
         type == DUCKDB_TYPE_UBIGINT;
}

bool IsReal(duckdb_type type) { return type == DUCKDB_TYPE_FLOAT || type == DUCKDB_TYPE_DOUBLE; }

bool IsText(duckdb_type type) { return type == DUCKDB_TYPE_VARCHAR || type == DUCKDB_TYPE_BLOB; }

// Whether every cell of `type` can be had as `wanted`.
bool Fits(CellType wanted, duckdb_type type) {
  switch (wanted) {
    case CellType::kInteger:
      return IsInteger(type);
    case CellType::kReal:
      return IsInteger(type) || IsReal(type);
    case CellType::kText:
      return IsText(type);
  }
  return false;
}

std::string_view NameOfType(duckdb_type type) {
  if (IsText(type)) {
    return type == DUCKDB_TYPE_BLOB ? "blob" : "text";
  }
  if (IsInteger(type) || IsReal(type)) {
    return IsReal(type) ? "real" : "integer";
  }
  switch (type) {
    case DUCKDB_TYPE_HUGEINT:
    case DUCKDB_TYPE_UHUGEINT:
      return "integer of 128 bits";
    case DUCKDB_TYPE_DECIMAL:
      return "decimal";
    case DUCKDB_TYPE_DATE:
    case DUCKDB_TYPE_TIME:
    case DUCKDB_TYPE_TIMESTAMP:
    case DUCKDB_TYPE_TIMESTAMP_S:
    case DUCKDB_TYPE_TIMESTAMP_MS:
    case DUCKDB_TYPE_TIMESTAMP_NS:
    case DUCKDB_TYPE_TIMESTAMP_TZ:
      return "date or time";
    default:
      return "nested or rare";
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
    const size_t count = rows - first_row;
    const std::span<const uint8_t> valid{column.valid.data() + first_row, count};
    column.foreign.clear();
    if (Fits(column.type, type)) {
      ConvertCells(type, api_.vector_get_data(vector), column);
    } else {
      ConvertForeign(type, api_.vector_get_data(vector), first_row, column);
    }
    views_[i] = {.integers = {}, .texts = {}, .valid = valid, .foreign = column.foreign};
    if (column.type == CellType::kInteger) {
      views_[i].integers = {column.integers.data() + first_row, count};
    } else if (column.type == CellType::kReal) {
      views_[i].reals = {column.reals.data() + first_row, count};
    } else {
      views_[i].texts = {column.texts.data() + first_row, count};
    }
  }
  return {.rows = rows - first_row, .columns = views_};
}

// Cells of which not every one can be had as its column is wanted.
void ChunkConverter::ConvertForeign(duckdb_type type, void* data, size_t first_row,
                                    Column& column) {
  had_value_ = column.valid;
  ConvertCells(type, data, column);
  for (size_t row = first_row; row < had_value_.size(); ++row) {
    if (had_value_[row] != 0 && column.valid[row] == 0) {
      column.foreign.push_back({.row = row - first_row, .type = NameOfType(type)});
    }
  }
}

void ChunkConverter::ConvertCells(duckdb_type type, void* data, Column& column) const {
  switch (column.type) {
    case CellType::kInteger:
      return ConvertIntegers(type, data, column);
    case CellType::kReal:
      return ConvertReals(type, data, column);
    case CellType::kText:
      return ConvertTexts(type, data, column);
  }
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
  if (!IsText(type)) {
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
