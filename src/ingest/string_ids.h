// SPDX-License-Identifier: MIT
// The capture's own string table: number -> interned text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/cells.h"
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
    return FindScattered(*id);
  }

  // Appends the text of each row of a column of numbers.
  void Append(const Batch& batch, SourceColumnIndex column, Rows rows,
              std::vector<StringId>& to) const;

  // The numbers of the texts that `wanted(id)` holds for, ascending.
  template <typename Wanted>
  std::vector<int64_t> NumbersOf(const Wanted& wanted) const {
    std::vector<int64_t> numbers;
    for (size_t i = 0; i < dense_.size(); ++i) {
      if (dense_[i] != StringId::kNone && wanted(dense_[i])) {
        numbers.push_back(static_cast<int64_t>(i));
      }
    }
    for (const Entry& entry : scattered_) {
      if (entry.text != StringId::kNone && wanted(entry.text)) {
        numbers.push_back(entry.number);
      }
    }
    std::sort(numbers.begin(), numbers.end());
    return numbers;
  }

 private:
  // A place of the table of scattered numbers; free ones have no text.
  struct Entry {
    int64_t number = 0;
    StringId text = StringId::kNone;
  };

  void Index(std::span<const Entry> entries);
  void Scatter(std::span<const Entry> entries);

  // The place of `number`: where it is, or the free one where it would go.
  size_t PlaceOf(int64_t number) const {
    const size_t mask = scattered_.size() - 1;
    const uint64_t mixed = static_cast<uint64_t>(number) * 0x9E3779B97F4A7C15U;
    size_t at = static_cast<size_t>(mixed >> 32) & mask;
    while (scattered_[at].text != StringId::kNone && scattered_[at].number != number) {
      at = (at + 1) & mask;
    }
    return at;
  }

  StringId FindScattered(int64_t number) const {
    return scattered_.empty() ? StringId::kNone : scattered_[PlaceOf(number)].text;
  }

  int64_t repaired_ = 0;
  std::vector<std::string> warnings_;
  std::vector<StringId> dense_;
  std::vector<Entry> scattered_;  // open addressing, at most half full; a power of two, or empty
};

}  // namespace nsys
