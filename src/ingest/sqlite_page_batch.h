// SPDX-License-Identifier: MIT
// Leaves of a table made into columns. Every buffer is used again for the next leaves.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/byte_arena.h"
#include "ingest/sqlite_btree.h"
#include "ingest/sqlite_record.h"
#include "ingest/table_source.h"

namespace nsys {

class PageBatch {
 public:
  // With `hint`, rows that it does not pick are passed over. Leaves with a cell that needs care, as
  // it is of another type than its column, are kept whole, so that it is told of.
  PageBatch(const PageFile& file, const RecordReader& reader, const RowHint* hint = nullptr);
  PageBatch(const PageBatch&) = delete;
  PageBatch& operator=(const PageBatch&) = delete;

  // Begins with `leaves`; `only` when the tree has no other page.
  void Start(std::span<const uint32_t> leaves, bool only);
  // Fills the batch with rows of them, all unless their texts are long.
  Refusal Fill();
  // How many rows Fill went through, also those that it passed over.
  size_t rows_seen() const { return seen_; }
  // How many leaves the rows are of.
  size_t leaves_read() const { return next_ - first_; }
  // Whether rows are left that another Fill gives.
  bool more() const { return next_ < leaves_.size(); }

  // What Fill gave: views into the file and into this object.
  Batch rows();

 private:
  struct ColumnBuffer {
    std::vector<int64_t> integers;
    std::vector<double> reals;
    std::vector<std::string_view> texts;
    std::vector<uint8_t> valid;
    std::vector<ForeignCell> foreign;
  };

  // Columns by place, as they are made.
  struct ColumnGroup {
    std::vector<size_t> integers;
    std::vector<size_t> others;
  };

  Refusal AddLeaf(const TableLeaf& leaf);
  Refusal AddRow(const TableCell& cell);
  Refusal AddUnusual(const TableCell& cell);
  void Pick();
  Refusal Gather(const TableCell& cell, uint32_t bytes, const uint8_t*& record);
  void Reserve(size_t rows);
  void MakeColumns(const ColumnGroup& group, size_t first);
  template <typename Cell>
  void KeepPicked(Cell* cells) const;
  Batch View(size_t first, size_t rows);
  void MakeIntegers(size_t wanted, size_t first);
  void MakeReals(size_t wanted, size_t first);
  void MakeTexts(size_t wanted, size_t first);
  void MakeRowids(size_t wanted, size_t first);
  void ReworkIntegers(size_t wanted, size_t first);
  void NoteForeign(size_t wanted, size_t first);

  const PageFile& file_;
  const RecordReader& reader_;
  const RowHint* hint_;  // with a pick, or nothing
  ColumnGroup all_;
  ColumnGroup keys_;  // of the hint
  ColumnGroup rest_;
  LayoutCache layouts_;
  OverflowReader overflow_;
  std::span<const uint32_t> leaves_;
  bool only_ = false;
  size_t first_ = 0;  // in leaves_, of the rows at hand
  size_t next_ = 0;   // in leaves_

  // Of the leaf at hand: where each row's record and the places of its cells are.
  std::vector<const uint8_t*> records_;
  std::vector<const CellPlace*> places_;
  std::vector<int64_t> rowids_;
  size_t leaf_rows_ = 0;
  bool reworked_ = false;
  std::vector<uint8_t> picked_;
  std::vector<uint32_t> kept_;
  // Rows whose places are in unusual_places_, which moves while it grows.
  std::vector<size_t> unusual_rows_;
  std::vector<CellPlace> unusual_places_;

  std::vector<ColumnBuffer> columns_;
  std::vector<ColumnBatch> views_;
  ByteArena arena_;
  size_t rows_ = 0;
  size_t seen_ = 0;
};

}  // namespace nsys
