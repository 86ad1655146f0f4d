// SPDX-License-Identifier: MIT
#include "ingest/sqlite_page_batch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace nsys {
namespace {

constexpr size_t kArenaBlock = size_t{1} << 18;
// A batch ends early when its long texts reach this, so that values of megabytes do not pile up.
constexpr size_t kBatchTextBytes = size_t{1} << 20;
constexpr uint32_t kLargestHeader = 98307;  // as SQLite allows
constexpr size_t kLoad = 8;                 // a number is cut out of so many bytes

constexpr Refusal kBadCell = "one of its rows is damaged";

std::string_view NameOf(StoredType type) {
  static constexpr std::string_view kNames[] = {"null", "integer", "real", "text", "blob"};
  return kNames[static_cast<size_t>(type)];
}

void GrowTo(size_t size, auto& buffer) {
  if (buffer.size() < size) {
    buffer.resize(std::max(size, 2 * buffer.size()));
  }
}

// Has a page brought near in as many steps as the one before has rows, which wait for memory
// otherwise.
class Prefetch {
 public:
  Prefetch(const uint8_t* page, uint32_t bytes, uint32_t steps)
      : page_(page), bytes_(page == nullptr ? 0 : bytes), step_(bytes / (steps + 1) + kLine) {}

  void Step() {
    for (const uint32_t until = std::min(done_ + step_, bytes_); done_ < until; done_ += kLine) {
      __builtin_prefetch(page_ + done_);
    }
  }

 private:
  static constexpr uint32_t kLine = 64;
  const uint8_t* page_;
  uint32_t bytes_;
  uint32_t step_;
  uint32_t done_ = 0;
};

}  // namespace

uint8_t* ByteArena::Take(size_t bytes) {
  if (bytes > left_) {
    const size_t block = std::max(bytes, kArenaBlock);
    blocks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(block));
    next_ = blocks_.back().get();
    left_ = block;
    used_ += block;
  }
  uint8_t* const taken = next_;
  next_ += bytes;
  left_ -= bytes;
  return taken;
}

void ByteArena::Clear() {
  if (blocks_.size() == 1 && used_ == kArenaBlock) {
    next_ = blocks_.front().get();
    left_ = kArenaBlock;
    return;
  }
  blocks_.clear();
  left_ = used_ = 0;
}

bool RowFilter::Matches(const uint8_t* record, const CellPlace* places) const {
  if (text) {
    const CellPlace& place = places[*text];
    if (place.valid != 0 && place.length >= prefix.size() &&
        std::memcmp(record + place.offset, prefix.data(), prefix.size()) == 0) {
      return true;
    }
  }
  if (!id) {
    return false;
  }
  // A number that takes a conversion is rare, and may be taken for one of the ids.
  const CellPlace& place = places[*id];
  return place.rework != Rework::kNone ||
         (place.valid != 0 && std::binary_search(ids.begin(), ids.end(), NumberAt(record, place)));
}

PageBatch::PageBatch(const PageFile& file, const RecordReader& reader, const RowFilter* filter)
    : file_(file),
      reader_(reader),
      filter_(filter),
      layouts_(reader),
      overflow_(file),
      columns_(reader.wanted().size()),
      views_(reader.wanted().size()) {}

void PageBatch::Start(std::span<const uint32_t> leaves, bool only) {
  leaves_ = leaves;
  only_ = only;
  next_ = 0;
}

Refusal PageBatch::Fill() {
  rows_ = 0;
  seen_ = 0;
  first_ = next_;
  arena_.Clear();
  for (ColumnBuffer& column : columns_) {
    column.foreign.clear();
  }
  while (more() && arena_.used() < kBatchTextBytes) {
    TableLeaf leaf;
    if (const Refusal why = leaf.Open(file_, leaves_[next_], only_); why != nullptr) {
      return why;
    }
    Reserve(rows_ + leaf.cells());
    ++next_;
    if (const Refusal why = AddLeaf(leaf); why != nullptr) {
      return why;
    }
  }
  return nullptr;
}

void PageBatch::Reserve(size_t rows) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnBuffer& column = columns_[i];
    GrowTo(rows, column.valid);
    switch (reader_.wanted()[i].type) {
      case CellType::kInteger:
        GrowTo(rows, column.integers);
        break;
      case CellType::kReal:
        GrowTo(rows, column.reals);
        break;
      case CellType::kText:
        GrowTo(rows, column.texts);
        break;
    }
  }
}

