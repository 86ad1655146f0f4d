// SPDX-License-Identifier: MIT
#include "ingest/string_ids.h"

#include <algorithm>
#include <bit>
#include <iterator>

#include "ingest/foreign_cells.h"

namespace nsys {

Result<StringIds> StringIds::Load(const TableSource& source, const Schema& schema,
                                  StringPool& pool) {
  StringIds ids;
  const SourceTable* table = schema.Find(TableId::kStringIds);
  if (table == nullptr || table->Find("id") == nullptr || table->Find("value") == nullptr) {
    return ids;
  }
  const WantedColumn wanted[] = {{.name = "id", .type = CellType::kInteger},
                                 {.name = "value", .type = CellType::kText}};
  std::vector<Entry> entries;
  std::vector<int64_t> numbers;
  std::vector<std::string_view> texts;
  std::vector<StringId> text_ids;
  ForeignCells foreign(std::size(wanted));
  NSYS_TRY(source.Read(table->name, wanted, [&](const Batch& batch) {
    const ColumnBatch& id = batch.columns[0];
    const ColumnBatch& value = batch.columns[1];
    numbers.clear();
    texts.clear();
    for (size_t row = 0; row < batch.rows; ++row) {
      if (id.valid[row] != 0 && value.valid[row] != 0) {
        numbers.push_back(id.integers[row]);
        texts.push_back(value.texts[row]);
      }
    }
    text_ids.resize(texts.size());
    ids.repaired_ += pool.InternAll(texts, text_ids);
    for (size_t i = 0; i < texts.size(); ++i) {
      entries.push_back({.number = numbers[i], .text = text_ids[i]});
    }
    foreign.Count(batch);
  }));
  NSYS_TRY(foreign.Check(source, table->name, wanted));
  ids.warnings_ = foreign.Warnings(table->name, wanted);
  ids.Index(entries);
  return ids;
}

void StringIds::Append(const Batch& batch, SourceColumnIndex column, Rows rows,
                       std::vector<StringId>& to) const {
  const ColumnBatch* cells = ColumnOf(batch, column);
  for (const uint32_t row : rows) {
    const bool has = cells != nullptr && cells->valid[row] != 0;
    to.push_back(has ? Find(cells->integers[row]) : StringId::kNone);
  }
}

void StringIds::Index(std::span<const Entry> entries) {
  // A table by number pays off while it stays small compared with the entries.
  const int64_t limit = static_cast<int64_t>(entries.size()) * 8 + 1024;
  int64_t size = 0;
  for (const Entry& entry : entries) {
    if (entry.number >= 0 && entry.number < limit) {
      size = std::max(size, entry.number + 1);
    }
  }
  dense_.assign(static_cast<size_t>(size), StringId::kNone);
  std::vector<Entry> others;
  for (const Entry& entry : entries) {
    if (entry.number < 0 || entry.number >= size) {
      others.push_back(entry);
    } else if (dense_[static_cast<size_t>(entry.number)] == StringId::kNone) {
      dense_[static_cast<size_t>(entry.number)] = entry.text;  // the first one wins
    }
  }
  Scatter(others);
}

void StringIds::Scatter(std::span<const Entry> entries) {
  if (entries.empty()) {
    return;
  }
  scattered_.resize(std::bit_ceil(entries.size() * 2));
  for (const Entry& entry : entries) {
    Entry& place = scattered_[PlaceOf(entry.number)];
    if (place.text == StringId::kNone) {
      place = entry;  // the first one wins here too
    }
  }
}

}  // namespace nsys
