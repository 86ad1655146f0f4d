// SPDX-License-Identifier: MIT
// The loaders of small tables: GPUs, devices, thread names, network cards, names of enumerations,
// payload schemas; and of processor samples and profiler overhead.
#include <algorithm>
#include <tuple>

#include "base/text.h"
#include "ingest/table_loaders.h"

namespace nsys {
namespace {

// Reads the columns that a small table has, row by row.
class SmallTable {
 public:
  SmallTable(LoadContext& context, TableId table)
      : context_(context), table_(context.schema.Find(table)) {}

  SourceColumnIndex Integer(std::string_view name) { return Want(name, CellType::kInteger); }
  SourceColumnIndex Text(std::string_view name) { return Want(name, CellType::kText); }

  template <typename Row>
  Status Read(const Row& row) {
    if (table_ == nullptr || wanted_.empty()) {
      return {};
    }
    return context_.source.Read(table_->name, wanted_, [&](const Batch& batch) {
      for (size_t i = 0; i < batch.rows; ++i) {
        row(Cells(batch, i));
      }
    });
  }

 private:
  SourceColumnIndex Want(std::string_view name, CellType type) {
    if (table_ == nullptr || table_->Find(name) == nullptr) {
      return SourceColumnIndex::kAbsent;
    }
    wanted_.push_back({.name = std::string(name), .type = type});
    return static_cast<SourceColumnIndex>(wanted_.size() - 1);
  }

  LoadContext& context_;
  const SourceTable* table_;
  std::vector<WantedColumn> wanted_;
};

std::optional<std::string> TextOf(const Cells& cells, SourceColumnIndex column) {
  const auto text = cells.Text(column);
  return text ? std::optional(ToValidUtf8(*text)) : std::nullopt;
}

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

Status LoadOverheads(LoadContext& context, ColumnSet /*wanted*/, OverheadTable& to,
                     TableFindings& findings) {
  EventReader reader(context, TableId::kOverhead);
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [](const Cells&) {}));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

Status LoadCudaDevices(LoadContext& context, std::vector<CudaDevice>& to) {
  SmallTable table(context, TableId::kCudaDevice);
  const auto ordinal = table.Integer("cudaId");
  const auto gpu = table.Integer("gpuId");
  const auto pid = table.Integer("pid");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    const auto of_gpu = cells.Integer(gpu);
    // Older exports lack cudaId and number devices as the system does.
    const auto number = ordinal == SourceColumnIndex::kAbsent ? of_gpu : cells.Integer(ordinal);
    if (number) {
      to.push_back({.ordinal = *number, .gpu = of_gpu, .pid = cells.Integer(pid)});
    }
  }));
  std::sort(to.begin(), to.end(), [](const CudaDevice& a, const CudaDevice& b) {
    return std::tie(a.ordinal, a.gpu, a.pid) < std::tie(b.ordinal, b.gpu, b.pid);
  });
  return {};
}

Status LoadGpus(LoadContext& context, std::vector<Gpu>& to) {
  SmallTable table(context, TableId::kGpu);
  const auto id = table.Integer("id");
  const auto name = table.Text("name");
  const auto chip = table.Text("chipName");
  const auto memory = table.Integer("totalMemory");
  const auto bandwidth = table.Integer("memoryBandwidth");
  const auto multiprocessors = table.Integer("smCount");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    to.push_back({.id = cells.Integer(id).value_or(0),
                  .name = TextOf(cells, name),
                  .chip = TextOf(cells, chip),
                  .memory_bytes = cells.Integer(memory),
                  .bytes_per_second = cells.Integer(bandwidth),
                  .multiprocessors = cells.Integer(multiprocessors)});
  }));
  std::stable_sort(to.begin(), to.end(), [](const Gpu& a, const Gpu& b) { return a.id < b.id; });
  return {};
}

