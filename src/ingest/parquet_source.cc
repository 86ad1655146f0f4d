// SPDX-License-Identifier: MIT
#include "ingest/parquet_source.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <optional>
#include <utility>

#include "base/file_descriptor.h"
#include "base/os_error.h"
#include "base/text.h"
#include "ingest/duckdb_session.h"
#include "ingest/file_kind.h"
#include "ingest/file_ranges.h"
#include "ingest/parquet_cells.h"
#include "ingest/parquet_footer.h"
#include "ingest/row_hint.h"
#include "ingest/sql_quotes.h"

namespace nsys {
namespace {

// DuckDB takes a path for a pattern, for a URL or for a list of partitions. A descriptor's path is
// nothing but a path, whatever the file is called.
std::string DescriptorPath(const FileDescriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.get());
}

std::string_view SqliteTypeName(std::string_view type) {
  static constexpr std::string_view kIntegers[] = {"BOOLEAN",  "TINYINT", "SMALLINT", "INTEGER",
                                                   "BIGINT",   "HUGEINT", "UTINYINT", "USMALLINT",
                                                   "UINTEGER", "UBIGINT", "UHUGEINT"};
  if (std::find(std::begin(kIntegers), std::end(kIntegers), type) != std::end(kIntegers)) {
    return "INTEGER";
  }
  const bool real = type == "FLOAT" || type == "DOUBLE" || type.starts_with("DECIMAL");
  return real ? "REAL" : "TEXT";
}

// Parquet has no keys; these are the ones that the SQLite form declares.
bool IsPrimaryKey(std::string_view table, std::string_view column) {
  if (table.ends_with("_CALLCHAINS")) {
    return column == "id" || column == "stackDepth";
  }
  const bool keyed = table == "StringIds" || table == "COMPOSITE_EVENTS" ||
                     table == "ANALYSIS_FILE" || table.starts_with("ENUM_");
  return keyed && column == "id";
}

// DuckDB's message without its kind, its query excerpt and the descriptor's path.
std::string Reason(std::string message, const FileDescriptor& file) {
  message = message.substr(0, message.find('\n'));
  if (const size_t at = message.find("Error: "); at < 40) {
    message.erase(0, at + 7);
  }
  for (const std::string& path :
       {'"' + DescriptorPath(file) + '"', '\'' + DescriptorPath(file) + '\''}) {
    const size_t at = message.find(path);
    if (at != std::string::npos) {
      message.replace(at, path.size(), "it");
    }
  }
  return Printable(ToValidUtf8(message));
}

struct Range {
  int64_t offset = 0;
  int64_t bytes = 0;
};

// A file of a table, and the columns that it has.
struct Part {
  std::string path;
  std::vector<std::string> columns;
};

class ParquetSource final : public TableSource {
 public:
  ParquetSource(std::string folder, std::unique_ptr<DuckdbDatabase> database)
      : folder_(std::move(folder)), database_(std::move(database)) {}

  Status LoadTables(const ParquetOptions& options);
  const std::vector<SourceTable>& tables() const override { return tables_; }
  std::vector<std::string> warnings() const override { return warnings_; }
  SourceLocation location() const override { return {SourceForm::kParquetFolder, folder_}; }
  InputFiles inputs() const override { return inputs_; }
  Status Read(std::string_view table, std::span<const WantedColumn> columns,
              const BatchSink& sink) const override {
    return ReadWhere(table, columns, "", sink);
  }
  Status ReadHinted(std::string_view table, std::span<const WantedColumn> columns,
                    const RowHint& hint, const BatchSink& sink) const override {
    return ReadWhere(table, columns, ConditionOf(hint), sink);
  }

