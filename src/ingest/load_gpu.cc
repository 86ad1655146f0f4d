// SPDX-License-Identifier: MIT
// The loaders of GPU work: kernels, copies, memsets, graphs, synchronizations.
#include <fmt/format.h>

#include <limits>
#include <unordered_map>

#include "base/text.h"
#include "ingest/table_loaders.h"

namespace nsys {
namespace {

// A number that has 32 bits in every version of the schema; anything else reads as 0, "unknown".
int32_t KindOf(std::optional<int64_t> cell) {
  using Limits = std::numeric_limits<int32_t>;
  const bool fits = cell && *cell >= Limits::min() && *cell <= Limits::max();
  return fits ? static_cast<int32_t>(*cell) : 0;
}

int32_t MemoryKindOf(std::optional<int64_t> cell) { return cell ? KindOf(cell) : kNoMemoryKind; }

// The columns that all GPU tables have in common.
class GpuColumns {
 public:
  GpuColumns(EventReader& reader, ColumnSet wanted, GpuEvents& to, TableFindings& findings)
      : to_(to),
        findings_(findings),
        lane_(wanted.Has(Column::kLane)),
        correlated_(wanted.Has(Column::kCorrelation)) {
    if (lane_) {
      device_ = reader.Integer("deviceId");
      context_ = reader.Integer("contextId");
      green_context_ = reader.Integer("greenContextId");
      stream_ = reader.Integer("streamId");
      global_pid_ = reader.Integer("globalPid");
    }
    if (correlated_) {
      correlation_ = reader.Integer("correlationId");
    }
  }

  void Add(const Cells& cells) {
    if (lane_) {
      Lane lane{.device = cells.Integer(device_),
                .stream = cells.Integer(stream_),
                .global_pid = cells.Integer(global_pid_),
                .context = cells.Integer(context_),
                .green_context = cells.Integer(green_context_)};
      if (lane.green_context == 0) {
        lane.green_context.reset();
      }
      to_.lane.push_back(LaneId{findings_.lanes.Number(lane)});
    }
    if (correlated_) {
      to_.correlation.push_back(cells.Integer(correlation_).value_or(kNoCorrelation));
    }
  }

 private:
  GpuEvents& to_;
  TableFindings& findings_;
  bool lane_;
  bool correlated_;
  SourceColumnIndex device_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex context_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex green_context_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex stream_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex global_pid_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex correlation_ = SourceColumnIndex::kAbsent;
};

// Names for kernels whose texts the capture lacks, made once per number.
class SubstituteNames {
 public:
  explicit SubstituteNames(LoadContext& context) : context_(context) {}

  StringId Of(std::optional<int64_t> number) {
    const auto known = names_.find(number);
    if (known != names_.end()) {
      return known->second;
    }
    const std::string text = number ? fmt::format("kernel_{}", *number) : "kernel_unknown";
    const std::scoped_lock lock(context_.pool_mutex);
    return names_.emplace(number, context_.pool.Intern(text)).first->second;
  }

 private:
  LoadContext& context_;
  std::unordered_map<std::optional<int64_t>, StringId> names_;
};

// Sizes of copies: what is missing or impossible counts as 0, and is told.
class CopySizes {
 public:
  int64_t Checked(std::optional<int64_t> bytes) {
    const bool possible = bytes && *bytes >= 0 && *bytes <= kLargestSum - total_;
    if (!possible) {
      ++unusable_;
      return 0;
    }
    total_ += *bytes;
    return *bytes;
  }

  void Warn(std::vector<std::string>& warnings) const {
    if (unusable_ > 0) {
      warnings.push_back(fmt::format("{}: {} without a usable size; counted as 0 bytes",
                                     CanonicalName(TableId::kMemcpy), Counted(unusable_, "row")));
    }
  }

 private:
  static constexpr int64_t kLargestSum = int64_t{1} << 62;  // so that sums cannot overflow
  int64_t total_ = 0;
  int64_t unusable_ = 0;
};

template <typename Table>
Status LoadPlain(TableId table, LoadContext& context, ColumnSet wanted, Table& to,
                 TableFindings& findings) {
  EventReader reader(context, table);
  GpuColumns common(reader, wanted, to, findings);
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) { common.Add(cells); }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

}  // namespace

Status LoadKernels(LoadContext& context, ColumnSet wanted, KernelTable& to,
                   TableFindings& findings) {
  EventReader reader(context, TableId::kKernel);
  GpuColumns common(reader, wanted, to, findings);
  SubstituteNames substitutes(context);
  const bool named = wanted.Has(Column::kName);
  const auto short_column = named ? reader.Integer("shortName") : SourceColumnIndex::kAbsent;
  const auto demangled_column =
      named ? reader.Integer("demangledName") : SourceColumnIndex::kAbsent;
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    if (!named) {
      return;
    }
    const std::optional<int64_t> number = cells.Integer(short_column);
    const StringId short_name = context.strings.Find(number);
    const StringId demangled = context.strings.Find(cells.Integer(demangled_column));
    StringId name = demangled != StringId::kNone ? demangled : short_name;
    if (name == StringId::kNone) {
      name = substitutes.Of(number);
    }
    to.name.push_back(name);
    to.short_name.push_back(short_name);
    to.demangled_name.push_back(demangled);
  }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

Status LoadCopies(LoadContext& context, ColumnSet wanted, CopyTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kMemcpy);
  GpuColumns common(reader, wanted, to, findings);
  const bool sized = wanted.Has(Column::kBytes);
  const bool kinds = wanted.Has(Column::kKind);
  const auto bytes = sized ? reader.Integer("bytes") : SourceColumnIndex::kAbsent;
  CopySizes sizes;
  const auto kind = kinds ? reader.Integer("copyKind") : SourceColumnIndex::kAbsent;
  const bool memory = wanted.Has(Column::kMemory);
  const auto from = memory ? reader.Integer("srcKind") : SourceColumnIndex::kAbsent;
  const auto into = memory ? reader.Integer("dstKind") : SourceColumnIndex::kAbsent;
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    if (sized) {
      to.bytes.push_back(bytes == SourceColumnIndex::kAbsent ? 0
                                                             : sizes.Checked(cells.Integer(bytes)));
    }
    if (kinds) {
      to.kind.push_back(KindOf(cells.Integer(kind)));
    }
    if (memory) {
      to.from_memory.push_back(MemoryKindOf(cells.Integer(from)));
      to.to_memory.push_back(MemoryKindOf(cells.Integer(into)));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  sizes.Warn(findings.warnings);
  return {};
}

Status LoadMemsets(LoadContext& context, ColumnSet wanted, MemsetTable& to, TableFindings& findings) {
  return LoadPlain(TableId::kMemset, context, wanted, to, findings);
}

Status LoadGraphs(LoadContext& context, ColumnSet wanted, GraphTable& to, TableFindings& findings) {
  return LoadPlain(TableId::kGraphTrace, context, wanted, to, findings);
}

Status LoadSyncs(LoadContext& context, ColumnSet wanted, SyncTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kSync);
  GpuColumns common(reader, wanted, to, findings);
  const bool kinds = wanted.Has(Column::kKind);
  const auto type = kinds ? reader.Integer("syncType") : SourceColumnIndex::kAbsent;
  const auto older_type = kinds ? reader.Integer("deprecatedSyncType") : SourceColumnIndex::kAbsent;
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    if (!kinds) {
      return;
    }
    const std::optional<int64_t> cell = cells.Integer(type);
    to.type.push_back(KindOf(cell ? cell : cells.Integer(older_type)));
  }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

}  // namespace nsys
