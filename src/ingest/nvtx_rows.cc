// SPDX-License-Identifier: MIT
#include "ingest/nvtx_rows.h"

#include <algorithm>
#include <limits>
#include <string>

#include "base/text.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

constexpr std::string_view kNccl = "nccl";
constexpr int64_t kNoThread = -1;  // no globalTid
constexpr Span kNever = {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min()};

bool AnyNameHolds(LoadContext& context, std::string_view part) {
  const std::scoped_lock lock(context.pool_mutex);
  for (uint32_t id = 0; id < context.pool.size(); ++id) {
    if (ContainsIgnoreCase(context.pool.Get(StringId{id}), part)) {
      return true;
    }
  }
  return false;
}

// Rows without usable times are never left out, as they are counted.
class Times {
 public:
  Times(const Batch& batch, SourceColumnIndex start, SourceColumnIndex end)
      : start_(ColumnOf(batch, start)->integers.data()),
        has_start_(ColumnOf(batch, start)->valid.data()),
        end_(ColumnOf(batch, end)->integers.data()),
        has_end_(ColumnOf(batch, end)->valid.data()) {}
  bool usable(size_t row) const {
    return (has_start_[row] & has_end_[row]) != 0 && start_[row] <= end_[row];
  }
  int64_t start(size_t row) const { return start_[row]; }
  int64_t end(size_t row) const { return end_[row]; }

 private:
  const int64_t* start_;
  const uint8_t* has_start_;
  const int64_t* end_;
  const uint8_t* has_end_;
};

// A column of numbers; where there is none, every row has `missing`.
class Numbers {
 public:
  Numbers(const Batch& batch, SourceColumnIndex column, int64_t missing)
      : column_(ColumnOf(batch, column)), missing_(missing) {}
  int64_t operator[](size_t row) const {
    return column_ != nullptr && column_->valid[row] != 0 ? column_->integers[row] : missing_;
  }

 private:
  const ColumnBatch* column_;
  int64_t missing_;
};