 private:
  Status ReadWhere(std::string_view table, std::span<const WantedColumn> columns,
                   const std::string& condition, const BatchSink& sink) const;
  Status ReadPart(const Part& part, std::span<const WantedColumn> columns,
                  const std::string& condition, const BatchSink& sink) const;
  void Confine(const std::vector<ParquetTable>& tables) const;
  Status DescribeTable(const ParquetTable& found);
  Status Describe(Part& part, SourceTable& table) const;
  std::string StreamRows(const FileDescriptor& file, std::string_view names,
                         std::span<const WantedColumn> columns, const std::string& condition,
                         uint64_t& delivered, const BatchSink& sink) const;
  std::vector<Range> ChunksOf(const FileDescriptor& file,
                              std::span<const WantedColumn> columns) const;
  FileDescriptor CopyWithoutLabels(const FileDescriptor& file,
                                   std::span<const WantedColumn> columns) const;

  std::string folder_;
  std::unique_ptr<DuckdbDatabase> database_;
  std::vector<SourceTable> tables_;
  std::map<std::string, std::vector<Part>, std::less<>> parts_;  // by table
  std::vector<std::string> warnings_;
  InputFiles inputs_;
};

Error Damaged(const std::string& path, const std::string& reason) {
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("{} is damaged or truncated: {}", ShownPath(path), reason),
          .hint = "export the report again"};
}

// What DuckDB says of a file that it could not read.
Error ReadProblem(const std::string& path, const std::string& problem, const FileDescriptor& file) {
  if (TellsOfOutOfFiles(problem)) {
    return CannotOpen(path, EMFILE);
  }
  if (TellsOfOutOfMemory(problem)) {
    return {.code = ErrorCode::kSkillExecution,
            .message = fmt::format("out of memory while reading {}", ShownPath(path)),
            .hint = OutOfMemoryHint()};
  }
  return Damaged(path, Reason(problem, file));
}

