// SPDX-License-Identifier: MIT
// The loaders of GPU work: kernels, copies, memsets, graphs, synchronizations.
#include <array>
#include <limits>

#include "ingest/gpu_columns.h"
#include "ingest/substitute_names.h"
#include "ingest/table_loaders.h"

namespace nsys {
namespace {

constexpr auto kAbsent = SourceColumnIndex::kAbsent;

// Ids of graphs: some versions write 0 for none, some nothing.
int64_t GraphNumber(std::optional<int64_t> cell) { return cell && *cell != 0 ? *cell : kNoNumber; }

// An ordinal that has 32 bits in every version of the schema.
int32_t OrdinalOf(std::optional<int64_t> cell) {
  const bool fits = cell && *cell >= 0 && *cell <= std::numeric_limits<int32_t>::max();
  return fits ? static_cast<int32_t>(*cell) : static_cast<int32_t>(kNoNumber);
}

// The names of kernels.
class KernelNames {
 public:
  KernelNames(EventReader& reader, LoadContext& context, ColumnSet wanted, KernelTable& to)
      : to_(to),
        strings_(context.strings),
        substitutes_(context, "kernel_", context.options.for_drawing ? "" : "unknown"),
        named_(wanted.Has(Column::kName)),
        mangled_(wanted.Has(Column::kMangled)) {
    short_column_ = named_ ? reader.Integer("shortName") : kAbsent;
    demangled_column_ = named_ ? reader.Integer("demangledName") : kAbsent;
    mangled_column_ = mangled_ ? reader.Integer("mangledName") : kAbsent;
  }

  void Add(const Batch& batch, Rows rows) {
    if (mangled_) {
      strings_.Append(batch, mangled_column_, rows, to_.mangled_name);
    }
    if (!named_) {
      return;
    }
    const size_t first = to_.short_name.size();
    strings_.Append(batch, short_column_, rows, to_.short_name);
    strings_.Append(batch, demangled_column_, rows, to_.demangled_name);
    for (size_t i = 0; i < rows.size(); ++i) {
      const StringId demangled = to_.demangled_name[first + i];
      StringId name = demangled != StringId::kNone ? demangled : to_.short_name[first + i];
      if (name == StringId::kNone) {
        name = substitutes_.Of(Cells(batch, rows[i]).Integer(short_column_));
      }
      to_.name.push_back(name);
    }
  }

 private:
  KernelTable& to_;
  const StringIds& strings_;
  SubstituteNames substitutes_;
  bool named_;
  bool mangled_;
  SourceColumnIndex short_column_;
  SourceColumnIndex demangled_column_;
  SourceColumnIndex mangled_column_;
};

// Grid, block and graph of kernels.
class KernelPlaces {
 public:
  KernelPlaces(EventReader& reader, ColumnSet wanted, KernelTable& to)
      : to_(to), shaped_(wanted.Has(Column::kShape)) {
    constexpr std::string_view kAxes[] = {"gridX", "gridY", "gridZ", "blockX", "blockY", "blockZ"};
    for (size_t i = 0; i < axes_.size(); ++i) {
      axes_[i] = shaped_ ? reader.Integer(kAxes[i]) : kAbsent;
    }
    const bool in_graphs = wanted.Has(Column::kGraph);
    graph_ = in_graphs ? reader.Integer("graphId") : kAbsent;
    node_ = in_graphs ? reader.Integer("graphNodeId") : kAbsent;
  }

  // Of the rows whose times were added last.
  void Add(const Batch& batch, Rows rows) {
    for (size_t i = 0; shaped_ && i < rows.size(); ++i) {
      const Cells cells(batch, rows[i]);
      const auto axis = [&](size_t which) { return KindOf(cells.Integer(axes_[which])); };
      to_.shape.push_back(
          {.grid = {axis(0), axis(1), axis(2)}, .block = {axis(3), axis(4), axis(5)}});
    }
    if (graph_ == kAbsent && node_ == kAbsent) {
      return;
    }
    for (size_t i = 0; i < rows.size(); ++i) {
      const Cells cells(batch, rows[i]);
      const GraphPlace place{.graph = GraphNumber(cells.Integer(graph_)),
                             .node = GraphNumber(cells.Integer(node_))};
      const bool inside = place.graph != kNoNumber || place.node != kNoNumber;
      if (inside && to_.graph.empty()) {
        to_.graph.resize(to_.size() - rows.size() + i);
      }
      if (inside || !to_.graph.empty()) {
        to_.graph.push_back(place);
      }
    }
  }

 private:
  KernelTable& to_;
  bool shaped_;
  std::array<SourceColumnIndex, 6> axes_{};
  SourceColumnIndex graph_;
  SourceColumnIndex node_;
};

// Where copies lead.
class CopyRoutes {
 public:
  CopyRoutes(EventReader& reader, ColumnSet wanted, CopyTable& to)
      : to_(to), wanted_(wanted.Has(Column::kRoute)) {
    if (wanted_) {
      from_device_ = reader.Integer("srcDeviceId");
      to_device_ = reader.Integer("dstDeviceId");
      from_context_ = reader.Integer("srcContextId");
      to_context_ = reader.Integer("dstContextId");
      graph_node_ = reader.Integer("graphNodeId");
      address_ = reader.Integer("virtualAddress");
      copies_ = reader.Integer("copyCount");
    }
  }

