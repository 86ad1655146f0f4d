// SPDX-License-Identifier: MIT
// How many rows of a result are kept, counted and paid for, the same for both engines.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "query/sql_session.h"

namespace nsys {

enum class RowFate { kKeep, kCount, kEnd };  // kEnd: no more rows are wanted

class RowBudget {
 public:
  explicit RowBudget(const SqlLimits& limits) : limits_(limits) {}

  // What to do with the next row. An error when it is one too many.
  Result<RowFate> Next();

  // Pays for a kept row.
  Status Charge(const std::vector<Value>& row);

  // All rows, when the statement ran to its end.
  std::optional<int64_t> Total(bool complete) const {
    return complete ? std::optional(count_) : std::nullopt;
  }

 private:
  SqlLimits limits_;
  int64_t count_ = 0;
  int64_t bytes_ = 0;
};

// The error for a statement that needs more memory than it may.
Error MemoryError(const SqlLimits& limits, std::string hint);

// `bytes` in lower-case hexadecimal.
std::string HexOf(const void* bytes, size_t length);

}  // namespace nsys