// Lets DuckDB touch the folders of these files and nothing else.
void ParquetSource::Confine(const std::vector<ParquetTable>& tables) const {
  std::vector<std::string> folders = {"'/proc/self/fd'"};  // for files in memory
  for (const ParquetTable& table : tables) {
    for (const std::string& path : table.paths) {
      const auto file = OpenRegularFile(path);
      if (!file.ok()) {
        continue;  // told when it is to be read
      }
      std::string target(4096, '\0');
      const ssize_t length =
          readlink(DescriptorPath(file.value()).c_str(), target.data(), target.size());
      if (length <= 0) {
        return;
      }
      target.resize(static_cast<size_t>(length));
      folders.push_back(QuoteText(target.substr(0, target.rfind('/') + 1)));
    }
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  DuckdbConnection connection(*database_);
  if (connection.Execute(fmt::format("SET allowed_directories=[{}]", Join(folders, ","))).empty()) {
    connection.Execute("SET enable_external_access=false");
  }
}

Status ParquetSource::LoadTables(const ParquetOptions& options) {
  ParquetListing listing = ListParquetTables(folder_, options.table_folders);
  warnings_ = std::move(listing.warnings);
  Confine(listing.tables);
  std::optional<Error> first;
  for (const ParquetTable& found : listing.tables) {
    Status described = DescribeTable(found);
    if (described.ok()) {
      continue;
    }
    if (!options.keep_going) {
      return described;
    }
    warnings_.push_back(fmt::format("{} left out: {}", Printable(ToValidUtf8(found.name)),
                                    described.error().message));
    first = first ? first : described.error();
  }
  if (tables_.empty() && first) {
    return *first;
  }
  return {};
}

// The columns of a table in parts are those of all parts.
Status ParquetSource::DescribeTable(const ParquetTable& found) {
  SourceTable table{.name = found.name, .columns = {}};
  std::vector<Part> parts;
  for (const std::string& path : found.paths) {
    parts.push_back({.path = path, .columns = {}});
    inputs_.Add(path);
    NSYS_TRY(Describe(parts.back(), table));
  }
  tables_.push_back(std::move(table));
  parts_[found.name] = std::move(parts);
  return {};
}

Status ParquetSource::Describe(Part& part, SourceTable& table) const {
  NSYS_ASSIGN(const FileDescriptor file, OpenRegularFile(part.path));
  const WantedColumn wanted[] = {{.name = "column_name", .type = CellType::kText},
                                 {.name = "column_type", .type = CellType::kText}};
  ChunkConverter converter(database_->api(), wanted);
  DuckdbConnection connection(*database_);
  const std::string problem = connection.Stream(
      fmt::format("DESCRIBE SELECT * FROM read_parquet('{}')", DescriptorPath(file)),
      [&](duckdb_result& result, duckdb_data_chunk chunk) {
        const Batch batch = converter.Convert(result, chunk, 0);
        for (size_t row = 0; row < batch.rows; ++row) {
          const std::string name(batch.columns[0].texts[row]);
          part.columns.push_back(name);
          if (table.Find(name) == nullptr) {
            table.columns.push_back(
                {.name = name,
                 .type = std::string(SqliteTypeName(batch.columns[1].texts[row])),
                 .primary_key = IsPrimaryKey(table.name, name)});
          }
        }
        return true;
      });
  return problem.empty() ? Status() : Status(ReadProblem(part.path, problem, file));
}

// Hands over the rows from number `delivered` on, and counts them in it. DuckDB's message on
// failure.
std::string ParquetSource::StreamRows(const FileDescriptor& file, std::string_view names,
                                      std::span<const WantedColumn> columns,
                                      const std::string& condition, uint64_t& delivered,
                                      const BatchSink& sink) const {
  const std::string sql =
      fmt::format("SELECT {} FROM read_parquet('{}'){}", names, DescriptorPath(file), condition);
  ChunkConverter converter(database_->api(), columns);
  DuckdbConnection connection(*database_);
  uint64_t position = 0;
  return connection.Stream(sql, [&](duckdb_result& result, duckdb_data_chunk chunk) {
    const uint64_t end = position + database_->api().data_chunk_get_size(chunk);
    const uint64_t first = std::max(position, std::min(delivered, end));
    const bool more = first >= end || sink(converter.Convert(result, chunk, first - position));
    position = end;
    delivered = std::max(delivered, end);
    return more;
  });
}

// Where the pages of `columns` are in the file.
std::vector<Range> ParquetSource::ChunksOf(const FileDescriptor& file,
                                           std::span<const WantedColumn> columns) const {
  const WantedColumn wanted[] = {{.name = "path", .type = CellType::kText},
                                 {.name = "dictionary", .type = CellType::kInteger},
                                 {.name = "data", .type = CellType::kInteger},
                                 {.name = "bytes", .type = CellType::kInteger}};
  ChunkConverter converter(database_->api(), wanted);
  DuckdbConnection connection(*database_);
  std::vector<Range> ranges;
  connection.Stream(
      fmt::format("SELECT path_in_schema, dictionary_page_offset, data_page_offset, "
                  "total_compressed_size FROM parquet_metadata('{}')",
                  DescriptorPath(file)),
      [&](duckdb_result& result, duckdb_data_chunk chunk) {
        const Batch batch = converter.Convert(result, chunk, 0);
        for (size_t row = 0; row < batch.rows; ++row) {
          const std::string_view name = batch.columns[0].texts[row];
          const bool is_wanted =
              std::any_of(columns.begin(), columns.end(),
                          [&](const WantedColumn& column) { return column.name == name; });
          if (!is_wanted) {
            continue;
          }
          const int64_t dictionary = batch.columns[1].integers[row];
          const int64_t data = batch.columns[2].integers[row];
          ranges.push_back({.offset = dictionary > 0 ? std::min(dictionary, data) : data,
                            .bytes = batch.columns[3].integers[row]});
        }
        return true;
      });
  return ranges;
}

// A file in memory that holds the pages of `columns` at their places and a footer that calls no
// column a text; everything else in it is a hole. No descriptor when that is not possible.
FileDescriptor ParquetSource::CopyWithoutLabels(const FileDescriptor& file,
                                                std::span<const WantedColumn> columns) const {
  constexpr off_t kTailBytes = 8;  // length of the footer, magic
  struct stat info{};
  unsigned char tail[kTailBytes];
  FileDescriptor copy(memfd_create("parquet", MFD_CLOEXEC));
  if (copy.get() < 0 || fstat(file.get(), &info) != 0 || info.st_size < kTailBytes ||
      !ReadFully(file.get(), reinterpret_cast<char*>(tail), kTailBytes,
                 info.st_size - kTailBytes)) {
    return FileDescriptor(-1);
  }
  const auto length = static_cast<off_t>(tail[0] | tail[1] << 8 | tail[2] << 16) |
                      static_cast<off_t>(tail[3]) << 24;
  const off_t footer_at = info.st_size - kTailBytes - length;
  if (footer_at < 4) {
    return FileDescriptor(-1);
  }
  std::string footer(static_cast<size_t>(length), '\0');
  if (!ReadFully(file.get(), footer.data(), footer.size(), footer_at) || !HideTextLabels(footer) ||
      ftruncate(copy.get(), info.st_size) != 0 || !CopyRange(file.get(), copy.get(), 0, 4) ||
      !CopyRange(file.get(), copy.get(), info.st_size - kTailBytes, kTailBytes) ||
      !WriteFully(copy.get(), footer.data(), footer.size(), footer_at)) {
    return FileDescriptor(-1);
  }
  for (const Range& range : ChunksOf(file, columns)) {
    const bool inside = range.offset >= 4 && range.bytes >= 0 && range.offset <= footer_at &&
                        range.bytes <= footer_at - range.offset;
    if (!inside || !CopyRange(file.get(), copy.get(), range.offset, range.bytes)) {
      return FileDescriptor(-1);
    }
  }
  return copy;
}

Status ParquetSource::ReadWhere(std::string_view table, std::span<const WantedColumn> columns,
                                const std::string& condition, const BatchSink& sink) const {
  const auto parts = parts_.find(table);
  bool more = true;
  const BatchSink watched = [&](const Batch& batch) {
    more = sink(batch);
    return more;
  };
  for (size_t i = 0; more && parts != parts_.end() && i < parts->second.size(); ++i) {
    NSYS_TRY(ReadPart(parts->second[i], columns, condition, watched));
  }
  return {};
}

Status ParquetSource::ReadPart(const Part& part, std::span<const WantedColumn> columns,
                               const std::string& condition, const BatchSink& sink) const {
  NSYS_ASSIGN(const FileDescriptor file, OpenRegularFile(part.path));
  std::vector<std::string> list;
  for (const WantedColumn& column : columns) {
    const bool has =
        std::find(part.columns.begin(), part.columns.end(), column.name) != part.columns.end();
    list.push_back(has ? QuoteName(column.name) : "NULL");
  }
  const std::string names = Join(list, ",");
  uint64_t delivered = 0;
  std::string problem = StreamRows(file, names, columns, condition, delivered, sink);
  // Bytes that are no UTF-8 in a column that claims to be text: go on as plain bytes, from the row
  // where it stopped.
  if (problem.find("Invalid string encoding") != std::string::npos) {
    errno = 0;
    const FileDescriptor copy = CopyWithoutLabels(file, columns);
    if (copy.get() < 0 && IsOutOfFiles(errno)) {
      return CannotOpen(part.path, errno);
    }
    if (copy.get() >= 0) {
      problem = StreamRows(copy, names, columns, condition, delivered, sink);
    }
  }
  if (!problem.empty() && delivered == 0 && !condition.empty()) {  // e.g. a column of another type
    return ReadPart(part, columns, "", sink);
  }
  return problem.empty() ? Status() : Status(ReadProblem(part.path, problem, file));
}

}  // namespace

Result<std::unique_ptr<TableSource>> OpenParquetFolder(const std::string& folder, int threads,
                                                       const ParquetOptions& options) {
  NSYS_ASSIGN(std::unique_ptr<DuckdbDatabase> database, DuckdbDatabase::Open(threads));
  auto source = std::make_unique<ParquetSource>(folder, std::move(database));
  NSYS_TRY(source->LoadTables(options));
  return std::unique_ptr<TableSource>(std::move(source));
}

}  // namespace nsys
