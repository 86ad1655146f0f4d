// SPDX-License-Identifier: MIT
#include "query/duckdb_tables.h"

#include <algorithm>
#include <cerrno>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/format.h>

#include "base/text.h"
#include "ingest/file_kind.h"
#include "ingest/parquet_cells.h"
#include "ingest/sql_quotes.h"
#include "ingest/sqlite_connection.h"
#include "query/duckdb_appender.h"
#include "query/duckdb_statement.h"
#include "query/sql_text.h"

namespace nsys {
namespace {

// By SQLite's rules for declared types. Payloads are bytes under a text's label.
AppendedColumn TargetOf(const SourceColumn& column) {
  const std::string type = LowerAscii(column.type);
  const auto has = [&](std::string_view part) { return type.find(part) != std::string::npos; };
  if (column.name == "binaryData" || has("blob")) {
    return {CellType::kText, DUCKDB_TYPE_BLOB, "BLOB"};
  }
  if (has("int")) {
    return {CellType::kInteger, DUCKDB_TYPE_BIGINT, "BIGINT"};
  }
  if (has("real") || has("floa") || has("doub")) {
    return {CellType::kReal, DUCKDB_TYPE_DOUBLE, "DOUBLE"};
  }
  return {CellType::kText, DUCKDB_TYPE_VARCHAR, "VARCHAR"};
}

// A column of a Parquet file as the type that the SQLite form has.
std::string WidenedColumn(const std::string& name, std::string_view type) {
  const std::string quoted = QuoteName(name);
  if (type == "UBIGINT") {
    // The upper half are negative numbers in SQLite.
    return fmt::format(
        "CAST(CASE WHEN {0} > 9223372036854775807 THEN CAST({0} AS HUGEINT) - "
        "18446744073709551616 ELSE {0} END AS BIGINT) AS {0}",
        quoted);
  }
  static constexpr std::string_view kNarrow[] = {"BOOLEAN",  "TINYINT",   "SMALLINT", "INTEGER",
                                                 "UTINYINT", "USMALLINT", "UINTEGER"};
  if (std::find(std::begin(kNarrow), std::end(kNarrow), type) != std::end(kNarrow)) {
    return fmt::format("CAST({0} AS BIGINT) AS {0}", quoted);
  }
  if (type == "FLOAT") {
    return fmt::format("CAST({0} AS DOUBLE) AS {0}", quoted);
  }
  if (name == "binaryData" && type == "VARCHAR") {
    return fmt::format("encode({0}) AS {0}", quoted);
  }
  return quoted;
}

}  // namespace

Status OpenFiles::Open(const std::string& folder, const std::vector<SourceTable>& tables) {
  for (const SourceTable& table : tables) {
    const std::string path = fmt::format("{}/{}.parquet", folder, table.name);
    FileDescriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file.is_open()) {
      return CannotOpen(path, errno);
    }
    files_.emplace(table.name, std::move(file));
  }
  return {};
}

std::string OpenFiles::PathOf(const std::string& table) const {
  return fmt::format("/proc/self/fd/{}", files_.at(table).get());
}

std::vector<std::string> OpenFiles::AllPaths() const {
  std::vector<std::string> paths;
  for (const auto& [table, file] : files_) {
    paths.push_back(PathOf(table));
    std::string target(4096, '\0');
    const ssize_t length = readlink(paths.back().c_str(), target.data(), target.size());
    if (length > 0) {
      paths.push_back(target.substr(0, static_cast<size_t>(length)));
    }
  }
  return paths;
}

DuckdbTables::DuckdbTables(DuckdbDatabase& database, const Schema& schema,
                           const TableSource* source)
    : database_(database),
      connection_(database),
      schema_(schema),
      source_(source),
      views_(ShortViews(schema, SqlEngine::kDuckdb)) {}

Status DuckdbTables::Execute(const std::string& sql) {
  const std::string problem = connection_.Execute(sql);
  return problem.empty() ? Status() : DuckdbError(problem);
}

Status DuckdbTables::Confine() {
  const SourceLocation location = source_ == nullptr ? SourceLocation{} : source_->location();
  if (location.form == SourceForm::kParquetFolder) {
    NSYS_TRY(files_.Open(location.path, schema_.tables));
    std::vector<std::string> paths;
    for (const std::string& path : files_.AllPaths()) {
      paths.push_back(QuoteText(path));
    }
    NSYS_TRY(Execute(fmt::format("SET allowed_paths=[{}]", Join(paths, ","))));
  }
  NSYS_TRY(Execute("SET enable_external_access=false"));
  return Execute("SET lock_configuration=true");
}

