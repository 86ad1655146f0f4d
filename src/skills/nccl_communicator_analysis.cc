// SPDX-License-Identifier: MIT
// How much time and how many bytes does each NCCL communicator take, by operation?
//
// An NCCL kernel belongs to the NCCL call whose range encloses its launch (analysis/nccl_events.h);
// the range's payload tells communicator and message size. Kernels that touch the window count in
// full; kernels of all ranks in the capture are pooled. bandwidth = message bytes / summed kernel
// time, so that of one rank on average. peak = NVLink of the GPU, both directions. Order: exact
// total descending, communicator, operation.
#include <algorithm>

#include <fmt/core.h>

#include "analysis/nccl_communicators.h"
#include "analysis/nccl_events.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

template <typename T>
Value OnlyOne(const std::set<T>& values) {
  return values.size() == 1 ? Value(*values.begin()) : Value();
}

std::string HexId(uint64_t communicator) { return fmt::format("0x{:016x}", communicator); }

// The keys about bytes and speed.
void AddBandwidth(const CommunicatorGroup& group, const CommunicatorWorld& world, Object& row) {
  const auto bandwidth = BandwidthGbps(group);
  const auto share = PeakSharePct(group, world.peak);
  row.Set("total_bytes", group.sized() ? Value(group.bytes) : Value());
  row.Set("avg_bytes",
          group.sized() ? Value(RoundHalfEven(Ratio(group.bytes, group.nccl_calls), 1)) : Value());
  row.Set("bandwidth_gbps", bandwidth ? Value(RoundHalfEven(*bandwidth, 3)) : Value());
  row.Set("peak_gbps", world.peak ? Value(world.peak->gbps) : Value());
  row.Set("peak_source",
          world.peak ? Value(fmt::format("{} NVLink", world.peak->product)) : Value());
  row.Set("efficiency_pct", share && *share <= 100 ? Value(RoundHalfEven(*share, 1)) : Value());
}

// The devices of the lanes, ascending.
std::set<int64_t> DevicesOf(const Trace& trace, const CommunicatorGroup& group) {
  std::set<int64_t> devices;
  for (const LaneId lane : group.lanes) {
    if (const auto device = trace.lanes[Index(lane)].device) {
      devices.insert(*device);
    }
  }
  return devices;
}

Object MakeRow(const Query& query, const CommunicatorGroup& group, const CommunicatorWorld& world) {
  const Trace& trace = query.trace;
  const CommunicatorFacts& facts = world.facts.at(group.communicator);
  const auto device_asked = query.params.OptionalInt("device");
  const std::set<int64_t> devices = DevicesOf(trace, group);
  std::vector<std::string> device_words;
  for (const int64_t device : devices) {
    device_words.push_back(std::to_string(device));
  }
  Object row{{"communicator_id", Value::Unsigned(group.communicator)},
             {"communicator_hex", HexId(group.communicator)},
             {"collective_type", group.operation},
             {"count", group.count},
             {"total_ms", NsToMs(group.total_ns, 3)},
             {"avg_ms", MeanMs(group.total_ns, group.count, 3)},
             {"min_ms", NsToMs(group.min_ns, 3)},
             {"max_ms", NsToMs(group.max_ns, 3)}};
  AddBandwidth(group, world, row);
  row.Set("num_ranks", facts.size());
  row.Set("rank", OnlyOne(facts.ranks));
  row.Set("cuda_device", OnlyOne(facts.cuda_devices));
  row.Set("root_rank", OnlyOne(group.roots));
  row.Set("reduction_op", OnlyOne(group.reductions));
  row.Set("inferred_dimension", world.Dimension(group));
  row.Set("device_scope", device_asked ? std::to_string(*device_asked) : "all");
  row.Set("device_count", devices.size());
  row.Set("devices", Join(device_words, ","));
  row.Set("stream_count", group.lanes.size());
  row.Set("total_ns", group.total_ns);
  row.Set("nccl_calls", group.nccl_calls);
  const auto factor = BusFactor(group.operation, facts.size());
  const bool known = factor && row.Find("bandwidth_gbps")->AsDouble() != nullptr;
  row.Set("bus_bandwidth_gbps",
          known ? Value(RoundHalfEven(*factor * Ratio(group.bytes, group.total_ns), 3)) : Value());
  row.Set("ranks_in_capture", List(facts.ranks.begin(), facts.ranks.end()));
  return row;
}

