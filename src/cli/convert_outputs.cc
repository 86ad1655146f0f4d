// SPDX-License-Identifier: MIT
#include "cli/convert_outputs.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <system_error>

#include <fmt/format.h>

#include "base/block_sink.h"
#include "base/gzip_check.h"
#include "base/number.h"
#include "base/os_error.h"
#include "base/parquet_file.h"
#include "cli/progress.h"
#include "cli/warning.h"
#include "perfetto/event_table.h"
#include "perfetto/json_trace.h"
#include "perfetto/proto_trace.h"
#include "perfetto/write_options.h"

namespace nsys {
namespace {

bool WantsGzip(const std::string& path) { return path.ends_with(".gz"); }

// An error about a temporary name, told about the name that the user knows.
Error Renamed(Error error, const std::string& temporary, const ConvertedFile& file) {
  for (size_t at = error.message.find(temporary); at != std::string::npos;
       at = error.message.find(temporary, at + file.path.size())) {
    error.message.replace(at, temporary.size(), file.path);
  }
  if (TellsOfOutOfFiles(error.message)) {
    error.hint = OutOfFilesHint();
  }
  return error;
}

// About how many elements the JSON trace has.
int64_t EstimateEvents(const perfetto::Layout& layout) {
  const perfetto::Counts& counts = layout.counts;
  const size_t slices = layout.call_slices.size() + 2 * layout.range_slices.size() +
                        2 * layout.projections.size() + layout.extra_slices.size() +
                        layout.counter_samples.size() + layout.copy_usage.size();
  return static_cast<int64_t>(slices) + 2 * counts.kernels + 4 * counts.linked_kernels +
         counts.copies + 2 * counts.linked_copies + 2 * counts.usage_flows;
}

// Browsers hold a whole JSON trace in memory, several times.
void WarnOfSize(int64_t events) {
  constexpr int64_t kBytesOfEvent = 280;
  constexpr int64_t kHeavyBytes = 1'000'000'000;
  if (events > kHeavyBytes / kBytesOfEvent) {
    Warn(
        fmt::format("the JSON trace will have about {} of text, more than a browser opens well; "
                    "the .pftrace is several times smaller, and --trim START END makes both so",
                    FormatBytes(events * kBytesOfEvent)));
  }
}

using Writer = std::function<Result<int64_t>(const perfetto::WriteOptions&, BlockSink&)>;

struct Kind {
  Writer write;
  int64_t* count;          // where the number that the writer returns goes
  int64_t* plain_bytes;    // may be null
  std::string_view shown;  // in the progress line
  std::string_view unit;
  int64_t total = 0;  // about
};

Kind KindOf(const Trace& trace, const perfetto::Layout& layout, OutputKind kind,
            Conversion& conversion, int64_t& ignored) {
  const int64_t events = EstimateEvents(layout);
  switch (kind) {
    case OutputKind::kJson:
      return {.write = [&](const auto& options,
                           auto& sink) { return WriteJsonTrace(trace, layout, options, sink); },
              .count = &conversion.json_events,
              .plain_bytes = &conversion.json_bytes,
              .shown = "JSON",
              .unit = "events",
              .total = events};
    case OutputKind::kPftrace:
      return {.write = [&](const auto& options,
                           auto& sink) { return WriteProtoTrace(trace, layout, options, sink); },
              .count = &conversion.packets,
              .plain_bytes = nullptr,
              .shown = "protobuf",
              .unit = "packets",
              .total = events};
    case OutputKind::kParquet:
      return {.write = [&](const auto& options,
                           auto& sink) { return WriteEventTable(trace, layout, options, sink); },
              .count = &conversion.parquet_rows,
              .plain_bytes = nullptr,
              .shown = "Parquet",
              .unit = "rows",
              .total = 0};
    case OutputKind::kDependencies:
    case OutputKind::kExport:  // nsys writes it
      break;
  }
  return {.write = [](const auto&, auto& sink) -> Result<int64_t> {
            NSYS_TRY(perfetto::WriteDependencyTable(sink));
            return int64_t{0};
          },
          .count = &ignored,
          .plain_bytes = nullptr,
          .shown = "Parquet",
          .unit = "rows",
          .total = 0};
}

Status WriteOne(const Kind& kind, int threads, const std::string& temporary, ConvertedFile& file,
                Progress& progress) {
  progress.Begin(fmt::format("writing {}", kind.shown), std::string(kind.unit), kind.total);
  const perfetto::WriteOptions options{.threads = threads,
                                       .progress = [&](int64_t done) { progress.Update(done); }};
  NSYS_ASSIGN(const std::unique_ptr<BlockSink> sink,
              WantsGzip(file.path) ? OpenGzipSink(temporary) : OpenPlainSink(temporary));
  NSYS_ASSIGN(*kind.count, kind.write(options, *sink));
  NSYS_TRY(sink->Finish());
  file.bytes = static_cast<int64_t>(sink->file_bytes());
  if (kind.plain_bytes != nullptr) {
    *kind.plain_bytes = static_cast<int64_t>(sink->plain_bytes());
  }
  return {};
}

Status CheckOne(const ConvertedFile& file, const std::string& temporary,
                const Conversion& conversion) {
  std::error_code error;
  const auto size = std::filesystem::file_size(temporary, error);
  if (error || static_cast<int64_t>(size) != file.bytes) {
    return Error{.code = ErrorCode::kOutput,
                 .message = fmt::format("{} was not written whole", file.path),
                 .hint = "check the disk it is on"};
  }
  switch (file.kind) {
    case OutputKind::kJson:
      return perfetto::CheckJsonTrace(temporary, WantsGzip(file.path), conversion.json_events);
    case OutputKind::kParquet:
      return CheckParquetFooter(temporary, conversion.parquet_rows);
    case OutputKind::kDependencies:
      return CheckParquetFooter(temporary, 0);
    case OutputKind::kPftrace:
    case OutputKind::kExport:
      break;
  }
  return WantsGzip(file.path) ? ReadGzip(temporary, [](std::string_view) { return Status(); })
                              : Status();
}

}  // namespace

Status WriteOutputs(const Trace& trace, const perfetto::Layout& layout, int threads,
                    const perfetto::Publication& publication, Conversion& conversion,
                    Progress& progress) {
  int64_t ignored = 0;
  for (size_t i = 0; i < conversion.files.size(); ++i) {
    ConvertedFile& file = conversion.files[i];
    const Kind kind = KindOf(trace, layout, file.kind, conversion, ignored);
    if (file.kind == OutputKind::kJson) {
      WarnOfSize(kind.total);
    }
    const std::string& temporary = publication.TemporaryFile(i);
    if (Status status = WriteOne(kind, threads, temporary, file, progress); !status.ok()) {
      return Renamed(std::move(status).TakeError(), temporary, file);
    }
  }
  return {};
}

Status ReadBackOutputs(const perfetto::Publication& publication, const Conversion& conversion,
                       Progress& progress) {
  progress.Begin("reading the outputs back");
  for (size_t i = 0; i < conversion.files.size(); ++i) {
    const ConvertedFile& file = conversion.files[i];
    const std::string& temporary = publication.TemporaryFile(i);
    if (Status status = CheckOne(file, temporary, conversion); !status.ok()) {
      return Renamed(std::move(status).TakeError(), temporary, file);
    }
  }
  return {};
}

}  // namespace nsys