Status DuckdbTables::Make(const std::set<std::string>& names, const std::function<bool()>& stop) {
  std::set<std::string> wanted = names;
  for (const ShortView& view : views_) {
    for (const std::string& table : view.tables) {
      if (names.contains(LowerAscii(view.name))) {
        wanted.insert(LowerAscii(table));
      }
    }
  }
  for (const SourceTable& table : schema_.tables) {
    const std::string name = LowerAscii(table.name);
    if (wanted.contains(name) && !table.columns.empty() && !stop() && made_.insert(name).second) {
      NSYS_TRY(MakeTable(table, !files_.empty(), stop));
    }
  }
  for (const ShortView& view : views_) {
    const std::string name = LowerAscii(view.name);
    if (wanted.contains(name) && !stop() && made_.insert(name).second) {
      NSYS_TRY(Execute(fmt::format("CREATE VIEW {} AS {}", QuoteName(view.name), view.query)));
    }
  }
  return {};
}

Status DuckdbTables::LoadInPlaceTables(const std::function<bool()>& stop) {
  for (const SourceTable& table : schema_.tables) {
    if (in_place_.erase(table.name) > 0 && !stop()) {
      NSYS_TRY(Execute(fmt::format("DROP VIEW {}", QuoteName(table.name))));
      NSYS_TRY(MakeTable(table, false, stop));
    }
  }
  return {};
}

std::vector<std::string> DuckdbTables::Names() const {
  std::vector<std::string> names;
  for (const SourceTable& table : schema_.tables) {
    names.push_back(table.name);
  }
  for (const ShortView& view : views_) {
    names.push_back(view.name);
  }
  std::sort(names.begin(), names.end());
  return names;
}

Status DuckdbTables::MakeTable(const SourceTable& table, bool in_place,
                               const std::function<bool()>& stop) {
  if (in_place) {
    in_place_.insert(table.name);
    return MakeParquetView(table);
  }
  std::vector<std::string> columns;
  for (const SourceColumn& column : table.columns) {
    columns.push_back(fmt::format("{} {}", QuoteName(column.name), TargetOf(column).name));
  }
  NSYS_TRY(Execute(fmt::format("CREATE TABLE {} ({})", QuoteName(table.name), Join(columns, ","))));
  return source_ == nullptr ? Status() : Load(table, stop);
}

Status DuckdbTables::MakeParquetView(const SourceTable& table) {
  const std::string file = QuoteText(files_.PathOf(table.name));
  const WantedColumn wanted[] = {{.name = "column_name", .type = CellType::kText},
                                 {.name = "column_type", .type = CellType::kText}};
  ChunkConverter converter(database_.api(), wanted);
  std::vector<std::string> columns;
  const std::string problem = connection_.Stream(
      fmt::format("DESCRIBE SELECT * FROM read_parquet({})", file),
      [&](duckdb_result& result, duckdb_data_chunk chunk) {
        const Batch batch = converter.Convert(result, chunk, 0);
        for (size_t row = 0; row < batch.rows; ++row) {
          columns.push_back(
              WidenedColumn(std::string(batch.columns[0].texts[row]), batch.columns[1].texts[row]));
        }
        return true;
      });
  if (!problem.empty()) {
    return DuckdbError(problem);
  }
  return Execute(fmt::format("CREATE VIEW {} AS SELECT {} FROM read_parquet({})",
                             QuoteName(table.name), Join(columns, ","), file));
}

Status DuckdbTables::Load(const SourceTable& table, const std::function<bool()>& stop) {
  std::vector<WantedColumn> wanted;
  std::vector<AppendedColumn> targets;
  for (const SourceColumn& column : table.columns) {
    targets.push_back(TargetOf(column));
    wanted.push_back({.name = column.name, .type = targets.back().cell});
  }
  ChunkAppender appender(database_.api(), connection_.handle(), table.name, targets);
  NSYS_TRY(source_->Read(table.name, wanted,
                         [&](const Batch& batch) { return appender.Append(batch) && !stop(); }));
  const std::string problem = appender.Close();
  if (problem.empty()) {
    return {};
  }
  Error error = DuckdbError(problem);
  error.message = fmt::format("loading the table {}: {}", Printable(table.name), error.message);
  return error;
}

}  // namespace nsys
