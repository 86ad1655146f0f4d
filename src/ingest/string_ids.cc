// SPDX-License-Identifier: MIT
#include "ingest/string_ids.h"

#include <algorithm>
#include <iterator>

#include "base/text.h"
#include "ingest/foreign_cells.h"

namespace nsys {

StringId InternValid(StringPool& pool, std::string_view text, int64_t& repaired) {
  if (IsValidUtf8(text)) {
    return pool.Intern(text);
  }
  ++repaired;
  return pool.Intern(ToValidUtf8(text));
}

Result<StringIds> StringIds::Load(const TableSource& source, const Schema& schema,
                                  StringPool& pool) {
  StringIds ids;
  const SourceTable* table = schema.Find(TableId::kStringIds);
  if (table == nullptr || table->Find("id") == nullptr || table->Find("value") == nullptr) {
    return ids;
  }
  const WantedColumn wanted[] = {{.name = "id", .type = CellType::kInteger},
                                 {.name = "value", .type = CellType::kText}};
  std::vector<std::pair<int64_t, StringId>> entries;
  ForeignCells foreign(std::size(wanted));
  NSYS_TRY(source.Read(table->name, wanted, [&](const Batch& batch) {
    const ColumnBatch& id = batch.columns[0];
    const ColumnBatch& value = batch.columns[1];
    for (size_t row = 0; row < batch.rows; ++row) {
      if (id.valid[row] == 0 || value.valid[row] == 0) {
        continue;
      }
      entries.emplace_back(id.integers[row], InternValid(pool, value.texts[row], ids.repaired_));
    }
    foreign.Count(batch);
  }));
  NSYS_TRY(foreign.Check(source, table->name, wanted));
  ids.warnings_ = foreign.Warnings(table->name, wanted);
  ids.Index(entries);
  return ids;
}

void StringIds::Index(const std::vector<std::pair<int64_t, StringId>>& entries) {
  // A table by number pays off while it stays small compared with the entries.
  const int64_t limit = static_cast<int64_t>(entries.size()) * 8 + 1024;
  int64_t size = 0;
  for (const auto& [id, text] : entries) {
    if (id >= 0 && id < limit) {
      size = std::max(size, id + 1);
    }
  }
  dense_.assign(static_cast<size_t>(size), StringId::kNone);
  for (const auto& [id, text] : entries) {
    if (id < 0 || id >= size) {
      sparse_.try_emplace(id, text);
    } else if (dense_[static_cast<size_t>(id)] == StringId::kNone) {
      dense_[static_cast<size_t>(id)] = text;  // the first one wins, as in the other map
    }
  }
}

}  // namespace nsys