  void Add(const Cells& cells) {
    if (wanted_) {
      to_.route.push_back(
          {.from_device = OrdinalOf(cells.Integer(from_device_)),
           .to_device = OrdinalOf(cells.Integer(to_device_)),
           .from_context = cells.Integer(from_context_).value_or(kNoNumber),
           .to_context = cells.Integer(to_context_).value_or(kNoNumber),
           .graph_node = cells.Integer(graph_node_).value_or(kNoNumber),
           .virtual_address = static_cast<uint64_t>(cells.Integer(address_).value_or(0)),
           .copies = cells.Integer(copies_).value_or(1)});
    }
  }

 private:
  CopyTable& to_;
  bool wanted_;
  SourceColumnIndex from_device_ = kAbsent;
  SourceColumnIndex to_device_ = kAbsent;
  SourceColumnIndex from_context_ = kAbsent;
  SourceColumnIndex to_context_ = kAbsent;
  SourceColumnIndex graph_node_ = kAbsent;
  SourceColumnIndex address_ = kAbsent;
  SourceColumnIndex copies_ = kAbsent;
};

}  // namespace

Status LoadKernels(LoadContext& context, ColumnSet wanted, KernelTable& to,
                   TableFindings& findings) {
  EventReader reader(context, TableId::kKernel);
  GpuColumns common(reader, wanted, to, findings);
  KernelNames names(reader, context, wanted, to);
  KernelPlaces places(reader, wanted, to);
  NSYS_TRY(reader.ReadColumns(OpenEnd::kDrop, to, [&](const Batch& batch, Rows rows) {
    common.Add(batch, rows);
    names.Add(batch, rows);
    places.Add(batch, rows);
  }));
  SortByTime(to, context.TiesOf(to.correlation));
  findings.Note(reader);
  return {};
}

Status LoadCopies(LoadContext& context, ColumnSet wanted, CopyTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kMemcpy);
  GpuColumns common(reader, wanted, to, findings);
  const bool sized = wanted.Has(Column::kBytes);
  const bool kinds = wanted.Has(Column::kKind);
  const auto bytes = sized ? reader.Integer("bytes") : kAbsent;
  ByteSizes sizes(TableId::kMemcpy);
  const auto kind = kinds ? reader.Integer("copyKind") : kAbsent;
  const bool memory = wanted.Has(Column::kMemory);
  const auto from = memory ? reader.Integer("srcKind") : kAbsent;
  const auto into = memory ? reader.Integer("dstKind") : kAbsent;
  CopyRoutes routes(reader, wanted, to);
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    routes.Add(cells);
    if (sized) {
      to.bytes.push_back(bytes == kAbsent ? 0 : sizes.Checked(cells.Integer(bytes)));
    }
    if (kinds) {
      to.kind.push_back(KindOf(cells.Integer(kind)));
    }
    if (memory) {
      to.from_memory.push_back(MemoryKindOf(cells.Integer(from)));
      to.to_memory.push_back(MemoryKindOf(cells.Integer(into)));
    }
  }));
  SortByTime(to, context.TiesOf(to.correlation));
  findings.Note(reader);
  sizes.Warn(findings.warnings);
  return {};
}

Status LoadMemsets(LoadContext& context, ColumnSet wanted, MemsetTable& to,
                   TableFindings& findings) {
  EventReader reader(context, TableId::kMemset);
  GpuColumns common(reader, wanted, to, findings);
  const bool sized = wanted.Has(Column::kBytes);
  const bool valued = wanted.Has(Column::kRoute);
  const auto bytes = sized ? reader.Integer("bytes") : kAbsent;
  const auto value = valued ? reader.Integer("value") : kAbsent;
  ByteSizes sizes(TableId::kMemset);
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    if (sized) {
      to.bytes.push_back(bytes == kAbsent ? 0 : sizes.Checked(cells.Integer(bytes)));
    }
    if (valued) {
      to.value.push_back(cells.Integer(value).value_or(0));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  sizes.Warn(findings.warnings);
  return {};
}

Status LoadGraphs(LoadContext& context, ColumnSet wanted, GraphTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kGraphTrace);
  GpuColumns common(reader, wanted, to, findings);
  const bool numbered = wanted.Has(Column::kGraph);
  const auto graph = numbered ? reader.Integer("graphId") : kAbsent;
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    common.Add(cells);
    if (numbered) {
      to.graph.push_back(GraphNumber(cells.Integer(graph)));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

Status LoadSyncs(LoadContext& context, ColumnSet wanted, SyncTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kSync);
  GpuColumns common(reader, wanted, to, findings);
  const bool kinds = wanted.Has(Column::kKind);
  const auto type = kinds ? reader.Integer("syncType") : kAbsent;
  const auto older_type = kinds ? reader.Integer("deprecatedSyncType") : kAbsent;
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
