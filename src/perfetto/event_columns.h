// SPDX-License-Identifier: MIT
// The columns of a row group of the event table, made one after the other from the columns of the
// trace: one short loop each, and no row is ever put together.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_sink.h"
#include "base/parquet_encoder.h"
#include "base/parquet_file.h"
#include "base/text_writer.h"
#include "perfetto/event_parts.h"
#include "perfetto/event_text.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

ParquetSchema EventSchema();

// Texts that many rows share.
struct EventLabels {
  explicit EventLabels(const Layout& layout);

  // "cuda_memcpy_h2d", …
  std::string_view CopyType(int32_t kind) const {
    const bool known = kind >= 0 && kind < static_cast<int32_t>(kCopyKinds);
    return copy_types[known ? static_cast<size_t>(kind) : kCopyKinds];
  }

  static constexpr size_t kCopyKinds = 16;  // and one for all others
  std::array<std::string, kCopyKinds + 1> copy_types;
  std::string report;
  std::vector<std::string> threads;  // by track: what column tid says
};

// Makes row groups. One per thread: it keeps its buffers.
class EventEncoder {
 public:
  EventEncoder(const Trace& trace, const Layout& layout, const EventLabels& labels,
               const EventText& text, const ParquetSchema& schema)
      : trace_(trace), layout_(layout), labels_(labels), text_(text), encoder_(schema) {}

  void Encode(const EventPart& part, const BlockSink& sink, ParquetRowGroup& group) {
    section_ = part.section;
    CollectRows(part);
    encoder_.Begin(rows_.size());
    encoder_.Constant(labels_.report);
    EncodeTypes();
    EncodeNames();
    encoder_.Constant("X");
    EncodeTimes();
    EncodePlaces();
    EncodeArgs();
    EncodeIds();
    EncodeNumbers();
    encoder_.Nulls();  // depends_on_event_id
    encoder_.Nulls();  // dependency_type
    EncodeAdditions();
    encoder_.End(sink, group);
  }

 private:
  // A row of the table: a row of the section's table on a track.
  struct Row {
    uint32_t row = 0;
    uint32_t track = 0;
    bool projected = false;
    Span span;
  };

  bool IsGpu() const {
    return section_ == EventSection::kKernels || section_ == EventSection::kCopies;
  }
  const Track& TrackOf(const Row& row) const { return layout_.tracks[row.track]; }
  const Group& GroupOf(const Row& row) const { return layout_.groups[TrackOf(row).group]; }
  const GpuEvents& Gpu() const {
    return section_ == EventSection::kKernels ? static_cast<const GpuEvents&>(trace_.kernels)
                                              : trace_.copies;
  }
  const std::vector<uint32_t>& CallOfGpu() const {
    return section_ == EventSection::kKernels ? layout_.kernel_call : layout_.copy_call;
  }

  void CollectRows(const EventPart& part) {
    rows_.clear();
    if (section_ == EventSection::kNvtx) {
      CollectNvtx(part);
      return;
    }
    if (section_ == EventSection::kCalls) {
      for (size_t i = part.begin; i < part.end; ++i) {
        const Placed& slice = layout_.call_slices[i];
        rows_.push_back({slice.row, slice.track, false, trace_.calls.span(slice.row)});
      }
      return;
    }
    const std::vector<uint32_t>& track = section_ == EventSection::kKernels
                                             ? layout_.kernel_stream_track
                                             : layout_.copy_stream_track;
    for (size_t row = part.begin; row < part.end; ++row) {
      if (track[row] != kNone) {
        rows_.push_back({static_cast<uint32_t>(row), track[row], false, Gpu().span(row)});
      }
    }
  }

  void CollectNvtx(const EventPart& part) {
    size_t range = part.begin;
    size_t projected = part.projected_begin;
    while (rows_.size() < part.rows) {
      if (IsRangeNext(layout_, range, projected)) {
        const Placed& slice = layout_.range_slices[range++];
        rows_.push_back({slice.row, slice.track, false, layout_.RangeSpan(trace_, slice.row)});
      } else {
        const Projected& slice = layout_.projections[projected++];
        rows_.push_back({slice.row, slice.track, true, {slice.start_ns, slice.end_ns}});
      }
    }
  }

  // Fills `values` with of(row) for each row.
  template <typename T, typename Of>
  const std::vector<T>& Fill(std::vector<T>& values, const Of& of) {
    values.clear();
    for (const Row& row : rows_) {
      values.push_back(static_cast<T>(of(row)));
    }
    return values;
  }
  template <typename Of>
  void Names(const Of& of) {
    encoder_.Names(Fill<std::string_view>(names_, of));
  }
  template <typename Of>
  void Integers(const Of& of) {
    encoder_.Integers(Fill<int64_t>(integers_, of));
  }
  template <typename Of>
  void RepeatedIntegers(const Of& of) {
    encoder_.RepeatedIntegers(Fill<int64_t>(integers_, of));
  }
  template <typename Has, typename Of>
  void IntegersWhere(const Has& has, const Of& of) {
    Fill<uint8_t>(present_, has);
    encoder_.Integers(Fill<int64_t>(integers_, of), present_);
  }
  // `of` gives nanoseconds.
  template <typename Of>
  void Microseconds(const Of& of) {
    constexpr double kNsPerUs = 1000;
    encoder_.Doubles(Fill<double>(
        doubles_, [&](const Row& row) { return static_cast<double>(of(row)) / kNsPerUs; }));
  }
  // `put` gets the output and the row.
  template <typename Put>
  auto Each(const Put& put) const {
    return [this, put](TextWriter& out, size_t i) { put(out, rows_[i]); };
  }

  void EncodeTypes();
  void EncodeNames();
  void EncodeTimes();
  void EncodePlaces();
  void EncodeArgs();
  void EncodeIds();
  void EncodeLaunchIds();
  void EncodeNumbers();
  void EncodeAdditions();
  std::string_view NvtxType(const Row& row) const;

  const Trace& trace_;
  const Layout& layout_;
  const EventLabels& labels_;
  const EventText& text_;
  ParquetEncoder encoder_;
  EventSection section_ = EventSection::kCalls;
  std::vector<Row> rows_;
  std::vector<std::string_view> names_;
  std::vector<int64_t> integers_;
  std::vector<double> doubles_;
  std::vector<uint8_t> present_;
};

}  // namespace nsys::perfetto