// Whether the trace may get another text than the row has.
bool MayBeRepaired(std::string_view text) {
  const bool ascii = std::all_of(text.begin(), text.end(),
                                 [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  return !ascii && !IsValidUtf8(text);
}

std::vector<size_t> PlacesOf(std::initializer_list<SourceColumnIndex> columns) {
  std::vector<size_t> places;
  for (const SourceColumnIndex column : columns) {
    if (column != SourceColumnIndex::kAbsent) {
      places.push_back(static_cast<size_t>(column));
    }
  }
  return places;
}

// Whether the thread of a row made a launch: it is mostly that of the row before.
class LaunchesOfThread {
 public:
  explicit LaunchesOfThread(const LaunchRows& launches) : launches_(launches) {}
  bool AnyWithin(int64_t global_tid, int64_t begin_ns, int64_t end_ns) {
    if (!known_ || global_tid != last_) {
      known_ = true;
      last_ = global_tid;
      times_ = launches_.TimesOf(global_tid);
    }
    return times_ != nullptr && times_->AnyWithin(begin_ns, end_ns);
  }

 private:
  const LaunchRows& launches_;
  bool known_ = false;
  int64_t last_ = 0;
  const TimeTable* times_ = nullptr;
};

}  // namespace

NvtxRows::NvtxRows(LoadContext& context) : kinds_(context.reads.RowsOf(TableId::kNvtx)) {
  if (context.reads.Of(TableId::kNvtx).Has(Column::kPayload) || kinds_.Has(RowKind::kNccl)) {
    nccl_.emplace(context, [](std::string_view text) { return text.starts_with(kNccl); });
    any_nccl_ = AnyNameHolds(context, kNccl);
  }
  if (!picks()) {
    return;
  }
  if (kinds_.Has(RowKind::kTexts)) {
    texts_.emplace(context, context.reads.focus().text);
  }
  if (kinds_.Has(RowKind::kLaunches)) {
    context.launches.WaitForCalls();
    launches_ = &context.launches;
    window_ = context.reads.focus().window;
  }
}

RowHint NvtxRows::Hint(const Keys& keys) const {
  RowHint hint;
  if (nccl_only()) {
    hint = {
        .text = "text", .prefix = std::string(kNccl), .text_id = "textId", .ids = nccl_->Numbers()};
  }
  hint.pick = [this, keys](const Batch& batch, std::span<uint8_t> wanted) {
    Pick(keys, batch, wanted);
  };
  const bool by_text = kinds_.Has(RowKind::kNccl) || kinds_.Has(RowKind::kTexts);
  const auto add = [&](std::initializer_list<SourceColumnIndex> columns) {
    const std::vector<size_t> places = PlacesOf(columns);
    hint.keys.insert(hint.keys.end(), places.begin(), places.end());
  };
  if (!nccl_only()) {
    add({keys.start, keys.end});
  }
  if (launches_ != nullptr) {
    add({keys.thread, keys.kind});
  }
  if (by_text) {
    add({keys.text, keys.text_id});
  }
  return hint;
}

bool NvtxRows::HasText(const Keys& keys, const Cells& cells) const {
  const auto text = cells.Text(keys.text);
  const auto text_id = cells.Integer(keys.text_id);
  return (texts_ && (texts_->Passes(text, text_id) || (text && MayBeRepaired(*text)))) ||
         (kinds_.Has(RowKind::kNccl) && nccl_->Passes(text, text_id));
}

// The first row of a batch is kept too, and its first push-pop range, so that whoever asks what
// there is gets a true answer.
void NvtxRows::Pick(const Keys& keys, const Batch& batch, std::span<uint8_t> wanted) const {
  if (!nccl_only()) {
    const Times times(batch, keys.start, keys.end);
    for (size_t row = 0; row < batch.rows; ++row) {
      wanted[row] = row == 0 || !times.usable(row);
    }
  }
  if (launches_ != nullptr) {
    PickByLaunch(keys, batch, wanted);
  }
  if (kinds_.Has(RowKind::kNccl) || kinds_.Has(RowKind::kTexts)) {
    for (size_t row = 0; row < batch.rows; ++row) {
      wanted[row] = wanted[row] != 0 || HasText(keys, Cells(batch, row));
    }
  }
}

void NvtxRows::PickByLaunch(const Keys& keys, const Batch& batch, std::span<uint8_t> wanted) const {
  const Times times(batch, keys.start, keys.end);
  const Numbers kinds(batch, keys.kind, kNvtxPushPop);
  const Numbers threads(batch, keys.thread, kNoThread);
  const Span window = window_.value_or(kNever);
  LaunchesOfThread launches(*launches_);
  bool first = true;
  for (size_t row = 0; row < batch.rows; ++row) {
    const int64_t begin = times.start(row);
    const int64_t end = times.end(row);
    const bool push_pop = kinds[row] == kNvtxPushPop;
    wanted[row] = wanted[row] != 0 || !push_pop || first ||
                  (end >= window.begin_ns && begin <= window.end_ns) ||
                  launches.AnyWithin(threads[row], begin, end);
    first = first && !push_pop;
  }
}

RowHint HintOfCalls(const LaunchRows& launches, SourceColumnIndex start, SourceColumnIndex end,
                    SourceColumnIndex correlation) {
  RowHint hint;
  if (correlation == SourceColumnIndex::kAbsent) {
    return hint;
  }
  hint.pick = [&launches, start, end, correlation](const Batch& batch, std::span<uint8_t> wanted) {
    const Times times(batch, start, end);
    const ColumnBatch& ids = *ColumnOf(batch, correlation);
    for (size_t row = 0; row < batch.rows; ++row) {
      const bool launch = ids.valid[row] != 0 && launches.IsLaunch(ids.integers[row]);
      wanted[row] = row == 0 || launch || !times.usable(row);
    }
  };
  hint.keys = PlacesOf({start, end, correlation});
  return hint;
}

}  // namespace nsys
