// SPDX-License-Identifier: MIT
#include "ingest/parquet_source.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

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

constexpr std::string_view kSuffix = ".parquet";

class FileDescriptor {
 public:
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&&) = delete;
  ~FileDescriptor() {
    if (fd_ >= 0) {
      close(fd_);
    }
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

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

class ParquetSource final : public TableSource {
 public:
  ParquetSource(std::string folder, std::unique_ptr<DuckdbDatabase> database)
      : folder_(std::move(folder)), database_(std::move(database)) {}

  Status LoadTables();
  const std::vector<SourceTable>& tables() const override { return tables_; }
  SourceLocation location() const override { return {SourceForm::kParquetFolder, folder_}; }
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
  std::string PathOf(std::string_view table) const {
    return fmt::format("{}/{}{}", folder_, table, kSuffix);
  }
  Result<FileDescriptor> OpenTable(std::string_view table) const;
  Error Damaged(std::string_view table, const std::string& reason) const;
  void Confine(const std::vector<FileDescriptor>& files) const;
  Status Describe(const FileDescriptor& file, SourceTable& table) const;
  std::string StreamRows(const FileDescriptor& file, std::span<const WantedColumn> columns,
                         const std::string& condition, uint64_t& delivered,
                         const BatchSink& sink) const;
  std::vector<Range> ChunksOf(const FileDescriptor& file,
                              std::span<const WantedColumn> columns) const;
  FileDescriptor CopyWithoutLabels(const FileDescriptor& file,
                                   std::span<const WantedColumn> columns) const;

  std::string folder_;
  std::unique_ptr<DuckdbDatabase> database_;
  std::vector<SourceTable> tables_;
};

Error ParquetSource::Damaged(std::string_view table, const std::string& reason) const {
  return {
      .code = ErrorCode::kProfile,
      .message = fmt::format("{} is damaged or truncated: {}", ShownPath(PathOf(table)), reason),
      .hint = "export the report again"};
}

Result<FileDescriptor> ParquetSource::OpenTable(std::string_view table) const {
  FileDescriptor file(open(PathOf(table).c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() >= 0) {
    return file;
  }
  return Error{
      .code = ErrorCode::kProfile,
      .message = fmt::format("cannot open {}: {}", ShownPath(PathOf(table)), std::strerror(errno))};
}

// Lets DuckDB touch the folders of these files and nothing else.
void ParquetSource::Confine(const std::vector<FileDescriptor>& files) const {
  std::vector<std::string> folders = {"'/proc/self/fd'"};  // for files in memory
  for (const FileDescriptor& file : files) {
    std::string target(4096, '\0');
    const ssize_t length = readlink(DescriptorPath(file).c_str(), target.data(), target.size());
    if (length <= 0) {
      return;
    }
    target.resize(static_cast<size_t>(length));
    folders.push_back(QuoteText(target.substr(0, target.rfind('/') + 1)));
  }
  std::sort(folders.begin(), folders.end());
  folders.erase(std::unique(folders.begin(), folders.end()), folders.end());
  DuckdbConnection connection(*database_);
  if (connection.Execute(fmt::format("SET allowed_directories=[{}]", Join(folders, ","))).empty()) {
    connection.Execute("SET enable_external_access=false");
  }
}

Status ParquetSource::LoadTables() {
  std::vector<FileDescriptor> files;
  for (const std::string& name : ListParquetFiles(folder_)) {
    tables_.push_back({.name = name.substr(0, name.size() - kSuffix.size()), .columns = {}});
    NSYS_ASSIGN(FileDescriptor file, OpenTable(tables_.back().name));
    files.push_back(std::move(file));
  }
  Confine(files);
  for (size_t i = 0; i < tables_.size(); ++i) {
    NSYS_TRY(Describe(files[i], tables_[i]));
  }
  std::sort(tables_.begin(), tables_.end(),
            [](const SourceTable& a, const SourceTable& b) { return a.name < b.name; });
  return {};
}

Status ParquetSource::Describe(const FileDescriptor& file, SourceTable& table) const {
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
          table.columns.push_back({.name = name,
                                   .type = std::string(SqliteTypeName(batch.columns[1].texts[row])),
                                   .primary_key = IsPrimaryKey(table.name, name)});
        }
        return true;
      });
  if (!problem.empty()) {
    return Damaged(table.name, Reason(problem, file));
  }
  return {};
}

// Hands over the rows from number `delivered` on, and counts them in it. DuckDB's message on
// failure.
std::string ParquetSource::StreamRows(const FileDescriptor& file,
                                      std::span<const WantedColumn> columns,
                                      const std::string& condition, uint64_t& delivered,
                                      const BatchSink& sink) const {
  std::vector<std::string> names;
  for (const WantedColumn& column : columns) {
    names.push_back(QuoteName(column.name));
  }
  const std::string sql = fmt::format("SELECT {} FROM read_parquet('{}'){}", Join(names, ","),
                                      DescriptorPath(file), condition);
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
  NSYS_ASSIGN(const FileDescriptor file, OpenTable(table));
  uint64_t delivered = 0;
  std::string problem = StreamRows(file, columns, condition, delivered, sink);
  // Bytes that are no UTF-8 in a column that claims to be text: go on as plain bytes, from the row
  // where it stopped.
  if (problem.find("Invalid string encoding") != std::string::npos) {
    const FileDescriptor copy = CopyWithoutLabels(file, columns);
    if (copy.get() >= 0) {
      problem = StreamRows(copy, columns, condition, delivered, sink);
    }
  }
  if (!problem.empty() && delivered == 0 && !condition.empty()) {  // e.g. a column of another type
    return ReadWhere(table, columns, "", sink);
  }
  if (!problem.empty()) {
    return Damaged(table, Reason(problem, file));
  }
  return {};
}

}  // namespace

std::vector<std::string> ListParquetFiles(const std::string& folder) {
  std::vector<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), &closedir);
  if (!entries) {
    return names;
  }
  while (const dirent* entry = readdir(entries.get())) {
    const std::string name = entry->d_name;
    if (name.starts_with('.') || !name.ends_with(kSuffix)) {
      continue;
    }
    struct stat info{};
    const bool found = stat(fmt::format("{}/{}", folder, name).c_str(), &info) == 0;
    if (found && S_ISREG(info.st_mode)) {
      names.push_back(name);
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

Result<std::unique_ptr<TableSource>> OpenParquetFolder(const std::string& folder, int threads) {
  NSYS_ASSIGN(std::unique_ptr<DuckdbDatabase> database, DuckdbDatabase::Open(threads));
  auto source = std::make_unique<ParquetSource>(folder, std::move(database));
  NSYS_TRY(source->LoadTables());
  return std::unique_ptr<TableSource>(std::move(source));
}

}  // namespace nsys