Refusal PageBatch::AddLeaf(const TableLeaf& leaf) {
  GrowTo(leaf.cells(), records_);
  GrowTo(leaf.cells(), places_);
  GrowTo(leaf.cells(), rowids_);
  leaf_rows_ = 0;
  reworked_ = false;
  unusual_rows_.clear();
  unusual_places_.clear();
  Prefetch ahead(more() ? file_.Page(leaves_[next_]) : nullptr, file_.page_size(), leaf.cells());
  for (uint32_t i = 0; i < leaf.cells(); ++i) {
    ahead.Step();
    TableCell cell;
    if (!leaf.Get(i, cell)) {
      return kBadCell;
    }
    if (const Refusal why = AddRow(cell); why != nullptr) {
      return why;
    }
  }
  for (size_t i = 0; i < unusual_rows_.size(); ++i) {
    places_[unusual_rows_[i]] = unusual_places_.data() + i * columns_.size();
  }
  seen_ += leaf_rows_;
  if (filter_ != nullptr) {
    PassOver();
  }
  MakeColumns(rows_);
  rows_ += leaf_rows_;
  return nullptr;
}

inline Refusal PageBatch::AddRow(const TableCell& cell) {
  rowids_[leaf_rows_] = cell.rowid;
  const uint32_t header_bytes = cell.record[0];
  if (header_bytes < 0x80 && header_bytes <= cell.local) {
    const RecordLayout* layout = layouts_.Find(cell.record);
    if (layout != nullptr && layout->shape.needed <= cell.local && layout->shape.Fits(cell.size)) {
      records_[leaf_rows_] = cell.record;
      places_[leaf_rows_] = layout->places;
      reworked_ = reworked_ || layout->shape.reworked;
      ++leaf_rows_;
      return nullptr;
    }
  }
  return AddUnusual(cell);
}

// A row with a long header, with wanted cells on overflow pages, or with a layout that is not kept.
Refusal PageBatch::AddUnusual(const TableCell& cell) {
  uint64_t header_bytes = 0;
  const uint32_t length_bytes = ReadVarint(cell.record, header_bytes);
  if (length_bytes > cell.local || header_bytes < length_bytes || header_bytes > kLargestHeader ||
      header_bytes > cell.size) {
    return kBadCell;
  }
  const auto header = static_cast<uint32_t>(header_bytes);
  const uint8_t* record = cell.record;
  if (header > cell.local) {
    if (const Refusal why = Gather(cell, header, record); why != nullptr) {
      return why;
    }
  }
  const size_t first = unusual_places_.size();
  unusual_places_.resize(first + columns_.size());
  RecordShape shape;
  if (const Refusal why =
          reader_.Parse(record, length_bytes, header, unusual_places_.data() + first, shape);
      why != nullptr) {
    return why;
  }
  if (!shape.Fits(cell.size)) {
    return kBadCell;
  }
  if (shape.needed > cell.local) {
    if (const Refusal why = Gather(cell, shape.needed, record); why != nullptr) {
      return why;
    }
  }
  records_[leaf_rows_] = record;
  unusual_rows_.push_back(leaf_rows_);
  reworked_ = reworked_ || shape.reworked;
  ++leaf_rows_;
  return nullptr;
}

// Leaves out the rows of the leaf at hand that are not wanted.
void PageBatch::PassOver() {
  size_t kept = 0;
  for (size_t row = 0; row < leaf_rows_; ++row) {
    if (filter_->Matches(records_[row], places_[row])) {
      records_[kept] = records_[row];
      places_[kept] = places_[row];
      rowids_[kept] = rowids_[row];
      ++kept;
    }
  }
  leaf_rows_ = kept;
}

Refusal PageBatch::Gather(const TableCell& cell, uint32_t bytes, const uint8_t*& record) {
  uint8_t* const copy = arena_.Take(bytes + kLoad);
  std::memset(copy + bytes, 0, kLoad);
  record = copy;
  return overflow_.Copy(cell, bytes, copy);
}

// `first` is the place of the leaf's first row in the batch.
void PageBatch::MakeColumns(size_t first) {
  const std::span<const WantedCell> wanted = reader_.wanted();
  for (size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].is_rowid) {
      MakeRowids(i, first);
      continue;
    }
    switch (wanted[i].type) {
      case CellType::kInteger:
        MakeIntegers(i, first);
        break;
      case CellType::kReal:
        MakeReals(i, first);
        break;
      case CellType::kText:
        MakeTexts(i, first);
        break;
    }
    if (reworked_) {
      NoteForeign(i, first);
    }
  }
}

