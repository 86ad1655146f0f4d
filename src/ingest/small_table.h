// SPDX-License-Identifier: MIT
// SmallTable: reads a table without time, or with times that need no care, row by row.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"
#include "ingest/event_reader.h"

namespace nsys {

// Reads the columns that a small table has, row by row.
class SmallTable {
 public:
  SmallTable(LoadContext& context, TableId table)
      : context_(context), id_(table), table_(context.schema.Find(table)) {}

  SourceColumnIndex Integer(std::string_view name) { return Want(name, CellType::kInteger); }
  SourceColumnIndex Text(std::string_view name) { return Want(name, CellType::kText); }

  template <typename Row>
  Status Read(const Row& row) {
    if (table_ == nullptr || wanted_.empty()) {
      return {};
    }
    ForeignCells foreign;
    NSYS_TRY(context_.source.Read(table_->name, wanted_, [&](const Batch& batch) {
      for (size_t i = 0; i < batch.rows; ++i) {
        row(Cells(batch, i));
      }
      foreign.Count(batch);
    }));
    Tell(foreign.Warnings(table_->name, wanted_));
    return {};
  }

 private:
  SourceColumnIndex Want(std::string_view name, CellType type) {
    if (table_ == nullptr || table_->Find(name) == nullptr) {
      return SourceColumnIndex::kAbsent;
    }
    wanted_.push_back({.name = std::string(name), .type = type});
    return static_cast<SourceColumnIndex>(wanted_.size() - 1);
  }

  void Tell(const std::vector<std::string>& warnings) {
    if (!warnings.empty()) {
      const std::scoped_lock lock(context_.notes_mutex);
      std::vector<std::string>& notes = context_.notes[id_];
      notes.insert(notes.end(), warnings.begin(), warnings.end());
    }
  }

  LoadContext& context_;
  TableId id_;
  const SourceTable* table_;
  std::vector<WantedColumn> wanted_;
};

// The text of a cell as valid UTF-8.
inline std::optional<std::string> TextOf(const Cells& cells, SourceColumnIndex column) {
  const auto text = cells.Text(column);
  return text ? std::optional(ToValidUtf8(*text)) : std::nullopt;
}

}  // namespace nsys
