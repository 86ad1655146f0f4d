// SPDX-License-Identifier: MIT
#include "ingest/foreign_cells.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/file_kind.h"

namespace nsys {
namespace {

std::string_view NameOf(CellType type) {
  switch (type) {
    case CellType::kInteger:
      return "integer";
    case CellType::kReal:
      return "real";
    case CellType::kText:
      return "text";
  }
  return "";
}

}  // namespace

void ForeignCells::Note(size_t index, const ColumnBatch& batch) {
  columns_.resize(std::max(columns_.size(), index + 1));
  Column& column = columns_[index];
  if (column.foreign == 0 && !batch.foreign.empty()) {
    column.type = batch.foreign.front().type;
  }
  column.foreign += static_cast<int64_t>(batch.foreign.size());
  column.has_good = column.has_good || std::find(batch.valid.begin(), batch.valid.end(),
                                                 uint8_t{1}) != batch.valid.end();
}

Status ForeignCells::Check(const TableSource& source, std::string_view table,
                           std::span<const WantedColumn> wanted) const {
  for (size_t i = 0; i < std::min(required_, wanted.size()); ++i) {
    const Column& column = columns_[i];
    if (column.foreign == 0 || column.has_good) {
      continue;
    }
    const std::string path = source.location().path;
    return Error{
        .code = ErrorCode::kProfile,
        .message = fmt::format("{}the table {} is damaged or was not made by Nsight Systems: no "
                               "value of its column {} is of type {} ({} of type {})",
                               path.empty() ? "" : ShownPath(path) + ": ", Printable(table),
                               Printable(wanted[i].name), NameOf(wanted[i].type),
                               Counted(column.foreign, "value"), column.type),
        .hint = "export the report again"};
  }
  return {};
}

std::vector<std::string> ForeignCells::Warnings(std::string_view table,
                                                std::span<const WantedColumn> wanted) const {
  std::vector<std::string> warnings;
  for (size_t i = 0; i < std::min(columns_.size(), wanted.size()); ++i) {
    if (columns_[i].foreign > 0) {
      warnings.push_back(fmt::format(
          "{}: column {}: {} of another type than {} ({}); read as missing", Printable(table),
          Printable(wanted[i].name), Counted(columns_[i].foreign, "value"), NameOf(wanted[i].type),
          columns_[i].type));
    }
  }
  return warnings;
}

}  // namespace nsys
