// SPDX-License-Identifier: MIT
#include "cli/convert_source.h"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "analysis/runner.h"
#include "analysis/window.h"
#include "cli/progress.h"
#include "cli/warning.h"
#include "ingest/capture.h"
#include "ingest/file_kind.h"
#include "ingest/load.h"
#include "ingest/nsys_export.h"

namespace nsys {
namespace {

// Exports the report and gives the folder of the tables; without nsys, a fresh export beside the
// report. Empty: the input is no report after all, and reading it will tell what it is.
Result<std::string> Export(const ConvertRequest& request, const ConvertJob& job,
                           perfetto::Publication& publication, Conversion& conversion,
                           Progress& progress) {
  NSYS_ASSIGN(const FileFacts facts, InspectFile(job.input));
  if (!job.is_report || facts.never_report || facts.kind == FileKind::kSqlite) {
    return std::string();
  }
  NSYS_ASSIGN(const std::string folder, publication.WorkFolder());
  const std::string log = folder + "/nsys.log";
  NSYS_ASSIGN(const NsysTool tool, FindExporter(request.nsys, log));
  if (tool.path.empty()) {
    const SiblingExports siblings = FindSiblingExports(job.input);
    if (siblings.fresh.empty()) {
      return NsysMissing(job.input, siblings);
    }
    Warn(fmt::format("there is no nsys here; reading {}, which lies beside the report",
                     siblings.fresh.front()));
    return siblings.fresh.front();
  }
  conversion.nsys = tool.path;
  conversion.nsys_version = tool.version;
  progress.Begin(fmt::format("{}: nsys exports the report", job.report));
  const std::string tables = folder + "/parquet";
  NSYS_TRY(ExportTables(tool, job.input, tables, log));
  return tables;
}

Status CheckTrim(const Trace& trace, const std::optional<Span>& trim) {
  return trim ? CheckWindow(trace, Window{trim->begin_ns, trim->end_ns}) : Status();
}

}  // namespace

Result<LoadedInput> LoadInput(const ConvertRequest& request, const ConvertJob& job, int threads,
                              perfetto::Publication& publication, Conversion& conversion,
                              Progress& progress) {
  NSYS_ASSIGN(const std::string tables, Export(request, job, publication, conversion, progress));
  const std::string& path = tables.empty() ? job.input : tables;
  progress.Begin("reading " + job.report, "rows", 0);
  LoadedInput loaded{.trace = {}, .exported = !conversion.nsys.empty()};
  NSYS_ASSIGN(const std::unique_ptr<TableSource> source,
              OpenCapture(path, OpenOptions{.threads = threads,
                                            .table_folders = true,
                                            .reader = request.reader.value_or(SqliteReader::kAuto),
                                            .keep_going = request.keep_going}));
  const LoadOptions options{.threads = threads,
                            .progress = [&](int64_t rows) { progress.Update(rows); },
                            .for_drawing = true,
                            .keep_going = request.keep_going,
                            .window = request.options.trim};
  NSYS_ASSIGN(loaded.trace, LoadTrace(*source, perfetto::LayoutReads(request.options), options));
  NSYS_TRY(CheckTrim(loaded.trace, request.options.trim));
  if (request.reader && !source->reader().empty()) {
    Tell(source->reader());
  }
  for (const std::string& warning : loaded.trace.warnings) {
    Warn(warning);
  }
  return loaded;
}

}  // namespace nsys