void PageBatch::MakeRowids(size_t wanted, size_t first) {
  ColumnBuffer& column = columns_[wanted];
  const CellType type = reader_.wanted()[wanted].type;
  for (size_t row = 0; row < leaf_rows_; ++row) {
    if (type == CellType::kInteger) {
      column.integers[first + row] = rowids_[row];
    } else if (type == CellType::kReal) {
      column.reals[first + row] = static_cast<double>(rowids_[row]);
    } else {
      column.texts[first + row] = {};
    }
    column.valid[first + row] = type == CellType::kText ? 0 : 1;
    if (type == CellType::kText) {
      column.foreign.push_back({.row = first + row, .type = NameOf(StoredType::kInteger)});
    }
  }
}

void PageBatch::MakeIntegers(size_t wanted, size_t first) {
  int64_t* const integers = columns_[wanted].integers.data() + first;
  uint8_t* const valid = columns_[wanted].valid.data() + first;
  for (size_t row = 0; row < leaf_rows_; ++row) {
    const CellPlace& place = places_[row][wanted];
    integers[row] = NumberAt(records_[row], place);
    valid[row] = place.valid;
  }
  if (reworked_) {
    ReworkIntegers(wanted, first);
  }
}

// Reals that are wanted as integers, and integers of a column of reals.
void PageBatch::ReworkIntegers(size_t wanted, size_t first) {
  for (size_t row = 0; row < leaf_rows_; ++row) {
    const Rework rework = places_[row][wanted].rework;
    if (rework != Rework::kRealToInteger && rework != Rework::kIntegerThroughReal) {
      continue;
    }
    int64_t& number = columns_[wanted].integers[first + row];
    const double real = rework == Rework::kRealToInteger ? std::bit_cast<double>(number)
                                                         : static_cast<double>(number);
    const bool exact = real >= -0x1p63 && real < 0x1p63 && std::trunc(real) == real;
    number = exact ? static_cast<int64_t>(real) : 0;
    columns_[wanted].valid[first + row] = exact ? 1 : 0;
  }
}

// Of cells that have a value and are not valid all the same.
void PageBatch::NoteForeign(size_t wanted, size_t first) {
  ColumnBuffer& column = columns_[wanted];
  for (size_t row = 0; row < leaf_rows_; ++row) {
    const CellPlace& place = places_[row][wanted];
    if (place.rework == Rework::kNone || column.valid[first + row] != 0) {
      continue;
    }
    const bool is_null = place.rework == Rework::kRealToInteger &&
                         std::isnan(std::bit_cast<double>(NumberAt(records_[row], place)));
    if (!is_null) {
      column.foreign.push_back({.row = first + row, .type = NameOf(place.stored)});
    }
  }
}

void PageBatch::MakeReals(size_t wanted, size_t first) {
  double* const reals = columns_[wanted].reals.data() + first;
  uint8_t* const valid = columns_[wanted].valid.data() + first;
  for (size_t row = 0; row < leaf_rows_; ++row) {
    const CellPlace& place = places_[row][wanted];
    const int64_t number = NumberAt(records_[row], place);
    const double real =
        place.is_real != 0 ? std::bit_cast<double>(number) : static_cast<double>(number);
    const bool is_nan = std::isnan(real);  // SQLite has none: it reads NULL
    reals[row] = is_nan ? 0.0 : real;
    valid[row] = is_nan ? 0 : place.valid;
  }
}

void PageBatch::MakeTexts(size_t wanted, size_t first) {
  std::string_view* const texts = columns_[wanted].texts.data() + first;
  uint8_t* const valid = columns_[wanted].valid.data() + first;
  for (size_t row = 0; row < leaf_rows_; ++row) {
    const CellPlace& place = places_[row][wanted];
    texts[row] = {reinterpret_cast<const char*>(records_[row]) + place.offset, place.length};
    valid[row] = place.valid;
  }
}

Batch PageBatch::rows() {
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnBuffer& column = columns_[i];
    ColumnBatch& view = views_[i];
    view = {.integers = {},
            .texts = {},
            .valid = {column.valid.data(), rows_},
            .foreign = column.foreign};
    switch (reader_.wanted()[i].type) {
      case CellType::kInteger:
        view.integers = {column.integers.data(), rows_};
        break;
      case CellType::kReal:
        view.reals = {column.reals.data(), rows_};
        break;
      case CellType::kText:
        view.texts = {column.texts.data(), rows_};
        break;
    }
  }
  return {.rows = rows_, .columns = views_};
}

}  // namespace nsys
