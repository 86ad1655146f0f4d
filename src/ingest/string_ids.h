// SPDX-License-Identifier: MIT
// The capture's own string table: number -> interned text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "ingest/table_source.h"
#include "trace/trace.h"

namespace nsys {

class StringIds {
 public:
  // Reads the table into `pool`; invalid UTF-8 is replaced. Empty when the capture lacks the table.
  static Result<StringIds> Load(const TableSource& source, const Schema& schema, StringPool& pool);

  // Number of texts that were not UTF-8.
  int64_t repaired() const { return repaired_; }

  // What could not be read of the table.
  const std::vector<std::string>& warnings() const { return warnings_; }

  // The text of number `id`; kNone for nothing and for a number that the table lacks.
  StringId Find(std::optional<int64_t> id) const {
    if (!id) {
      return StringId::kNone;
    }
    if (*id >= 0 && static_cast<uint64_t>(*id) < dense_.size()) {
      return dense_[static_cast<size_t>(*id)];
    }
    if (sparse_.empty()) {
      return StringId::kNone;
    }
    const auto at = sparse_.find(*id);
    return at == sparse_.end() ? StringId::kNone : at->second;
  }

  // The numbers of the texts that `wanted(id)` holds for, ascending.
  template <typename Wanted>
  std::vector<int64_t> NumbersOf(const Wanted& wanted) const {
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < dense_.size(); ++i) {
      if (dense_[i] != StringId::kNone && wanted(dense_[i])) {
        numbers.push_back(static_cast<int64_t>(i));
      }
    }
    for (const auto& [number, id] : sparse_) {
      if (wanted(id)) {
        numbers.push_back(number);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

 private:
  void Index(const std::vector<std::pair<int64_t, StringId>>& entries);

  int64_t repaired_ = 0;
  std::vector<std::string> warnings_;
  std::vector<StringId> dense_;
  std::unordered_map<int64_t, StringId> sparse_;
};

// Interns `text` with invalid UTF-8 replaced, as both file formats must give the same texts. Adds 1
// to `repaired` when it was not valid.
StringId InternValid(StringPool& pool, std::string_view text, int64_t& repaired);

}  // namespace nsys
