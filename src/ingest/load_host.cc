// SPDX-License-Identifier: MIT
// The loaders of what the processor did: API calls and NVTX ranges.
#include <limits>

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
                  std::optional<int64_t> text_id) {
  if (!text) {
    return context.strings.Find(text_id);
  }
  const std::scoped_lock lock(context.pool_mutex);
  return InternValid(context.pool, *text);
}

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
  NSYS_TRY(reader.Read(OpenEnd::kDrop, to, [&](const Cells& cells) {
    if (threads) {
      const std::optional<int64_t> word = cells.Integer(thread);
      to.thread.push_back(word ? ThreadId{findings.threads.Number(*word)} : ThreadId::kNone);
    }
    if (correlated) {
      to.correlation.push_back(cells.Integer(correlation).value_or(kNoCorrelation));
    }
    if (named) {
      to.name.push_back(context.strings.Find(cells.Integer(name)));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

Status LoadNvtx(LoadContext& context, ColumnSet wanted, NvtxTable& to, TableFindings& findings) {
  EventReader reader(context, TableId::kNvtx);
  const bool threads = wanted.Has(Column::kThread);
  const bool named = wanted.Has(Column::kName);
  const bool kinds = wanted.Has(Column::kKind);
  const auto absent = SourceColumnIndex::kAbsent;
  const auto thread = threads ? reader.Integer("globalTid") : absent;
  const auto domain = threads ? reader.Integer("domainId") : absent;
  const auto text = named ? reader.Text("text") : absent;
  const auto text_id = named ? reader.Integer("textId") : absent;
  const auto kind = kinds ? reader.Integer("eventType") : absent;
  NSYS_TRY(reader.Read(OpenEnd::kKeep, to, [&](const Cells& cells) {
    if (threads) {
      const RawNvtxLane lane{.global_tid = cells.Integer(thread),
                             .domain = cells.Integer(domain).value_or(0)};
      to.lane.push_back(NvtxLaneId{findings.nvtx_lanes.Number(lane)});
    }
    if (named) {
      to.text.push_back(NvtxText(context, cells.Text(text), cells.Integer(text_id)));
    }
    if (kinds) {
      to.event_type.push_back(
          // Without the column, rows are taken for push-pop ranges.
          kind == absent ? kNvtxPushPop : EventType(cells.Integer(kind)));
    }
  }));
  SortByTime(to);
  findings.Note(reader);
  return {};
}

}  // namespace nsys
