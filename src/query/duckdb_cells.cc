// SPDX-License-Identifier: MIT
#include "query/duckdb_cells.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "base/number.h"
#include "base/text.h"
#include "query/row_budget.h"

namespace nsys {
namespace {

template <typename Number>
int64_t IntegerAt(const void* data, size_t row) {
  return static_cast<int64_t>(static_cast<const Number*>(data)[row]);
}

Value RealCell(double real) { return std::isfinite(real) ? Value(real) : Value(); }

// The number that a decimal text stands for, when it has so few digits that a real keeps them all.
Value NumberOrText(std::string_view text) {
  constexpr int kDigitsOfReal = 15;
  if (const auto integer = ParseInt(text)) {
    return *integer;
  }
  const auto digits = std::count_if(text.begin(), text.end(), IsDigit);
  const auto real = digits <= kDigitsOfReal ? ParseFiniteDouble(text) : std::nullopt;
  return real ? Value(*real) : Value(std::string(text));
}

}  // namespace

bool IsPlainType(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
    case DUCKDB_TYPE_TINYINT:
    case DUCKDB_TYPE_SMALLINT:
    case DUCKDB_TYPE_INTEGER:
    case DUCKDB_TYPE_BIGINT:
    case DUCKDB_TYPE_UTINYINT:
    case DUCKDB_TYPE_USMALLINT:
    case DUCKDB_TYPE_UINTEGER:
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_VARCHAR:
    case DUCKDB_TYPE_BLOB:
      return true;
    default:
      return false;
  }
}

bool IsWideNumber(duckdb_type type) {
  return type == DUCKDB_TYPE_UBIGINT || type == DUCKDB_TYPE_HUGEINT ||
         type == DUCKDB_TYPE_UHUGEINT || type == DUCKDB_TYPE_DECIMAL;
}

std::string ResultTypeName(duckdb_type type) {
  switch (type) {
    case DUCKDB_TYPE_FLOAT:
    case DUCKDB_TYPE_DOUBLE:
    case DUCKDB_TYPE_DECIMAL:
      return "REAL";
    case DUCKDB_TYPE_BLOB:
      return "BLOB";
    default:
      break;
  }
  const bool number = (IsPlainType(type) && type != DUCKDB_TYPE_VARCHAR) || IsWideNumber(type);
  return number ? "INTEGER" : "TEXT";
}

Value CellOf(const DuckdbApi& api, duckdb_vector vector, duckdb_type type, duckdb_type declared,
             size_t row) {
  const uint64_t* validity = api.vector_get_validity(vector);
  if (validity != nullptr && (validity[row / 64] >> (row % 64) & 1) == 0) {
    return {};
  }
  void* data = api.vector_get_data(vector);
  switch (type) {
    case DUCKDB_TYPE_BOOLEAN:
      return static_cast<const bool*>(data)[row];
    case DUCKDB_TYPE_TINYINT:
      return IntegerAt<int8_t>(data, row);
    case DUCKDB_TYPE_SMALLINT:
      return IntegerAt<int16_t>(data, row);
    case DUCKDB_TYPE_INTEGER:
      return IntegerAt<int32_t>(data, row);
    case DUCKDB_TYPE_BIGINT:
      return IntegerAt<int64_t>(data, row);
    case DUCKDB_TYPE_UTINYINT:
      return IntegerAt<uint8_t>(data, row);
    case DUCKDB_TYPE_USMALLINT:
      return IntegerAt<uint16_t>(data, row);
    case DUCKDB_TYPE_UINTEGER:
      return IntegerAt<uint32_t>(data, row);
    case DUCKDB_TYPE_FLOAT:
      return RealCell(static_cast<double>(static_cast<const float*>(data)[row]));
    case DUCKDB_TYPE_DOUBLE:
      return RealCell(static_cast<const double*>(data)[row]);
    default:
      break;
  }
  auto* texts = static_cast<duckdb_string_t*>(data);
  const std::string_view text(api.string_t_data(&texts[row]), api.string_t_length(texts[row]));
  if (type == DUCKDB_TYPE_BLOB) {
    return HexOf(text.data(), text.size());
  }
  return IsWideNumber(declared) ? NumberOrText(text) : Value(ToValidUtf8(text));
}

}  // namespace nsys
