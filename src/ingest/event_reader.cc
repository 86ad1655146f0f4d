// SPDX-License-Identifier: MIT
#include "ingest/event_reader.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"

namespace nsys {
namespace {

// 73 years on either side of the clock's zero, which may be 1970. Nothing real is beyond it.
constexpr int64_t kLargestTimeNs = int64_t{1} << 61;

// Of the durations of one table together.
constexpr int64_t kLargestSum = int64_t{1} << 62;

}  // namespace

EventReader::EventReader(LoadContext& context, TableId table)
    : context_(context),
      table_(context.schema.Find(table)),
      moments_(false),
      foreign_(2),
      start_(Integer("start")),
      end_(Integer("end")) {}

EventReader::EventReader(LoadContext& context, TableId table,
                         std::span<const std::string_view> times)
    : context_(context),
      table_(context.schema.Find(table)),
      moments_(true),
      foreign_(1),
      start_(SourceColumnIndex::kAbsent),
      end_(SourceColumnIndex::kAbsent) {
  for (size_t i = 0; i < times.size() && start_ == SourceColumnIndex::kAbsent; ++i) {
    start_ = Integer(times[i]);
  }
}

SourceColumnIndex EventReader::Want(std::string_view name, CellType type) {
  if (table_ == nullptr || table_->Find(name) == nullptr) {
    return SourceColumnIndex::kAbsent;
  }
  wanted_.push_back({.name = std::string(name), .type = type});
  return static_cast<SourceColumnIndex>(wanted_.size() - 1);
}

void EventReader::Hint(RowHint hint) {
  for (std::string* column : {&hint.text, &hint.text_id}) {
    if (table_ == nullptr || table_->Find(*column) == nullptr) {
      column->clear();
    }
  }
  if (!HasTimes()) {
    hint.pick = nullptr;
  }
  hint_ = std::move(hint);
}

bool EventReader::HasTimes() {
  return start_ != SourceColumnIndex::kAbsent && (moments_ || end_ != SourceColumnIndex::kAbsent);
}

bool EventReader::AddTimes(const Cells& cells, OpenEnd open_end, Events& events) {
  if (only_ && !only_(cells)) {
    return false;
  }
  const std::optional<int64_t> start = cells.Integer(start_);
  std::optional<int64_t> end = moments_ ? start : cells.Integer(end_);
  if (!start) {
    ++without_start_;
    return false;
  }
  if (!end && open_end == OpenEnd::kKeep) {
    end = start;
  }
  if (!end) {
    ++without_end_;
    return false;
  }
  const bool drawing = context_.options.for_drawing;
  if (*end < *start && !drawing) {
    ++reversed_;
    return false;
  }
  // Within these bounds no sum or difference of the analyses can overflow. Nobody sums up what is
  // drawn.
  const auto [first, last] = std::minmax(*start, *end);
  const bool in_range = first >= -kLargestTimeNs && last <= kLargestTimeNs;
  if (!in_range || (!drawing && *end - *start > kLargestSum - total_ns_)) {
    ++out_of_range_;
    return false;
  }
  if (window_ && (*start > window_->end_ns || last < window_->begin_ns)) {
    return false;
  }
  if (!drawing) {
    total_ns_ += *end - *start;
  }
  Append(*start, *end, events);
  return true;
}

// The rows whose times were good and are appended.
Rows EventReader::AddTimesOf(const Batch& batch, OpenEnd open_end, Events& events) {
  if (AddAllTimes(batch, open_end, events)) {
    while (all_rows_.size() < batch.rows) {
      all_rows_.push_back(static_cast<uint32_t>(all_rows_.size()));
    }
    return Rows(all_rows_).first(batch.rows);
  }
  kept_.clear();
  for (uint32_t row = 0; row < batch.rows; ++row) {
    const Cells cells(batch, row);
    if (AddTimes(cells, open_end, events)) {
      kept_.push_back(row);
    }
  }
  return kept_;
}

// Appends the times of all rows at once; false, and nothing done, when one of them needs care.
bool EventReader::AddAllTimes(const Batch& batch, OpenEnd open_end, Events& events) {
  const ColumnBatch* start = ColumnOf(batch, start_);
  const ColumnBatch* end = ColumnOf(batch, moments_ ? start_ : end_);
  if (start == nullptr || end == nullptr || window_ || only_ || !events.recorded_end_ns.empty()) {
    return false;
  }
  const bool keep = open_end == OpenEnd::kKeep;
  ends_.resize(batch.rows);
  bool good = true;
  int64_t longest = 0;
  for (size_t row = 0; row < batch.rows; ++row) {
    const int64_t begins = start->integers[row];
    const bool has_end = end->valid[row] != 0;
    const int64_t ends = has_end || !keep ? end->integers[row] : begins;
    good = good && start->valid[row] != 0 && (has_end || keep) && ends >= begins &&
           begins >= -kLargestTimeNs && ends <= kLargestTimeNs;
    longest = std::max(longest, good ? ends - begins : 0);
    ends_[row] = ends;
  }
  const auto rows = static_cast<int64_t>(batch.rows);
  const bool drawing = context_.options.for_drawing;
  if (!good || (rows > 0 && longest > (kLargestSum - total_ns_) / rows)) {
    return false;
  }
  for (size_t row = 0; !drawing && row < batch.rows; ++row) {
    total_ns_ += ends_[row] - start->integers[row];
  }
  events.start_ns.insert(events.start_ns.end(), start->integers.begin(), start->integers.end());
  events.end_ns.insert(events.end_ns.end(), ends_.begin(), ends_.end());
  return true;
}

void EventReader::Append(int64_t start, int64_t end, Events& events) {
  const bool clamped = end < start;
  std::vector<int64_t>& recorded = events.recorded_end_ns;
  if (clamped && recorded.empty()) {
    recorded = events.end_ns;
  }
  if (clamped || !recorded.empty()) {
    recorded.push_back(end);
  }
  clamped_ += clamped ? 1 : 0;
  events.start_ns.push_back(start);
  events.end_ns.push_back(clamped ? start : end);
}

void EventReader::TakeBack(Events& events) {
  events.start_ns.pop_back();
  events.end_ns.pop_back();
  if (!events.recorded_end_ns.empty()) {
    events.recorded_end_ns.pop_back();
  }
}

void EventReader::Progress(size_t rows) {
  // One call per some thousand rows: batches of Parquet are as small as 2,048 rows.
  constexpr int64_t kStep = 65536;
  const int64_t before = context_.rows_read.fetch_add(static_cast<int64_t>(rows));
  const int64_t now = before + static_cast<int64_t>(rows);
  if (context_.options.progress && before / kStep != now / kStep) {
    context_.options.progress(now);
  }
}

int64_t EventReader::LeftOut() const {
  return without_start_ + without_end_ + reversed_ + out_of_range_;
}

std::vector<std::string> EventReader::Warnings() const {
  std::vector<std::string> warnings;
  if (table_ == nullptr) {
    return warnings;
  }
  const std::string name = Printable(table_->name);
  const auto missing = [&](SourceColumnIndex column, std::string_view which) {
    if (column != SourceColumnIndex::kAbsent) {
      return;
    }
    warnings.push_back(fmt::format("{}: no column {}; its rows could not be read", name, which));
  };
  missing(start_, moments_ ? "of times" : "start");
  if (!moments_) {
    missing(end_, "end");
  }
  const auto add = [&](int64_t rows, std::string_view one, std::string_view many,
                       std::string_view done = "left out") {
    if (rows == 0) {
      return;
    }
    warnings.push_back(fmt::format("{}: {} {}; {}", name, rows, rows == 1 ? one : many, done));
  };
  const std::vector<std::string> foreign = foreign_.Warnings(table_->name, wanted_);
  warnings.insert(warnings.end(), foreign.begin(), foreign.end());
  add(without_start_, "row has no start", "rows have no start");
  add(without_end_, "row has no end", "rows have no end");
  add(reversed_, "row ends before it starts", "rows end before they start");
  add(clamped_, "row ends before it starts", "rows end before they start", "kept with no length");
  add(out_of_range_, "row has an impossible time", "rows have impossible times");
  return warnings;
}

}  // namespace nsys
