// SPDX-License-Identifier: MIT
#include "cli/convert_one.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <system_error>
#include <thread>
#include <utility>

#include "base/text.h"
#include "cli/convert_outputs.h"
#include "cli/convert_source.h"
#include "cli/progress.h"
#include "cli/warning.h"
#include "ingest/file_kind.h"
#include "perfetto/publication.h"

namespace nsys {
namespace {

using perfetto::Publication;

constexpr std::chrono::milliseconds kLockPatience(5000);

int ThreadsFor(const ConvertRequest& request) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  return request.threads > 0 ? request.threads : static_cast<int>(cores);
}

perfetto::PublicationPlan PlanFor(const ConvertRequest& request, const ConvertJob& job,
                                  const std::vector<ConvertedFile>& files) {
  perfetto::PublicationPlan plan{.home = job.home,
                                 .files = {},
                                 .export_folder = job.export_folder,
                                 .manifest = job.manifest,
                                 .stale = job.stale,
                                 .keep = job.input,
                                 .wait = kLockPatience};
  for (const ConvertedFile& file : files) {
    plan.files.push_back(file.path);
  }
  if (request.wait) {
    plan.wait.reset();
  }
  return plan;
}

int64_t FolderBytes(const std::string& folder) {
  int64_t bytes = 0;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(folder, error);
  for (; !error && entry != std::filesystem::recursive_directory_iterator();
       entry.increment(error)) {
    if (entry->is_regular_file(error)) {
      bytes += static_cast<int64_t>(entry->file_size(error));
    }
  }
  return bytes;
}

// Loads, lays out and writes. What this takes in memory is gone when the files are read back.
Status MakeFiles(const ConvertRequest& request, const ConvertJob& job, Publication& publication,
                 Conversion& conversion, bool& exported, Progress& progress) {
  const int threads = ThreadsFor(request);
  NSYS_ASSIGN(const LoadedInput loaded,
              LoadInput(request, job, threads, publication, conversion, progress));
  exported = loaded.exported;
  perfetto::Options options = request.options;
  options.report = ToValidUtf8(job.report);
  options.proto_memory = job.files.contains(OutputKind::kPftrace);
  progress.Begin("laying out " + job.report);
  NSYS_ASSIGN(const perfetto::Layout layout, MakeLayout(loaded.trace, options));
  for (const std::string& warning : layout.warnings) {
    Warn(warning);
  }
  conversion.counts = layout.counts;
  conversion.origin_ns = layout.origin_ns;
  conversion.anchor_ns = layout.anchor_ns;
  conversion.anchored = layout.anchored;
  return WriteOutputs(loaded.trace, layout, threads, publication, conversion, progress);
}

}  // namespace

Result<Conversion> ConvertOne(const ConvertRequest& request, const ConvertJob& job,
                              Progress& progress) {
  // Before a folder is made for it.
  NSYS_TRY(InspectFile(job.input));
  Conversion conversion{.input = job.input, .report = job.report};
  for (const auto& [kind, path] : job.files) {
    conversion.files.push_back({.kind = kind, .path = path});
  }
  NSYS_ASSIGN(const std::unique_ptr<Publication> publication,
              Publication::Begin(PlanFor(request, job, conversion.files)));
  bool exported = false;
  NSYS_TRY(MakeFiles(request, job, *publication, conversion, exported, progress));
  NSYS_TRY(ReadBackOutputs(*publication, conversion, progress));
  NSYS_TRY(publication->Commit());
  if (exported && !job.export_folder.empty()) {
    conversion.files.insert(conversion.files.begin(), {.kind = OutputKind::kExport,
                                                       .path = job.export_folder,
                                                       .bytes = FolderBytes(job.export_folder)});
  }
  return conversion;
}

}  // namespace nsys
