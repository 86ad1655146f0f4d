// SPDX-License-Identifier: MIT
#include "ingest/sqlite_page_batch.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace nsys {
namespace {

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

// A row's own number is made elsewhere than the cells of its record, and no key of anything.
bool Usable(const RowHint* hint, const RecordReader& reader) {
  return hint != nullptr && hint->pick != nullptr &&
         std::none_of(hint->keys.begin(), hint->keys.end(),
                      [&](size_t key) { return reader.wanted()[key].is_rowid; });
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

PageBatch::PageBatch(const PageFile& file, const RecordReader& reader, const RowHint* hint)
    : file_(file),
      reader_(reader),
      hint_(Usable(hint, reader) ? hint : nullptr),
      layouts_(reader),
      overflow_(file),
      columns_(reader.wanted().size()),
      views_(reader.wanted().size()) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    const WantedCell& cell = reader.wanted()[i];
    const bool is_key = hint_ != nullptr &&
                        std::find(hint_->keys.begin(), hint_->keys.end(), i) != hint_->keys.end();
    const bool is_integer = cell.type == CellType::kInteger && !cell.is_rowid;
    for (ColumnGroup* group : {&all_, is_key ? &keys_ : &rest_}) {
      (is_integer ? group->integers : group->others).push_back(i);
    }
  }
}

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
  const bool picks = hint_ != nullptr && !reworked_;
  if (picks) {
    Pick();
  }
  MakeColumns(picks ? rest_ : all_, rows_);
  if (reworked_) {
    for (size_t i = 0; i < columns_.size(); ++i) {
      ReworkIntegers(i, rows_);
      NoteForeign(i, rows_);
    }
  }
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

// Makes the key columns of the leaf at hand and leaves out its rows that are not wanted, before the
// other columns are made.
void PageBatch::Pick() {
  MakeColumns(keys_, rows_);
  picked_.assign(leaf_rows_, 0);
  hint_->pick(View(rows_, leaf_rows_), picked_);
  GrowTo(leaf_rows_, kept_);
  size_t kept = 0;
  for (size_t row = 0; row < leaf_rows_; ++row) {
    kept_[kept] = static_cast<uint32_t>(row);
    kept += picked_[row];
  }
  if (kept == leaf_rows_) {
    return;
  }
  leaf_rows_ = kept;
  KeepPicked(records_.data());
  KeepPicked(places_.data());
  KeepPicked(rowids_.data());
  for (const size_t key : hint_->keys) {
    ColumnBuffer& column = columns_[key];
    KeepPicked(column.valid.data() + rows_);
    switch (reader_.wanted()[key].type) {
      case CellType::kInteger:
        KeepPicked(column.integers.data() + rows_);
        break;
      case CellType::kReal:
        KeepPicked(column.reals.data() + rows_);
        break;
      case CellType::kText:
        KeepPicked(column.texts.data() + rows_);
        break;
    }
  }
}

template <typename Cell>
void PageBatch::KeepPicked(Cell* cells) const {
  const uint32_t* const kept = kept_.data();
  for (size_t i = 0, rows = leaf_rows_; i < rows; ++i) {
    cells[i] = cells[kept[i]];
  }
}

Refusal PageBatch::Gather(const TableCell& cell, uint32_t bytes, const uint8_t*& record) {
  uint8_t* const copy = arena_.Take(bytes + kLoad);
  std::memset(copy + bytes, 0, kLoad);
  record = copy;
  return overflow_.Copy(cell, bytes, copy);
}

// `first` is the place of the leaf's first row in the batch.
void PageBatch::MakeColumns(const ColumnGroup& group, size_t first) {
  for (const size_t wanted : group.integers) {
    MakeIntegers(wanted, first);
  }
  for (const size_t wanted : group.others) {
    const WantedCell& cell = reader_.wanted()[wanted];
    if (cell.is_rowid) {
      MakeRowids(wanted, first);
    } else if (cell.type == CellType::kReal) {
      MakeReals(wanted, first);
    } else {
      MakeTexts(wanted, first);
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
  for (size_t row = 0, rows = leaf_rows_; row < rows; ++row) {
    const CellPlace& place = places_[row][wanted];
    integers[row] = NumberAt(records_[row], place);
    valid[row] = place.valid;
  }
}

// Reals that are wanted as integers, and integers of a column of reals.
void PageBatch::ReworkIntegers(size_t wanted, size_t first) {
  if (reader_.wanted()[wanted].type != CellType::kInteger || reader_.wanted()[wanted].is_rowid) {
    return;
  }
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

Batch PageBatch::View(size_t first, size_t rows) {
  for (size_t i = 0; i < columns_.size(); ++i) {
    ColumnBuffer& column = columns_[i];
    ColumnBatch& view = views_[i];
    view = {.integers = {},
            .texts = {},
            .valid = {column.valid.data() + first, rows},
            .foreign = column.foreign};
    switch (reader_.wanted()[i].type) {
      case CellType::kInteger:
        view.integers = {column.integers.data() + first, rows};
        break;
      case CellType::kReal:
        view.reals = {column.reals.data() + first, rows};
        break;
      case CellType::kText:
        view.texts = {column.texts.data() + first, rows};
        break;
    }
  }
  return {.rows = rows, .columns = views_};
}

Batch PageBatch::rows() { return View(0, rows_); }

}  // namespace nsys
