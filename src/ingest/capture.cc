// SPDX-License-Identifier: MIT
#include "ingest/capture.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

#include "base/text.h"
#include "ingest/file_kind.h"
#include "ingest/load.h"
#include "ingest/nsys_export.h"
#include "ingest/nsys_tool.h"
#include "ingest/parquet_source.h"
#include "ingest/schema_probe.h"

namespace nsys {
namespace {

namespace fs = std::filesystem;

using SourceResult = Result<std::unique_ptr<TableSource>>;

// The tables of a temporary export, which is removed with them.
class ExportedSource final : public TableSource {
 public:
  ExportedSource(std::unique_ptr<TemporaryExport> files, std::unique_ptr<TableSource> tables)
      : files_(std::move(files)), tables_(std::move(tables)) {}

  const std::vector<SourceTable>& tables() const override { return tables_->tables(); }
  SourceLocation location() const override { return tables_->location(); }
  std::vector<std::string> warnings() const override { return tables_->warnings(); }
  std::string reader() const override { return tables_->reader(); }
  InputFiles inputs() const override { return tables_->inputs(); }
  Status Read(std::string_view table, std::span<const WantedColumn> columns,
              const BatchSink& sink) const override {
    return tables_->Read(table, columns, sink);
  }
  Status ReadHinted(std::string_view table, std::span<const WantedColumn> columns,
                    const RowHint& hint, const BatchSink& sink) const override {
    return tables_->ReadHinted(table, columns, hint, sink);
  }

 private:
  std::unique_ptr<TemporaryExport> files_;  // declared first: removed after the reader has closed
  std::unique_ptr<TableSource> tables_;
};

bool IsNsightTable(const SourceTable& table) {
  static constexpr std::string_view kTables[] = {"META_DATA_EXPORT", "META_DATA_CAPTURE",
                                                 "ANALYSIS_DETAILS"};
  return std::find(std::begin(kTables), std::end(kTables), table.name) != std::end(kTables) ||
         table.name.starts_with("TARGET_INFO_");
}

std::string TableList(const std::vector<SourceTable>& tables) {
  constexpr size_t kShown = 5;
  if (tables.empty()) {
    return "it has no tables";
  }
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(kShown, tables.size()); ++i) {
    names.push_back(Printable(tables[i].name));
  }
  std::string list = "its tables are " + Join(names, ", ");
  if (tables.size() > kShown) {
    list += fmt::format(" and {} more", tables.size() - kShown);
  }
  return list;
}

SourceResult CheckedForNsight(SourceResult opened, const std::string& path) {
  if (!opened.ok()) {
    return opened;
  }
  NSYS_TRY(opened.value()->inputs().CheckUnchanged());
  const std::vector<SourceTable>& tables = opened.value()->tables();
  const Schema schema = ProbeSchema(*opened.value());
  const auto resolves = [&](size_t table) {
    // Any database may have a table of processes.
    return static_cast<TableId>(table) != TableId::kProcesses && schema.resolved[table].has_value();
  };
  bool known = false;
  for (size_t table = 0; table < kTableCount; ++table) {
    known = known || resolves(table);
  }
  known = known || std::any_of(tables.begin(), tables.end(), IsNsightTable) ||
          !schema.unknown_gpu_tables.empty();
  if (known) {
    return opened;
  }
  return Error{.code = ErrorCode::kSchema,
               .message = fmt::format("{} is not an Nsight Systems export: {}", ShownPath(path),
                                      TableList(tables)),
               .hint = "make one with `nsys export --type=sqlite` or `--type=parquetdir`"};
}

SourceResult OpenTables(const std::string& folder, const OpenOptions& options) {
  return OpenParquetFolder(
      folder, options.threads,
      {.table_folders = options.table_folders, .keep_going = options.keep_going});
}

bool HasReportName(std::string_view path) {
  while (path.ends_with('/')) {
    path.remove_suffix(1);
  }
  return HasSuffix(path, ".nsys-rep") || HasSuffix(path, ".qdrep");
}

SourceResult OpenTablesOf(const std::string& sqlite, const OpenOptions& options) {
  return OpenSqliteAs(sqlite, options.reader, options.threads);
}

SourceResult OpenFolder(const std::string& path, const OpenOptions& options) {
  if (access(path.c_str(), R_OK | X_OK) != 0) {
    return Error{.code = ErrorCode::kProfile,
                 .message = fmt::format("no permission to read the folder {}", ShownPath(path)),
                 .hint = "ask its owner for permission to read it"};
  }
  const ParquetListing listing = ListParquetTables(path, options.table_folders);
  if (listing.error != 0) {
    return CannotOpen(path, listing.error);
  }
  if (!listing.tables.empty()) {
    return CheckedForNsight(OpenTables(path, options), path);
  }
  if (HasReportName(path)) {
    return Error{.code = ErrorCode::kProfile,
                 .message = fmt::format("{} is a folder, not a report", ShownPath(path)),
                 .hint =
                     "a report of Nsight Systems is one file; give that, or a folder of Parquet "
                     "tables"};
  }
  std::vector<std::string> others;
  std::error_code error;
  for (fs::directory_iterator entry(path, error); !error && entry != fs::directory_iterator();
       entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (HasSuffix(name, ".sqlite") || HasSuffix(name, ".nsys-rep")) {
      others.push_back(name);
    }
  }
  std::sort(others.begin(), others.end());
  return Error{.code = ErrorCode::kProfile,
               .message = fmt::format("the folder {} holds no .parquet tables", ShownPath(path)),
               .hint = others.empty()
                           ? "give the folder that `nsys export --type=parquetdir` wrote"
                           : fmt::format("it holds {}; give that file", ShownPath(others.front()))};
}

Error NotACapture(const std::string& path, const FileFacts& facts) {
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("{} is {}", ShownPath(path), facts.what),
          .hint = facts.hint};
}