void AddDiagnostics(const LeftOutKernels& left_out, Answer& answer) {
  List details;
  const auto add = [&](int64_t count, std::string_view why) {
    if (count > 0) {
      details.emplace_back(fmt::format("{} {}", Counted(count, "NCCL kernel"), why));
      answer.notes.push_back(*details.back().AsText() + ".");
    }
  };
  add(left_out.without_call, "left out: no range of NCCL encloses the launch");
  add(left_out.without_payload, "left out: the range of the launch tells no communicator");
  add(left_out.mixed, "left out: one group of different operations or communicators");
  if (!details.empty()) {
    answer.about.push_back({{"_diagnostic", true},
                            {"message", "NCCL kernels that belong to no row"},
                            {"details", std::move(details)}});
  }
}

// Why the payloads cannot answer, when they cannot.
std::optional<Answer> AbstainForPayloads(const Trace& trace, const NcclPayloads& payloads) {
  const auto& all = payloads.all();
  if (all.empty()) {
    return Answer::Abstain(
        "The payloads of NCCL's ranges, which tell the communicators, were not exported. Export "
        "the report again with nsys export --include-blobs=true --type=sqlite REPORT.nsys-rep; no "
        "new capture is needed.",
        {{"schemas_present", trace.payload_schemas.size()}, {"binary_data_rows", 0}});
  }
  const bool none =
      std::none_of(all.begin(), all.end(), [](const auto& payload) { return payload.has_value(); });
  if (none) {
    return Answer::Abstain(
        "None of the payloads of NCCL's ranges could be decoded.",
        {{"schemas_present", trace.payload_schemas.size()}, {"undecoded_payloads", all.size()}});
  }
  return std::nullopt;
}

