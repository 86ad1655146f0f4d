// SPDX-License-Identifier: MIT
// The loaders of what the processor did: API calls and NVTX ranges.
#include <limits>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "ingest/nvtx_attributes.h"
#include "ingest/substitute_names.h"
#include "ingest/table_loaders.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

int32_t EventType(std::optional<int64_t> cell) {
  const int64_t type = cell.value_or(0);
  const bool fits = type >= 0 && type <= std::numeric_limits<int32_t>::max();
  return fits ? static_cast<int32_t>(type) : 0;
}

// The text of an NVTX row: written in the row, else referred to by number.
StringId NvtxText(LoadContext& context, std::optional<std::string_view> text,
                  std::optional<int64_t> text_id, int64_t& repaired) {
  if (!text) {
    return context.strings.Find(text_id);
  }
  const std::scoped_lock lock(context.pool_mutex);
  return InternValid(context.pool, *text, repaired);
}

// What StringIds says of NCCL. To be made while no other thread adds texts.
class NcclNames {
 public:
  explicit NcclNames(LoadContext& context) : strings_(context.strings) {
    const std::scoped_lock lock(context.pool_mutex);
    starts_.resize(context.pool.size());
    for (uint32_t id = 0; id < starts_.size(); ++id) {
      const std::string_view text = context.pool.Get(StringId{id});
      starts_[id] = text.starts_with(kPrefix) ? 1 : 0;
      any_ = any_ || starts_[id] != 0 || ContainsIgnoreCase(text, kPrefix);
    }
  }

  // Rows whose text begins with nccl.
  RowHint Hint() const {
    return {.text = "text",
            .prefix = std::string(kPrefix),
            .text_id = "textId",
            .ids = strings_.NumbersOf([&](StringId id) { return starts_[Index(id)] != 0; })};
  }

  // Whether a kernel can be one of NCCL.
  bool any() const { return any_; }

  // Whether the text of an NVTX row begins with nccl.
  bool IsNccl(std::optional<std::string_view> text, std::optional<int64_t> text_id) const {
    if (text) {
      return text->starts_with(kPrefix);
    }
    const StringId id = strings_.Find(text_id);
    return id != StringId::kNone && starts_[Index(id)] != 0;
  }

 private:
  static constexpr std::string_view kPrefix = "nccl";
  const StringIds& strings_;
  std::vector<uint8_t> starts_;  // by StringId, of the texts of StringIds
  bool any_ = false;
};

// Numbers the distinct payloads: the calls of one collective mostly carry the same.
class PayloadNumbers {
 public:
  explicit PayloadNumbers(std::vector<std::string>& to) : to_(to) {}

  uint32_t Number(std::optional<std::string_view> payload) {
    // A payload of NCCL has a few dozen bytes, twice as many when written in hexadecimal.
    constexpr size_t kMostBytes = size_t{1} << 16;
    if (!payload || payload->empty() || payload->size() > kMostBytes) {
      return kNoPayload;
    }
    const auto [at, added] =
        numbers_.try_emplace(std::string(*payload), static_cast<uint32_t>(to_.size()));
    if (added) {
      to_.push_back(at->first);
    }
    return at->second;
  }

 private:
  std::vector<std::string>& to_;
  std::unordered_map<std::string, uint32_t> numbers_;
};

// What is wanted of the NVTX table, after kNcclRanges has been taken apart.
struct NvtxWants {
  explicit NvtxWants(ColumnSet wanted) {
    const bool ranges = wanted.Has(Column::kNcclRanges);
    nccl_only = ranges && (wanted == ColumnSet{Column::kNcclRanges} ||
                           wanted == ColumnSet{Column::kNcclRanges, Column::kPayload});
    threads = ranges || wanted.Has(Column::kThread);
    named = ranges || wanted.Has(Column::kName);
    kinds = ranges || wanted.Has(Column::kKind);
    payloads = named && wanted.Has(Column::kPayload);
    attributes = wanted.Has(Column::kAttributes);
  }
  bool nccl_only;
  bool threads;
  bool named;
  bool kinds;
  bool payloads;
  bool attributes;
};

