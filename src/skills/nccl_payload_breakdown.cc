// SPDX-License-Identifier: MIT
// What did NCCL's own annotations carry: how many messages of which size, on which communicators?
//
// Ranges of NCCL (text begins with nccl) that touch the window and have a binary payload, by the
// schema that describes the payload. Bytes are message sizes as the calling rank passed them, so
// a call of n ranks counts n times when all n are in the capture. Percentiles interpolate linearly
// and drop the fraction. peer_rank_uniformity = max(0, 1 - standard deviation / mean) of the number
// of messages by peer. Order: schema id, domain.
#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/core.h>

#include "analysis/nccl_payloads.h"
#include "base/number.h"
#include "base/text.h"
#include "skills/skills.h"

namespace nsys {
namespace {

struct Group {
  int64_t count = 0;
  std::vector<int64_t> sizes;
  std::set<uint64_t> communicators;
  std::map<int64_t, int64_t> peers;  // messages by peer
  std::set<StringId> texts;
};

struct Found {
  std::map<std::pair<int64_t, int64_t>, Group> groups;  // by (schema id, domain)
  std::set<uint64_t> communicators;
  int64_t decoded = 0;
  int64_t skipped = 0;
};

std::pair<int64_t, int64_t> KeyOf(const PayloadSchema& schema) {
  return {schema.id, schema.domain};
}

Found Collect(const Query& query) {
  const Trace& trace = query.trace;
  const NvtxTable& nvtx = trace.nvtx;
  const NcclPayloads& payloads = NcclPayloadsOf(query.views);
  Found found;
  for (size_t row = 0; row < nvtx.size(); ++row) {
    const bool carries = nvtx.payload[row] != kNoPayload;
    if (!carries || !Touches(query.window, nvtx.start_ns[row], nvtx.end_ns[row])) {
      continue;
    }
    const NcclPayload* payload = payloads.Of(nvtx.payload[row]);
    if (payload == nullptr) {
      ++found.skipped;
      continue;
    }
    ++found.decoded;
    Group& group = found.groups[KeyOf(trace.payload_schemas[payload->schema])];
    ++group.count;
    group.texts.insert(nvtx.text[row]);
    if (payload->message_bytes) {
      group.sizes.push_back(*payload->message_bytes);
    }
    if (payload->communicator) {
      group.communicators.insert(*payload->communicator);
      found.communicators.insert(*payload->communicator);
    }
    if (payload->peer) {
      ++group.peers[*payload->peer];
    }
  }
  return found;
}

// Of `sorted`, which must not be empty.
int64_t Percentile(const std::vector<int64_t>& sorted, double share) {
  const double position = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(position);
  if (below + 1 >= sorted.size()) {
    return sorted.back();
  }
  const double fraction = position - static_cast<double>(below);
  const auto step = static_cast<double>(sorted[below + 1] - sorted[below]);
  return static_cast<int64_t>(static_cast<double>(sorted[below]) + fraction * step);
}

// Cannot overflow: sums of damaged sizes stay at the largest value.
int64_t Sum(const std::vector<int64_t>& sizes) {
  constexpr int64_t kMost = int64_t{1} << 62;
  int64_t sum = 0;
  for (const int64_t size : sizes) {
    sum = size > kMost - sum ? kMost : sum + size;
  }
  return sum;
}

void AddPeers(const Group& group, Object& row) {
  if (group.peers.empty()) {
    return;
  }
  const auto peers = static_cast<double>(group.peers.size());
  double total = 0;
  for (const auto& [peer, count] : group.peers) {
    total += static_cast<double>(count);
  }
  double squares = 0;
  Object distribution;
  for (const auto& [peer, count] : group.peers) {
    const double distance = static_cast<double>(count) - total / peers;
    squares += distance * distance;
    distribution.Set(std::to_string(peer), count);
  }
  const double variation = std::sqrt(squares / peers) / (total / peers);
  row.Set("distinct_peer_ranks", group.peers.size());
  row.Set("peer_rank_uniformity", RoundHalfEven(std::max(0.0, 1 - variation), 3));
  row.Set("peer_rank_distribution", std::move(distribution));
}

Object MakeRow(const Trace& trace, const PayloadSchema& schema, Group& group) {
  List fields;
  for (const PayloadField& field : schema.fields) {
    fields.emplace_back(field.name);
  }
  Object row{{"schema_id", schema.id},
             {"category", NcclSchemaCategory(schema)},
             {"field_set", std::move(fields)},
             {"count", group.count},
             {"distinct_communicators", group.communicators.size()}};
  AddPeers(group, row);
  if (!group.sizes.empty()) {
    std::sort(group.sizes.begin(), group.sizes.end());
    row.Set("msg_size_bytes_total", Sum(group.sizes));
    row.Set("msg_size_bytes_min", group.sizes.front());
    row.Set("msg_size_bytes_p50", Percentile(group.sizes, 0.5));
    row.Set("msg_size_bytes_p99", Percentile(group.sizes, 0.99));
    row.Set("msg_size_bytes_max", group.sizes.back());
  }
  std::set<std::string> names;
  for (const StringId text : group.texts) {
    names.emplace(trace.Text(text));
  }
  row.Set("domain_id", schema.domain);
  row.Set("calls", List(names.begin(), names.end()));
  return row;
}

Answer AbstainWithoutPayloads(const Trace& trace) {
  return Answer::Abstain(
      fmt::format("The payloads of NCCL's ranges were not exported: {} described, but no range "
                  "carries one. Export the report again with nsys export --include-blobs=true "
                  "--type=sqlite REPORT.nsys-rep; no new capture is needed.",
                  Counted(static_cast<int64_t>(trace.payload_schemas.size()), "schema")),
      {{"schemas_present", trace.payload_schemas.size()}, {"binary_data_rows", 0}});
}

Result<Answer> Run(const Query& query) {
  const Trace& trace = query.trace;
  if (trace.payloads.empty()) {
    return AbstainWithoutPayloads(trace);
  }
  Found found = Collect(query);
  Answer answer;
  std::vector<int64_t> sizes;
  for (auto& [key, group] : found.groups) {
    const auto schema = std::find_if(trace.payload_schemas.begin(), trace.payload_schemas.end(),
                                     [&](const PayloadSchema& one) { return KeyOf(one) == key; });
    answer.rows.push_back(MakeRow(trace, *schema, group));
    sizes.insert(sizes.end(), group.sizes.begin(), group.sizes.end());
  }
  const int64_t total = Sum(sizes);
  answer.about_before.push_back(
      {{"_summary", true},
       {"total_payload_events", found.decoded},
       {"message_carrying_events", sizes.size()},
       {"skipped_events", found.skipped},
       {"total_bytes_all", total},
       {"total_gib_all", RoundHalfEven(static_cast<double>(total) / 0x1p30, 2)},
       {"distinct_schemas", found.groups.size()},
       {"total_distinct_communicators", found.communicators.size()}});
  answer.notes.push_back(fmt::format(
      "{} with {} of messages on {}; a message counts once for each rank in the capture.",
      Counted(found.decoded, "annotated call"), FormatBytes(total),
      Counted(static_cast<int64_t>(found.communicators.size()), "communicator")));
  if (found.skipped > 0) {
    answer.notes.push_back(fmt::format("{} could not be decoded and are left out.",
                                       Counted(found.skipped, "payload")));
  }
  return answer;
}

std::function<std::string(const Object&)> BytesCell(std::string key) {
  return [key = std::move(key)](const Object& row) {
    const Value* bytes = row.Find(key);
    return bytes == nullptr ? std::string("-") : FormatBytes(*bytes->AsInt());
  };
}

std::string CallsCell(const Object& row) {
  std::vector<std::string> names;
  for (const Value& name : *row.Find("calls")->AsList()) {
    names.push_back(*name.AsText());
  }
  return Join(names, ", ");
}

std::vector<ColumnSpec> Columns() {
  return {
      {"schema_id", Unit::kId, "number of the payload's schema", "Schema"},
      {"category", Unit::kText, "init, p2p, collective or group_marker, by the schema's fields",
       "Category"},
      {"field_set", Unit::kNested, "names of the schema's fields"},
      {"count", Unit::kCount, "ranges whose payload follows the schema", "Count"},
      {"distinct_communicators", Unit::kCount, "different communicator ids among them", "Comms"},
      {"distinct_peer_ranks", Unit::kCount, "different peers; p2p only"},
      {"peer_rank_uniformity", Unit::kCount,
       "1: equally many messages with each peer; max(0, 1 - standard deviation / mean)"},
      {"peer_rank_distribution", Unit::kNested, "number of messages by peer rank"},
      {"msg_size_bytes_total", Unit::kCount, "summed message sizes; absent without sizes", "Total",
       BytesCell("msg_size_bytes_total")},
      {"msg_size_bytes_min", Unit::kCount, "smallest message"},
      {"msg_size_bytes_p50", Unit::kCount, "median, interpolated", "Median",
       BytesCell("msg_size_bytes_p50")},
      {"msg_size_bytes_p99", Unit::kCount, "99th percentile, interpolated"},
      {"msg_size_bytes_max", Unit::kCount, "largest message", "Largest",
       BytesCell("msg_size_bytes_max")},
      {"domain_id", Unit::kId, "NVTX domain of the schema; schema numbers repeat across domains"},
      {"calls", Unit::kNested, "texts of the ranges", "NCCL calls", CallsCell}};
}

std::vector<ColumnSpec> AboutColumns() {
  return {{"_summary", Unit::kFlag, "true: the row is about the whole capture or window"},
          {"total_payload_events", Unit::kCount, "ranges whose payload could be decoded"},
          {"message_carrying_events", Unit::kCount, "those with a message size"},
          {"skipped_events", Unit::kCount, "ranges whose payload could not be decoded"},
          {"total_bytes_all", Unit::kCount, "summed message sizes"},
          {"total_gib_all", Unit::kCount, "the same in units of 2^30 bytes"},
          {"distinct_schemas", Unit::kCount, "schemas that occur"},
          {"total_distinct_communicators", Unit::kCount, "different communicator ids"}};
}

}  // namespace

Skill skill_nccl_payload_breakdown() {
  return {
      .name = "nccl_payload_breakdown",
      .category = Category::kCommunication,
      .title = "NCCL Payload Breakdown",
      .doc = "Message sizes, peers and communicators from the binary payloads of NCCL's ranges.",
      .needs = {TableId::kNvtx, TableId::kPayloadSchemas, TableId::kPayloadEntries,
                TableId::kStringIds},
      .reads = {{TableId::kNvtx,
                 {Column::kTime, Column::kThread, Column::kName, Column::kKind, Column::kPayload},
                 RowKind::kNccl},
                {TableId::kPayloadSchemas, {Column::kWhole}},
                {TableId::kPayloadEntries, {Column::kWhole}}},
      .window_rule = WindowRule::kTouch,
      .columns = Columns(),
      .about_columns = AboutColumns(),
      .empty_text = "no annotated NCCL call with a payload in the window",
      .run = Run};
}

}  // namespace nsys
