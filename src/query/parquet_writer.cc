// SPDX-License-Identifier: MIT
#include "query/parquet_writer.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/file_descriptor.h"
#include "base/json.h"
#include "base/text.h"
#include "ingest/sql_quotes.h"
#include "ingest/sqlite_connection.h"
#include "query/duckdb_appender.h"

namespace nsys {
namespace {

Error WriterError(std::string_view reason) {
  return {.code = ErrorCode::kOutput,
          .message = fmt::format("the Parquet file could not be made: {}", Printable(reason))};
}

AppendedColumn TypeOf(const SqlRows& rows, size_t column) {
  bool integers = false;
  bool reals = false;
  bool flags = false;
  bool others = false;
  for (const std::vector<Value>& row : rows.rows) {
    const Value& value = row[column];
    integers = integers || value.AsInt() != nullptr;
    reals = reals || value.AsDouble() != nullptr;
    flags = flags || value.AsBool() != nullptr;
    others = others || value.AsText() != nullptr || value.AsList() != nullptr ||
             value.AsObject() != nullptr;
  }
  if (others || (flags && (integers || reals))) {
    return {CellType::kText, DUCKDB_TYPE_VARCHAR, "VARCHAR"};
  }
  if (flags) {
    return {CellType::kInteger, DUCKDB_TYPE_BIGINT, "BIGINT"};
  }
  if (reals || (!integers && rows.columns[column].type == "REAL")) {
    return {CellType::kReal, DUCKDB_TYPE_DOUBLE, "DOUBLE"};
  }
  if (integers || rows.columns[column].type == "INTEGER") {
    return {CellType::kInteger, DUCKDB_TYPE_BIGINT, "BIGINT"};
  }
  return {CellType::kText, DUCKDB_TYPE_VARCHAR, "VARCHAR"};
}

// One column of rows in the form that the appender takes.
struct ColumnCells {
  std::vector<int64_t> integers;
  std::vector<double> reals;
  std::vector<std::string> texts;
  std::vector<std::string_view> views;
  std::vector<uint8_t> valid;

  ColumnCells(const SqlRows& rows, size_t column, CellType type, size_t first, size_t count) {
    for (size_t row = first; row < first + count; ++row) {
      const Value& value = rows.rows[row][column];
      valid.push_back(value.is_null() ? 0 : 1);
      const int64_t* integer = value.AsInt();
      const double* real = value.AsDouble();
      const bool* flag = value.AsBool();
      const int64_t whole = integer != nullptr ? *integer : flag != nullptr && *flag ? 1 : 0;
      if (type == CellType::kInteger) {
        integers.push_back(whole);
      } else if (type == CellType::kReal) {
        reals.push_back(real != nullptr ? *real : static_cast<double>(whole));
      } else {
        const std::string* text = value.AsText();
        texts.push_back(text != nullptr ? *text : ToJson(value, JsonLayout::kOneLine));
      }
    }
    views.assign(texts.begin(), texts.end());
  }

  ColumnBatch Batch() const {
    return {.integers = integers, .texts = views, .valid = valid, .reals = reals};
  }
};

Status Fill(ChunkAppender& appender, const std::vector<AppendedColumn>& columns,
            const SqlRows& rows) {
  constexpr size_t kRowsAtOnce = 2048;
  for (size_t first = 0; first < rows.rows.size(); first += kRowsAtOnce) {
    const size_t count = std::min(kRowsAtOnce, rows.rows.size() - first);
    std::vector<ColumnCells> cells;
    cells.reserve(columns.size());
    std::vector<ColumnBatch> batches;
    for (size_t i = 0; i < columns.size(); ++i) {
      cells.emplace_back(rows, i, columns[i].cell, first, count);
      batches.push_back(cells.back().Batch());
    }
    if (!appender.Append({.rows = count, .columns = batches})) {
      break;
    }
  }
  const std::string problem = appender.Close();
  return problem.empty() ? Status() : WriterError(problem);
}

Result<std::string> ReadAll(int descriptor) {
  struct stat info{};
  if (fstat(descriptor, &info) != 0) {
    return WriterError(std::strerror(errno));
  }
  std::string bytes(static_cast<size_t>(info.st_size), '\0');
  size_t got = 0;
  while (got < bytes.size()) {
    const ssize_t part =
        pread(descriptor, bytes.data() + got, bytes.size() - got, static_cast<off_t>(got));
    if (part <= 0) {
      return WriterError("it could not be read back");
    }
    got += static_cast<size_t>(part);
  }
  return bytes;
}

}  // namespace

Result<std::string> RowsToParquet(const std::vector<std::string>& names, const SqlRows& rows) {
  if (names.empty()) {
    return WriterError("the result has no columns");
  }
  NSYS_ASSIGN(const std::unique_ptr<DuckdbDatabase> database, DuckdbDatabase::Open(1));
  DuckdbConnection connection(*database);
  std::vector<AppendedColumn> columns;
  std::vector<std::string> declared;
  for (size_t i = 0; i < names.size(); ++i) {
    columns.push_back(TypeOf(rows, i));
    declared.push_back(fmt::format("c{} {}", i, columns[i].name));
  }
  if (const std::string problem =
          connection.Execute(fmt::format("CREATE TABLE result ({})", Join(declared, ",")));
      !problem.empty()) {
    return WriterError(problem);
  }
  {
    ChunkAppender appender(database->api(), connection.handle(), "result", columns);
    NSYS_TRY(Fill(appender, columns, rows));
  }
  std::vector<std::string> shown;
  for (size_t i = 0; i < names.size(); ++i) {
    shown.push_back(fmt::format("c{} AS {}", i, QuoteName(names[i].empty() ? "_" : names[i])));
  }
  // Into memory, so that the file appears whole or not at all.
  const FileDescriptor file(memfd_create("result", MFD_CLOEXEC));
  if (!file.is_open()) {
    return WriterError(std::strerror(errno));
  }
  const std::string problem = connection.Execute(
      fmt::format("COPY (SELECT {} FROM result) TO '/proc/self/fd/{}' (FORMAT parquet, "
                  "USE_TMP_FILE false)",
                  Join(shown, ","), file.get()));
  return problem.empty() ? ReadAll(file.get()) : Result<std::string>(WriterError(problem));
}

}  // namespace nsys
