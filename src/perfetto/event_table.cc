// SPDX-License-Identifier: MIT
#include "perfetto/event_table.h"

#include <algorithm>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "base/ordered_blocks.h"
#include "base/parquet_file.h"
#include "perfetto/event_columns.h"
#include "perfetto/event_parts.h"
#include "perfetto/event_text.h"

namespace nsys::perfetto {
namespace {

// Few enough that a row group on its way takes a few megabytes.
constexpr size_t kRowsPerGroup = size_t{1} << 16;
// Every thread holds some row groups, so more threads than this would cost more memory than they
// save time.
constexpr int kMaxThreads = 16;

constexpr auto kText = ParquetType::kText;
constexpr auto kDouble = ParquetType::kDouble;
constexpr auto kUint64 = ParquetType::kUint64;

ParquetSchema DependencySchema() {
  return {{"report", kText},
          {"stream_id", kUint64},
          {"stream_sequence", kUint64},
          {"predecessor_event_id", kText},
          {"predecessor_kernel", kText},
          {"predecessor_ts_us", kDouble},
          {"predecessor_dur_us", kDouble},
          {"successor_event_id", kText},
          {"successor_kernel", kText},
          {"successor_ts_us", kDouble},
          {"successor_dur_us", kDouble},
          {"gap_us", kDouble},
          {"dependency_type", kText}};
}

// Lends encoders to threads: there are as many as work at the same time.
class EncoderPool {
 public:
  using Make = std::function<std::unique_ptr<EventEncoder>()>;
  explicit EncoderPool(Make make) : make_(std::move(make)) {}

  std::unique_ptr<EventEncoder> Borrow() {
    const std::scoped_lock lock(mutex_);
    if (free_.empty()) {
      return make_();
    }
    std::unique_ptr<EventEncoder> encoder = std::move(free_.back());
    free_.pop_back();
    return encoder;
  }
  void Return(std::unique_ptr<EventEncoder> encoder) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(encoder));
  }

 private:
  Make make_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<EventEncoder>> free_;
};

}  // namespace

Result<int64_t> WriteEventTable(const Trace& trace, const Layout& layout,
                                const WriteOptions& options, BlockSink& sink) {
  const ParquetSchema schema = EventSchema();
  const EventLabels labels(layout);
  const EventText text(trace, layout);
  const std::vector<EventPart> parts = CutIntoParts(layout, kRowsPerGroup);
  EncoderPool pool(
      [&] { return std::make_unique<EventEncoder>(trace, layout, labels, text, schema); });
  ParquetFile file(schema, sink);
  NSYS_TRY(file.Begin());
  const auto make = [&](size_t i, ParquetRowGroup& group) -> Status {
    std::unique_ptr<EventEncoder> encoder = pool.Borrow();
    encoder->Encode(parts[i], sink, group);
    pool.Return(std::move(encoder));
    return {};
  };
  const auto take = [&](size_t, const ParquetRowGroup& group) -> Status {
    NSYS_TRY(file.Take(group));
    if (options.progress) {
      options.progress(file.rows());
    }
    return {};
  };
  NSYS_TRY(OrderedBlocks<ParquetRowGroup>::Run(parts.size(), std::min(options.threads, kMaxThreads),
                                               make, take));
  NSYS_TRY(file.End());
  return file.rows();
}

Status WriteDependencyTable(BlockSink& sink) {
  const ParquetSchema schema = DependencySchema();
  ParquetFile file(schema, sink);
  NSYS_TRY(file.Begin());
  return file.End();
}

}  // namespace nsys::perfetto
