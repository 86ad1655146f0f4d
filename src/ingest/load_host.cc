// SPDX-License-Identifier: MIT
// The loaders of what the processor did: API calls and NVTX ranges.
#include <limits>
#include <string>
#include <unordered_map>

#include "base/text.h"
#include "ingest/nvtx_attributes.h"
#include "ingest/nvtx_rows.h"
#include "ingest/substitute_names.h"
#include "ingest/table_loaders.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

int32_t EventType(int64_t type) {
  const bool fits = type >= 0 && type <= std::numeric_limits<int32_t>::max();
  return fits ? static_cast<int32_t>(type) : 0;
}

// The texts of NVTX rows: written in the row, else referred to by number.
class NvtxTexts {
 public:
  NvtxTexts(LoadContext& context, std::vector<StringId>& to, int64_t& repaired)
      : context_(context), to_(to), repaired_(repaired) {}

  void Add(const Batch& batch, SourceColumnIndex text, SourceColumnIndex text_id, Rows rows) {
    const ColumnBatch* texts = ColumnOf(batch, text);
    texts_.clear();
    places_.clear();
    const size_t first = to_.size();
    context_.strings.Append(batch, text_id, rows, to_);
    for (size_t i = 0; texts != nullptr && i < rows.size(); ++i) {
      if (texts->valid[rows[i]] != 0) {
        texts_.push_back(texts->texts[rows[i]]);
        places_.push_back(first + i);
      }
    }
    ids_.resize(texts_.size());
    {
      const std::scoped_lock lock(context_.pool_mutex);
      repaired_ += context_.pool.InternAll(texts_, ids_);
    }
    for (size_t i = 0; i < places_.size(); ++i) {
      to_[places_[i]] = ids_[i];
    }
  }

 private:
  LoadContext& context_;
  std::vector<StringId>& to_;
  int64_t& repaired_;
  // Of the batch at hand:
  std::vector<std::string_view> texts_;
  std::vector<size_t> places_;  // in to_
  std::vector<StringId> ids_;
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

// What is wanted of the NVTX table.
struct NvtxWants {
  NvtxWants(ColumnSet wanted, const NvtxRows& which)
      : threads(wanted.Has(Column::kThread)),
        named(wanted.Has(Column::kName)),
        kinds(wanted.Has(Column::kKind)),
        payloads(named && wanted.Has(Column::kPayload)),
        attributes(wanted.Has(Column::kAttributes)),
        rows(which) {}
  bool threads;
  bool named;
  bool kinds;
  bool payloads;
  bool attributes;
  const NvtxRows& rows;
};

// Takes the columns of the NVTX table over, but for the times.
class NvtxColumns {
 public:
  NvtxColumns(EventReader& reader, LoadContext& context, const NvtxWants& wants, NvtxTable& to,
              TableFindings& findings)
      : reader_(reader),
        wants_(wants),
        to_(to),
        findings_(findings),
        texts_(context, to.text, findings.texts_repaired),
        payloads_(findings.payloads),
        attributes_(reader, context, wants.attributes, findings.attributes) {
    const auto absent = SourceColumnIndex::kAbsent;
    thread_ = wants.threads ? reader.Integer("globalTid") : absent;
    domain_ = wants.threads ? reader.Integer("domainId") : absent;
    text_ = wants.named ? reader.Text("text") : absent;
    text_id_ = wants.named ? reader.Integer("textId") : absent;
    kind_ = wants.kinds ? reader.Integer("eventType") : absent;
    payload_ = wants.payloads ? reader.Text("binaryData") : absent;
  }

  bool IsNccl(const Cells& cells) const {
    return wants_.rows.IsNccl(cells.Text(text_), cells.Integer(text_id_));
  }

  NvtxRows::Keys keys() const {
    return {.start = reader_.start(),
            .end = reader_.end(),
            .thread = thread_,
            .kind = kind_,
            .text = text_,
            .text_id = text_id_};
  }