SourceResult OpenReport(const std::string& path, const FileFacts& facts_of_report,
                        const OpenOptions& options) {
  const SiblingExports siblings = FindSiblingExports(path);
  for (const std::string& sibling : siblings.fresh) {
    const Result<FileFacts> facts = InspectFile(sibling);
    if (!facts.ok()) {
      continue;
    }
    SourceResult opened = facts.value().kind == FileKind::kDirectory
                              ? OpenFolder(sibling, options)
                              : CheckedForNsight(OpenTablesOf(sibling, options), sibling);
    // A sibling that cannot be read is no obstacle as long as something else can.
    if (opened.ok()) {
      return opened;
    }
  }
  if (siblings.fresh.empty() && facts_of_report.never_report) {
    return NotACapture(path, facts_of_report);
  }
  NSYS_ASSIGN(const std::string nsys, FindNsys());
  if (nsys.empty()) {
    if (siblings.fresh.empty()) {
      return NsysMissing(path, siblings);
    }
    const std::string& sibling = siblings.fresh.front();
    std::error_code error;
    const bool folder = fs::is_directory(sibling, error);
    return folder ? OpenFolder(sibling, options)
                  : CheckedForNsight(OpenTablesOf(sibling, options), sibling);
  }
  NSYS_ASSIGN(std::unique_ptr<TemporaryExport> files, TemporaryExport::Make(nsys, path));
  std::error_code error;
  const bool folder = fs::is_directory(files->path(), error);
  NSYS_ASSIGN(std::unique_ptr<TableSource> tables,
              CheckedForNsight(folder ? OpenTables(files->path(), options)
                                      : OpenTablesOf(files->path(), options),
                               path));
  return std::unique_ptr<TableSource>(
      std::make_unique<ExportedSource>(std::move(files), std::move(tables)));
}

}  // namespace

Result<std::unique_ptr<TableSource>> OpenCapture(const std::string& path,
                                                 const OpenOptions& options) {
  NSYS_ASSIGN(const FileFacts facts, InspectFile(path));
  switch (facts.kind) {
    case FileKind::kDirectory:
      return OpenFolder(path, options);
    case FileKind::kSqlite:
      return CheckedForNsight(OpenTablesOf(path, options), path);
    case FileKind::kParquetFile:
      return Error{.code = ErrorCode::kProfile,
                   .message = fmt::format("{} is a single Parquet table", ShownPath(path)),
                   .hint = "give the folder that holds all tables of the export"};
    case FileKind::kReport:
    case FileKind::kOther:
      break;
  }
  if (HasSuffix(path, ".qdstrm")) {
    return Error{
        .code = ErrorCode::kProfile,
        .message = fmt::format("{} is raw data that was not imported yet", ShownPath(path)),
        .hint =
            "turn it into a report with QdstrmImporter or the Nsight Systems "
            "application, then give the .nsys-rep"};
  }
  if (HasReportName(path)) {
    return OpenReport(path, facts, options);
  }
  if (facts.kind == FileKind::kReport) {
    return Error{
        .code = ErrorCode::kProfile,
        .message = fmt::format("{} looks like a report of Nsight Systems under another name",
                               ShownPath(path)),
        .hint = "rename it so that it ends in .nsys-rep"};
  }
  return NotACapture(path, facts);
}

}  // namespace nsys
