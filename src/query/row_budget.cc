// SPDX-License-Identifier: MIT
#include "query/row_budget.h"

#include <fmt/format.h>

#include "base/number.h"
#include "query/sql_text.h"

namespace nsys {

Result<RowFate> RowBudget::Next() {
  if (count_ >= limits_.max_rows) {
    if (limits_.keep_rows) {
      return RowFate::kEnd;
    }
    return SqlError(fmt::format("the statement gives more rows than the limit of {}",
                                FormatCount(limits_.max_rows)),
                    "add a LIMIT, aggregate, or allow more rows");
  }
  ++count_;
  return limits_.keep_rows && count_ > *limits_.keep_rows ? RowFate::kCount : RowFate::kKeep;
}

Status RowBudget::Charge(const std::vector<Value>& row) {
  bytes_ += static_cast<int64_t>(sizeof(row) + row.capacity() * sizeof(Value));
  for (const Value& value : row) {
    const std::string* text = value.AsText();
    bytes_ += text == nullptr ? 0 : static_cast<int64_t>(text->capacity());
  }
  if (bytes_ <= limits_.max_bytes) {
    return {};
  }
  return MemoryError(limits_, "aggregate, add a LIMIT, or allow more memory");
}

Error MemoryError(const SqlLimits& limits, std::string hint) {
  return SqlError(fmt::format("the statement needs more memory than the limit of {} MB",
                              FormatCount(limits.max_bytes >> 20)),
                  std::move(hint));
}

std::string HexOf(const void* bytes, size_t length) {
  static constexpr char kDigits[] = "0123456789abcdef";
  const auto* from = static_cast<const unsigned char*>(bytes);
  std::string hex;
  hex.reserve(2 * length);
  for (size_t i = 0; i < length; ++i) {
    hex += kDigits[from[i] >> 4];
    hex += kDigits[from[i] & 15];
  }
  return hex;
}

}  // namespace nsys