Status LoadThreadNames(LoadContext& context, std::vector<ThreadName>& to) {
  SmallTable table(context, TableId::kThreadNames);
  const auto thread = table.Integer("globalTid");
  const auto priority = table.Integer("priority");
  const auto name = table.Integer("nameId");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    const auto word = cells.Integer(thread);
    const StringId text = context.strings.Find(cells.Integer(name));
    if (word && text != StringId::kNone) {
      to.push_back(
          {.global_tid = *word, .priority = cells.Integer(priority).value_or(0), .name = text});
    }
  }));
  const std::scoped_lock lock(context.pool_mutex);
  std::sort(to.begin(), to.end(), [&](const ThreadName& a, const ThreadName& b) {
    return std::tuple(a.global_tid, -a.priority, context.pool.Get(a.name)) <
           std::tuple(b.global_tid, -b.priority, context.pool.Get(b.name));
  });
  return {};
}

Status LoadNics(LoadContext& context, std::vector<Nic>& to) {
  SmallTable table(context, TableId::kNics);
  const auto name = table.Text("name");
  const auto vendor = table.Integer("vendorId");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    to.push_back({.name = TextOf(cells, name).value_or(""), .vendor = cells.Integer(vendor)});
  }));
  std::sort(to.begin(), to.end(), [](const Nic& a, const Nic& b) {
    return std::tie(a.name, a.vendor) < std::tie(b.name, b.vendor);
  });
  return {};
}

Status LoadPayloadSchemas(LoadContext& context, std::vector<PayloadSchema>& to) {
  std::map<std::pair<int64_t, int64_t>, PayloadSchema> schemas;
  {
    SmallTable table(context, TableId::kPayloadSchemas);
    const auto domain = table.Integer("domainId");
    const auto id = table.Integer("schemaId");
    const auto name = table.Text("name");
    const auto type = table.Integer("type");
    const auto bytes = table.Integer("payloadSize");
    NSYS_TRY(table.Read([&](const Cells& cells) {
      const std::pair key(cells.Integer(domain).value_or(0), cells.Integer(id).value_or(0));
      // Every process registers its schemas again: the rows repeat, and the first one counts.
      schemas.try_emplace(key, PayloadSchema{.domain = key.first,
                                             .id = key.second,
                                             .name = TextOf(cells, name).value_or(""),
                                             .type = cells.Integer(type).value_or(0),
                                             .bytes = cells.Integer(bytes).value_or(0),
                                             .fields = {}});
    }));
  }
  SmallTable table(context, TableId::kPayloadEntries);
  const auto domain = table.Integer("domainId");
  const auto schema = table.Integer("schemaId");
  const auto index = table.Integer("idx");
  const auto flags = table.Integer("flags");
  const auto type = table.Integer("type");
  const auto name = table.Text("name");
  const auto detail = table.Integer("arrayOrUnionDetail");
  const auto offset = table.Integer("offset");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    const auto at =
        schemas.find({cells.Integer(domain).value_or(0), cells.Integer(schema).value_or(0)});
    if (at == schemas.end()) {
      return;
    }
    at->second.fields.push_back({.index = cells.Integer(index).value_or(0),
                                 .flags = cells.Integer(flags).value_or(0),
                                 .type = cells.Integer(type).value_or(0),
                                 .name = TextOf(cells, name).value_or(""),
                                 .array_or_union = cells.Integer(detail).value_or(0),
                                 .offset = cells.Integer(offset)});
  }));
  for (auto& [key, one] : schemas) {
    auto& fields = one.fields;
    std::stable_sort(fields.begin(), fields.end(),
                     [](const auto& a, const auto& b) { return a.index < b.index; });
    fields.erase(std::unique(fields.begin(), fields.end(),
                             [](const auto& a, const auto& b) { return a.index == b.index; }),
                 fields.end());
    to.push_back(std::move(one));
  }
  return {};
}

Status LoadEnumNames(LoadContext& context, TableId table, std::map<int64_t, std::string>& to) {
  SmallTable reader(context, table);
  const auto id = reader.Integer("id");
  const auto name = reader.Text("name");
  return reader.Read([&](const Cells& cells) {
    const auto number = cells.Integer(id);
    auto text = TextOf(cells, name);
    if (number && text) {
      to.try_emplace(*number, *std::move(text));
    }
  });
}

}  // namespace nsys