Result<Answer> Run(const Query& query) {
  const NcclPayloads& payloads = NcclPayloadsOf(query.views);
  if (auto abstention = AbstainForPayloads(query.trace, payloads)) {
    return *std::move(abstention);
  }
  const CommunicatorWorld& world = CommunicatorWorldOf(query.views);
  CommunicatorGroups found =  // a copy, to be put into another order
      CommunicatorsOf(query.views, query.params.OptionalInt("device"), query.window);
  std::stable_sort(found.groups.begin(), found.groups.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  Answer answer;
  for (const CommunicatorGroup& group : found.groups) {
    answer.rows.push_back(MakeRow(query, group, world));
  }
  if (!answer.rows.empty()) {
    answer.notes.push_back(fmt::format(
        "{} in the capture, pooled. GB/s is message bytes over kernel time, waiting for other "
        "ranks included; the bus figure counts what a rank moves.",
        Counted(world.captured_ranks, "rank")));
  }
  const bool beyond_peak =
      std::any_of(found.groups.begin(), found.groups.end(), [&](const CommunicatorGroup& group) {
        return PeakSharePct(group, world.peak).value_or(0) > 100;
      });
  if (beyond_peak) {
    answer.notes.emplace_back("No share of the peak where the bandwidth exceeds it.");
  }
  AddDiagnostics(found.left_out, answer);
  return answer;
}

std::string BytesCell(const Object& row) {
  const int64_t* bytes = row.Find("total_bytes")->AsInt();
  return bytes == nullptr ? "-" : FormatBytes(*bytes);
}

std::string ScopeCell(const Object& row) {
  const std::string& dimension = *row.Find("inferred_dimension")->AsText();
  if (dimension == "data_parallel_or_global") {
    return "all ranks";
  }
  return dimension.starts_with("subgroup") ? "subgroup" : "unknown";
}

std::vector<ColumnSpec> Columns() {
  return {
      {"communicator_id", Unit::kId, "NCCL's number of the communicator, equal in all its ranks"},
      {"communicator_hex", Unit::kText, "the same in hexadecimal", "Communicator"},
      {"collective_type", Unit::kText, "operation of the NCCL call", "Operation"},
      {"count", Unit::kCount, "kernels", "Kernels"},
      {"total_ms", Unit::kMs, "summed kernel time", "Total", DurationCell("total_ns")},
      {"avg_ms", Unit::kMs, "mean kernel time"},
      {"min_ms", Unit::kMs, "shortest kernel"},
      {"max_ms", Unit::kMs, "longest kernel"},
      {"total_bytes", Unit::kCount,
       "message sizes of the calls, each rank's own; null unless all are known", "Bytes",
       BytesCell},
      {"avg_bytes", Unit::kCount, "message bytes / calls of NCCL functions"},
      {"bandwidth_gbps", Unit::kGbps, "message bytes / summed kernel time", "GB/s"},
      {"peak_gbps", Unit::kGbps, "NVLink peak of the GPU, both directions; null when not known"},
      {"peak_source", Unit::kText, "what the peak is of"},
      {"efficiency_pct", Unit::kPct, "bandwidth / peak; null above 100 %", "Of peak"},
      {"num_ranks", Unit::kCount, "ranks of the communicator; null when payloads do not agree",
       "Ranks"},
      {"rank", Unit::kId, "rank in the communicator; null when the capture has several"},
      {"cuda_device", Unit::kId, "device of that rank; null when there are several"},
      {"root_rank", Unit::kId, "root of the operation; null when it has none or several"},
      {"reduction_op", Unit::kText, "reduction; null when there is none or several"},
      {"inferred_dimension", Unit::kText,
       "data_parallel_or_global: all ranks known of; subgroup_parallelism(n): n of more; unknown: "
       "more ranks than the capture holds",
       "Scope", ScopeCell},
      {"device_scope", Unit::kText, "the device asked for, or all"},
      {"device_count", Unit::kCount, "different CUDA ordinals of the kernels"},
      {"devices", Unit::kText, "these ordinals", "GPUs"},
      {"stream_count", Unit::kCount, "streams of the kernels, per process and device"},
      {"total_ns", Unit::kNs, "summed kernel time, exact"},
      {"nccl_calls", Unit::kCount, "calls of NCCL functions that launched the kernels"},
      {"bus_bandwidth_gbps", Unit::kGbps,
       "bandwidth · bytes a rank moves per message byte: 2(n-1)/n for allreduce, n-1 for "
       "allgather, reducescatter and alltoall, else 1",
       "Bus GB/s"},
      {"ranks_in_capture", Unit::kNested, "ranks of the communicator that the payloads name"}};
}

std::vector<ColumnSpec> AboutColumns() {
  return {{"_diagnostic", Unit::kFlag, "true: the row is about what was left out"},
          {"message", Unit::kText, "of a diagnostic row"},
          {"details", Unit::kNested, "of a diagnostic row"}};
}

Reads SkillReads() {
  Reads reads = {{TableId::kNvtx, {Column::kPayload}, RowKind::kNccl},
                 {TableId::kPayloadSchemas, {Column::kWhole}},
                 {TableId::kPayloadEntries, {Column::kWhole}},
                 {TableId::kGpu, {Column::kWhole}}};
  AddNcclReads(reads);
  return reads;
}

}  // namespace

Skill skill_nccl_communicator_analysis() {
  return {.name = "nccl_communicator_analysis",
          .category = Category::kCommunication,
          .title = "NCCL Communicator Analysis",
          .doc = "NCCL kernels by communicator and operation: time, bytes, bandwidth and scope.",
          .needs = {TableId::kKernel, TableId::kRuntime, TableId::kNvtx, TableId::kPayloadSchemas,
                    TableId::kPayloadEntries, TableId::kStringIds},
          .reads = SkillReads(),
          .params = {Param::Optional("device", ParamType::kInt,
                                     "only kernels of this CUDA device; all when absent")},
          .window_rule = WindowRule::kTouch,
          .columns = Columns(),
          .about_columns = AboutColumns(),
          .empty_text = "no NCCL kernel could be tied to a communicator",
          .run = Run};
}

}  // namespace nsys
