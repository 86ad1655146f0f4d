// SPDX-License-Identifier: MIT
// Cells of another type than their column's: they read as nothing, and each column that has such
// is told once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ingest/table_source.h"

namespace nsys {

class ForeignCells {
 public:
  // Columns of numbers below `required` are checked by Check().
  explicit ForeignCells(size_t required = 0) : columns_(required), required_(required) {}

  // To be called with every batch of one table.
  void Count(const Batch& batch) {
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      const bool unseen = i < required_ && !columns_[i].has_good;
      if (!batch.columns[i].foreign.empty() || unseen) {
        Note(i, batch.columns[i]);
      }
    }
  }

  // An error when a required column has cells, and not one of the right type.
  Status Check(const TableSource& source, std::string_view table,
               std::span<const WantedColumn> wanted) const;

  // One sentence for each column with such cells.
  std::vector<std::string> Warnings(std::string_view table,
                                    std::span<const WantedColumn> wanted) const;

 private:
  struct Column {
    int64_t foreign = 0;
    std::string_view type = {};  // of the first of them
    bool has_good = false;       // counted for required ones only
  };

  void Note(size_t index, const ColumnBatch& batch);

  std::vector<Column> columns_;
  size_t required_;
};

}  // namespace nsys