  void Add(const Batch& batch, Rows rows) {
    if (wants_.threads) {
      AddLanes(batch, rows);
    }
    if (wants_.named) {
      texts_.Add(batch, text_, text_id_, rows);
    }
    if (wants_.kinds) {
      // Without the column, rows are taken for push-pop ranges.
      const bool without = kind_ == SourceColumnIndex::kAbsent;
      AppendIntegers(batch, kind_, rows, without ? kNvtxPushPop : 0, to_.event_type, EventType);
    }
    if (wants_.payloads) {
      AddPayloads(batch, rows);
    }
    for (size_t i = 0; wants_.attributes && i < rows.size(); ++i) {
      const Cells cells(batch, rows[i]);
      to_.attributes.push_back(attributes_.Number(cells));
      to_.open.push_back(reader_.IsOpen(cells) ? 1 : 0);
    }
  }

 private:
  void AddLanes(const Batch& batch, Rows rows) {
    const SameCells same(batch, {thread_, domain_});
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i > 0 && same(rows[i - 1], rows[i])) {
        to_.lane.push_back(to_.lane.back());
        continue;
      }
      const Cells cells(batch, rows[i]);
      const RawNvtxLane lane{.global_tid = cells.Integer(thread_),
                             .domain = cells.Integer(domain_).value_or(0)};
      to_.lane.push_back(NvtxLaneId{findings_.nvtx_lanes.Number(lane)});
    }
  }

  void AddPayloads(const Batch& batch, Rows rows) {
    for (const uint32_t row : rows) {
      const Cells cells(batch, row);
      to_.payload.push_back(IsNccl(cells) ? payloads_.Number(cells.Text(payload_)) : kNoPayload);
    }
  }

  EventReader& reader_;
  const NvtxWants& wants_;
  NvtxTable& to_;
  TableFindings& findings_;
  NvtxTexts texts_;
  PayloadNumbers payloads_;
  AttributeNumbers attributes_;
  SourceColumnIndex thread_;
  SourceColumnIndex domain_;
  SourceColumnIndex text_;
  SourceColumnIndex text_id_;
  SourceColumnIndex kind_;
  SourceColumnIndex payload_;
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
  if (context.reads.Picks(TableId::kRuntime, RowKind::kLaunches)) {
    context.launches.WaitForKernels();
    reader.Hint(HintOfCalls(context.launches, reader.start(), reader.end(), correlation));
  }
  SubstituteNames substitutes(context, "cuda_api_", "");
  NSYS_TRY(reader.ReadColumns(OpenEnd::kDrop, to, [&](const Batch& batch, Rows rows) {
    for (size_t i = 0; threads && i < rows.size(); ++i) {
      const std::optional<int64_t> word = Cells(batch, rows[i]).Integer(thread);
      to.thread.push_back(word ? ThreadId{findings.threads.Number(*word)} : ThreadId::kNone);
    }
    if (correlated) {
      AppendIntegers(batch, correlation, rows, kNoCorrelation, to.correlation);
    }
    if (!named) {
      return;
    }
    const size_t first = to.name.size();
    context.strings.Append(batch, name, rows, to.name);
    for (size_t i = 0; context.options.for_drawing && i < rows.size(); ++i) {
      if (to.name[first + i] == StringId::kNone) {
        to.name[first + i] = substitutes.Of(Cells(batch, rows[i]).Integer(name));
      }
    }
  }));
  SortByTime(to, context.TiesOf(to.correlation));
  findings.Note(reader);
  return {};
}

Status LoadNvtx(LoadContext& context, ColumnSet wanted, NvtxTable& to, TableFindings& findings) {
  const NvtxRows which(context);
  const NvtxWants wants(wanted, which);
  if (which.nccl_only() && !wants.payloads && !which.any_nccl()) {
    return {};
  }
  EventReader reader(context, TableId::kNvtx);
  NvtxColumns columns(reader, context, wants, to, findings);
  if (which.picks()) {
    reader.Hint(which.Hint(columns.keys()));
  }
  if (which.nccl_only()) {
    reader.SkipUnless([&](const Cells& cells) { return columns.IsNccl(cells); });
  }
  NSYS_TRY(reader.ReadColumns(OpenEnd::kKeep, to,
                              [&](const Batch& batch, Rows rows) { columns.Add(batch, rows); }));
  SortByTime(to);
  findings.Note(reader);
  if (which.nccl_only()) {
    findings.rows_left_out = 0;  // of rows that nobody asked for
  }
  return {};
}

}  // namespace nsys
