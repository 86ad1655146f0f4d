// SPDX-License-Identifier: MIT
// The loaders of what goes on around the GPU work: processor samples, calls of the operating
// system, profiler overhead, allocations of GPU memory, counters of GPUs.
#include <limits>

#include "base/text.h"
#include "ingest/gpu_columns.h"
#include "ingest/small_table.h"
#include "ingest/substitute_names.h"
#include "ingest/table_loaders.h"

namespace nsys {
namespace {

// Spans with a thread and a name: OSRT_API, PROFILER_OVERHEAD.
class ThreadColumns {
 public:
  ThreadColumns(EventReader& reader, LoadContext& context, bool threads, bool named)
      : strings_(context.strings), threads_(threads), named_(named) {
    thread_ = threads ? reader.Integer("globalTid") : SourceColumnIndex::kAbsent;
    name_ = named ? reader.Integer("nameId") : SourceColumnIndex::kAbsent;
  }

  template <typename Table>
  void Add(const Cells& cells, Table& to, TableFindings& findings) const {
    if (threads_) {
      const std::optional<int64_t> word = cells.Integer(thread_);
      to.thread.push_back(word ? ThreadId{findings.threads.Number(*word)} : ThreadId::kNone);
    }
    if (named_) {
      to.name.push_back(strings_.Find(cells.Integer(name_)));
    }
  }

  std::optional<int64_t> NameNumber(const Cells& cells) const { return cells.Integer(name_); }

 private:
  const StringIds& strings_;
  bool threads_;
  bool named_;
  SourceColumnIndex thread_;
  SourceColumnIndex name_;
};

}  // namespace

Status LoadSamples(LoadContext& context, ColumnSet /*wanted*/, SampleTable& to,
                   TableFindings& findings) {
  SmallTable table(context, TableId::kSamples);
  const auto start = table.Integer("start");
  const auto thread = table.Integer("globalTid");
  const auto cycles = table.Integer("cpuCycles");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    const auto time = cells.Integer(start);
    const auto count = cells.Integer(cycles);
    const auto word = cells.Integer(thread);
    constexpr int64_t kMost = int64_t{1} << 40;  // so that no sum of them can overflow
    if (!time || !count || *count < 0 || *count > kMost) {
      ++findings.rows_left_out;
      return;
    }
    to.start_ns.push_back(*time);
    to.end_ns.push_back(*time);
    to.thread.push_back(word ? ThreadId{findings.threads.Number(*word)} : ThreadId::kNone);
    to.cycles.push_back(*count);
  }));
  SortByTime(to);
  if (findings.rows_left_out > 0) {
    findings.warnings.push_back(std::string(CanonicalName(TableId::kSamples)) + ": " +
                                Counted(findings.rows_left_out, "row") +
                                " without a time or a usable number of cycles; left out");
  }
  return {};
}

Status LoadOverheads(LoadContext& context, ColumnSet wanted, OverheadTable& to,
                     TableFindings& findings) {
  EventReader reader(context, TableId::kOverhead);
  const ThreadColumns columns(reader, context, wanted.Has(Column::kThread),
                              wanted.Has(Column::kName));
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to,
                       [&](const Cells& cells) { columns.Add(cells, to, findings); }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

Status LoadOsCalls(LoadContext& context, ColumnSet wanted, OsCallTable& to,
                   TableFindings& findings) {
  EventReader reader(context, TableId::kOsrt);
  reader.SkipOutsideWindow();
  const bool whole = wanted.Has(Column::kWhole);
  const bool named = whole || wanted.Has(Column::kName);
  const ThreadColumns columns(reader, context, whole || wanted.Has(Column::kThread), named);
  SubstituteNames substitutes(context, "os_call_", "");
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    columns.Add(cells, to, findings);
    if (named && to.name.back() == StringId::kNone) {
      to.name.back() = substitutes.Of(columns.NameNumber(cells));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

Status LoadMemoryUsage(LoadContext& context, ColumnSet wanted, MemoryUsageTable& to,
                       TableFindings& findings) {
  constexpr std::string_view kTimes[] = {"start"};
  EventReader reader(context, TableId::kMemoryUsage, kTimes);
  if (wanted.Has(Column::kWhole)) {
    wanted.Add({Column::kLane, Column::kCorrelation, Column::kBytes, Column::kKind});
  }
  GpuColumns common(reader, wanted, to, findings);
  const bool sized = wanted.Has(Column::kBytes);
  const bool kinds = wanted.Has(Column::kKind);
  const auto bytes = sized ? reader.Integer("bytes") : SourceColumnIndex::kAbsent;
  const auto kind = kinds ? reader.Integer("memKind") : SourceColumnIndex::kAbsent;
  const auto operation = kinds ? reader.Integer("memoryOperationType") : SourceColumnIndex::kAbsent;
  ByteSizes sizes(TableId::kMemoryUsage);
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    if (sized) {
      to.bytes.push_back(sizes.Checked(cells.Integer(bytes)));
    }
    if (kinds) {
      to.kind.push_back(KindOf(cells.Integer(kind)));
      to.operation.push_back(KindOf(cells.Integer(operation)));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  sizes.Warn(findings.warnings);
  return {};
}

Status LoadGpuMetrics(LoadContext& context, ColumnSet /*wanted*/, GpuMetricTable& to,
                      TableFindings& findings) {
  constexpr std::string_view kTimes[] = {"timestamp", "rawTimestamp"};
  EventReader reader(context, TableId::kGpuMetrics, kTimes);
  reader.SkipOutsideWindow();
  const auto type = reader.Integer("typeId");
  const auto metric = reader.Integer("metricId");
  const auto value = reader.Integer("value");
  int64_t unusable = 0;
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    const std::optional<int64_t> number = cells.Integer(metric);
    const std::optional<int64_t> sample = cells.Integer(value);
    using Limits = std::numeric_limits<int32_t>;
    if (!number || !sample || *number < Limits::min() || *number > Limits::max()) {
      EventReader::TakeBack(to);
      ++unusable;
      return;
    }
    to.type.push_back(cells.Integer(type).value_or(0));
    to.metric.push_back(static_cast<int32_t>(*number));
    to.value.push_back(*sample);
  }));
  SortByTime(to);
  findings.Note(reader);
  findings.rows_left_out += unusable;
  if (unusable > 0) {
    findings.warnings.push_back(fmt::format("{}: {} without a counter or a value; left out",
                                            CanonicalName(TableId::kGpuMetrics),
                                            Counted(unusable, "row")));
  }
  return {};
}

}  // namespace nsys
