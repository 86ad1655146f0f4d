// SPDX-License-Identifier: MIT
// The cells of a batch, row by row or column by column.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "ingest/table_source.h"

namespace nsys {

// A source column that was asked for; one that the table lacks reads as nothing in every row.
enum class SourceColumnIndex : uint32_t { kAbsent = 0xFFFFFFFF };

// Rows of a batch, ascending.
using Rows = std::span<const uint32_t>;

// One row of a batch.
class Cells {
 public:
  Cells(const Batch& batch, size_t row) : batch_(batch), row_(row) {}

  const Batch& batch() const { return batch_; }
  size_t row() const { return row_; }

  bool Has(SourceColumnIndex column) const {
    return column != SourceColumnIndex::kAbsent &&
           batch_.columns[static_cast<size_t>(column)].valid[row_] != 0;
  }

  std::optional<int64_t> Integer(SourceColumnIndex column) const {
    if (column == SourceColumnIndex::kAbsent) {
      return std::nullopt;
    }
    const ColumnBatch& cells = batch_.columns[static_cast<size_t>(column)];
    if (cells.valid[row_] == 0) {
      return std::nullopt;
    }
    return cells.integers[row_];
  }

  std::optional<double> Real(SourceColumnIndex column) const {
    if (column == SourceColumnIndex::kAbsent) {
      return std::nullopt;
    }
    const ColumnBatch& cells = batch_.columns[static_cast<size_t>(column)];
    if (cells.valid[row_] == 0) {
      return std::nullopt;
    }
    return cells.reals[row_];
  }

  std::optional<std::string_view> Text(SourceColumnIndex column) const {
    if (column == SourceColumnIndex::kAbsent) {
      return std::nullopt;
    }
    const ColumnBatch& cells = batch_.columns[static_cast<size_t>(column)];
    if (cells.valid[row_] == 0) {
      return std::nullopt;
    }
    return cells.texts[row_];
  }

 private:
  const Batch& batch_;
  size_t row_;
};

// The cells of a column, or nothing when the table lacks it.
inline const ColumnBatch* ColumnOf(const Batch& batch, SourceColumnIndex column) {
  return column == SourceColumnIndex::kAbsent ? nullptr
                                              : &batch.columns[static_cast<size_t>(column)];
}

// Appends `make(cell)` for the cell of each row; a cell that has no value reads as `missing`.
template <typename Value, typename Make>
void AppendIntegers(const Batch& batch, SourceColumnIndex index, Rows rows, int64_t missing,
                    std::vector<Value>& to, const Make& make) {
  const ColumnBatch* column = ColumnOf(batch, index);
  const size_t before = to.size();
  to.resize(before + rows.size());
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool has = column != nullptr && column->valid[rows[i]] != 0;
    to[before + i] = make(has ? column->integers[rows[i]] : missing);
  }
}

inline void AppendIntegers(const Batch& batch, SourceColumnIndex index, Rows rows, int64_t missing,
                           std::vector<int64_t>& to) {
  AppendIntegers(batch, index, rows, missing, to, [](int64_t cell) { return cell; });
}

// Whether two rows of a batch have the same in some columns of integers.
class SameCells {
 public:
  SameCells(const Batch& batch, std::initializer_list<SourceColumnIndex> columns) {
    for (const SourceColumnIndex index : columns) {
      if (const ColumnBatch* column = ColumnOf(batch, index); column != nullptr) {
        columns_[count_++] = column;
      }
    }
  }

  bool operator()(uint32_t a, uint32_t b) const {
    bool same = true;
    for (size_t i = 0; i < count_; ++i) {
      same = same && columns_[i]->integers[a] == columns_[i]->integers[b] &&
             columns_[i]->valid[a] == columns_[i]->valid[b];
    }
    return same;
  }

 private:
  std::array<const ColumnBatch*, 8> columns_ = {};
  size_t count_ = 0;
};

}  // namespace nsys