// The columns of an NVTX row, by their place in a batch.
struct NvtxCells {
  NvtxCells(EventReader& reader, const NvtxWants& wants) {
    const auto absent = SourceColumnIndex::kAbsent;
    thread = wants.threads ? reader.Integer("globalTid") : absent;
    domain = wants.threads ? reader.Integer("domainId") : absent;
    text = wants.named ? reader.Text("text") : absent;
    text_id = wants.named ? reader.Integer("textId") : absent;
    kind = wants.kinds ? reader.Integer("eventType") : absent;
    payload = wants.payloads ? reader.Text("binaryData") : absent;
  }

  bool IsNccl(const NcclNames& names, const Cells& cells) const {
    return names.IsNccl(cells.Text(text), cells.Integer(text_id));
  }

  SourceColumnIndex thread;
  SourceColumnIndex domain;
  SourceColumnIndex text;
  SourceColumnIndex text_id;
  SourceColumnIndex kind;
  SourceColumnIndex payload;
};

}  // namespace

Status LoadCalls(LoadContext& context, ColumnSet wanted, CallTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kRuntime);
  const bool threads = wanted.Has(Column::kThread);
  const bool correlated = wanted.Has(Column::kCorrelation);
  const bool named = wanted.Has(Column::kName);
  const auto thread = threads ? reader.Integer("globalTid") : SourceColumnIndex::kAbsent;
  const auto correlation =
      correlated ? reader.Integer("correlationId") : SourceColumnIndex::kAbsent;
  const auto name = named ? reader.Integer("nameId") : SourceColumnIndex::kAbsent;
  SubstituteNames substitutes(context, "cuda_api_", "");
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    if (threads) {
      const std::optional<int64_t> word = cells.Integer(thread);
      to.thread.push_back(word ? ThreadId{findings.threads.Number(*word)} : ThreadId::kNone);
    }
    if (correlated) {
      to.correlation.push_back(cells.Integer(correlation).value_or(kNoCorrelation));
    }
    if (named) {
      const std::optional<int64_t> number = cells.Integer(name);
      const StringId text = context.strings.Find(number);
      const bool substitute = text == StringId::kNone && context.options.for_drawing;
      to.name.push_back(substitute ? substitutes.Of(number) : text);
    }
  }));
  SortByTime(to, context.TiesOf(to.correlation));
  findings.Note(reader);
  return {};
}

Status LoadNvtx(LoadContext& context, ColumnSet wanted, NvtxTable& to, TableFindings& findings) {
  const NvtxWants wants(wanted);
  const bool asks = wants.nccl_only || wants.payloads;
  const std::optional<NcclNames> names = asks ? std::optional<NcclNames>(context) : std::nullopt;
  if (wants.nccl_only && !wants.payloads && !names->any()) {
    return {};
  }
  EventReader reader(context, TableId::kNvtx);
  const NvtxCells columns(reader, wants);
  if (wants.nccl_only) {
    reader.Hint(names->Hint());
  }
  PayloadNumbers payloads(findings.payloads);
  AttributeNumbers attributes(reader, context, wants.attributes, findings.attributes);
  NSYS_TRY(reader.Read(OpenEnd::kKeep, to, [&](const Cells& cells) {
    const bool nccl = names && columns.IsNccl(*names, cells);
    if (wants.nccl_only && !nccl) {
      EventReader::TakeBack(to);
      return;
    }
    if (wants.threads) {
      const RawNvtxLane lane{.global_tid = cells.Integer(columns.thread),
                             .domain = cells.Integer(columns.domain).value_or(0)};
      to.lane.push_back(NvtxLaneId{findings.nvtx_lanes.Number(lane)});
    }
    if (wants.named) {
      to.text.push_back(NvtxText(context, cells.Text(columns.text), cells.Integer(columns.text_id),
                                 findings.texts_repaired));
    }
    if (wants.kinds) {
      const bool without = columns.kind == SourceColumnIndex::kAbsent;
      // Without the column, rows are taken for push-pop ranges.
      to.event_type.push_back(without ? kNvtxPushPop : EventType(cells.Integer(columns.kind)));
    }
    if (wants.payloads) {
      to.payload.push_back(nccl ? payloads.Number(cells.Text(columns.payload)) : kNoPayload);
    }
    if (wants.attributes) {
      to.attributes.push_back(attributes.Number(cells));
      to.open.push_back(reader.IsOpen(cells) ? 1 : 0);
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  if (wants.nccl_only) {
    findings.rows_left_out = 0;  // of rows that nobody asked for
  }
  return {};
}

}  // namespace nsys
