// SPDX-License-Identifier: MIT
// The loaders of small tables: GPUs, devices, thread names, network cards, names of enumerations,
// payload schemas, processes, names of counters, clocks.
#include <algorithm>
#include <tuple>

#include "base/number.h"
#include "ingest/small_table.h"
#include "ingest/table_loaders.h"

namespace nsys {
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

Status LoadProcessNames(LoadContext& context, std::vector<ProcessName>& to) {
  SmallTable table(context, TableId::kProcesses);
  const auto process = table.Integer("globalPid");
  const auto name = table.Text("name");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    const auto word = cells.Integer(process);
    auto text = TextOf(cells, name);
    if (word && text) {
      to.push_back({.global_pid = ProcessWord(*word), .name = *std::move(text)});
    }
  }));
  const auto pid = [](const ProcessName& one) { return one.global_pid; };
  std::ranges::stable_sort(to, {}, pid);
  const auto repeated = std::ranges::unique(to, {}, pid);
  to.erase(repeated.begin(), repeated.end());
  return {};
}

Status LoadGpuMetricNames(LoadContext& context, std::vector<GpuMetricName>& to) {
  SmallTable table(context, TableId::kGpuMetricNames);
  const auto type = table.Integer("typeId");
  const auto metric = table.Integer("metricId");
  const auto source = table.Text("typeName");
  const auto name = table.Text("metricName");
  NSYS_TRY(table.Read([&](const Cells& cells) {
    const auto number = cells.Integer(metric);
    if (number) {
      to.push_back({.type = cells.Integer(type).value_or(0),
                    .metric = *number,
                    .source = TextOf(cells, source).value_or(""),
                    .name = TextOf(cells, name).value_or("")});
    }
  }));
  const auto key = [](const GpuMetricName& one) { return std::pair(one.type, one.metric); };
  std::ranges::stable_sort(to, {}, key);
  const auto repeated = std::ranges::unique(to, {}, key);
  to.erase(repeated.begin(), repeated.end());
  return {};
}

Status LoadExportShift(LoadContext& context, std::optional<int64_t>& to) {
  SmallTable table(context, TableId::kExportSettings);
  const auto name = table.Text("name");
  const auto value = table.Text("value");
  return table.Read([&](const Cells& cells) {
    if (!to && cells.Text(name) == "EXPORT_CONFIG_TIME_SHIFT") {
      to = ParseInt(cells.Text(value).value_or(""));
    }
  });
}

Status LoadSessionStart(LoadContext& context, std::optional<int64_t>& to) {
  SmallTable table(context, TableId::kSessionStart);
  const auto clock = table.Integer("systemClockNs");
  return table.Read([&](const Cells& cells) {
    if (!to) {
      to = cells.Integer(clock);
    }
  });
}

}  // namespace nsys
