// SPDX-License-Identifier: MIT
// The b-trees of tables in an SQLite file: which pages hold the rows, where the rows lie in them,
// and what lies on overflow pages. Nothing is trusted: every page number, offset and length is
// checked before it is followed, as SQLite does.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ingest/sqlite_page_file.h"

namespace nsys {

// Why something cannot be read by pages; nullptr: it can. Always a literal.
using Refusal = const char*;

// The length of the varint that `value` gets, 1 to 9.
inline uint32_t ReadVarint(const uint8_t* bytes, uint64_t& value) {
  value = 0;
  for (uint32_t i = 0; i < 8; ++i) {
    value = value << 7 | (bytes[i] & 0x7FU);
    if (bytes[i] < 0x80) {
      return i + 1;
    }
  }
  value = value << 8 | bytes[8];
  return 9;
}

// The leaves of the table tree below `root`, in the order of their rows.
Refusal ListLeaves(const PageFile& file, uint32_t root, std::vector<uint32_t>& leaves);

// A row: its record begins at `record`, with `local` of its `size` bytes in the page; when these
// are fewer, the number of the first overflow page follows them.
struct TableCell {
  const uint8_t* record = nullptr;
  uint32_t size = 0;
  uint32_t local = 0;
  int64_t rowid = 0;
};

// A leaf of a table.
class TableLeaf {
 public:
  // `may_be_empty`: the root of an empty table is.
  Refusal Open(const PageFile& file, uint32_t number, bool may_be_empty);

  uint32_t cells() const { return cells_; }

  // Whether the cell `index` is sound; `cell` is it.
  bool Get(uint32_t index, TableCell& cell) const {
    const uint32_t at = BigEndian16(page_ + kHeaderBytes + size_t{2} * index);
    if (at < kHeaderBytes + 2 * cells_ || at > usable_ - kSmallestCell) {
      return false;
    }
    const uint8_t* begin = page_ + at;
    const uint8_t* from = begin;
    uint64_t number = from[0];
    uint32_t length = 1;
    if (number >= 0x80) {
      length = ReadVarint(from, number);
    }
    if (number > kLargestRecord || length > 5) {
      return false;
    }
    cell.size = static_cast<uint32_t>(number);
    from += length;
    from += ReadVarint(from, number);
    cell.rowid = static_cast<int64_t>(number);
    cell.record = from;
    uint32_t end = at + static_cast<uint32_t>(from - begin);
    if (cell.size <= usable_ - 35) {
      cell.local = cell.size;
      end += cell.size;
    } else {
      cell.local = LocalBytes(cell.size);
      end += cell.local + 4;
    }
    return std::max(end, at + kSmallestCell) <= usable_;
  }

 private:
  static constexpr uint32_t kHeaderBytes = 8;
  static constexpr uint32_t kSmallestCell = 4;
  static constexpr uint64_t kLargestRecord = 1'000'000'000;  // as SQLite allows

  // How much of a record that does not fit stays in the page.
  uint32_t LocalBytes(uint32_t size) const {
    const uint32_t least = (usable_ - 12) * 32 / 255 - 23;
    const uint32_t wanted = least + (size - least) % (usable_ - 4);
    return wanted <= usable_ - 35 ? wanted : least;
  }

  const uint8_t* page_ = nullptr;
  uint32_t usable_ = 0;
  uint32_t cells_ = 0;
};

// Gathers records that do not fit into their page. Every page can be part of one record only, which
// bounds the work whatever the chains look like.
class OverflowReader {
 public:
  explicit OverflowReader(const PageFile& file) : file_(file) {}

  // Copies the first `bytes` of the record, no more than it has, to `to`.
  Refusal Copy(const TableCell& cell, uint32_t bytes, uint8_t* to);

 private:
  const PageFile& file_;
  uint64_t pages_read_ = 0;
};

}  // namespace nsys
