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

  void Encode(const EventPart& part, const BlockSink& sink, ParquetRowGroup& group);

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
  const Group& GroupOf(const Row& row) const { return layout_.GroupOf(row.track); }
  const GpuEvents& Gpu() const {
    return section_ == EventSection::kKernels ? static_cast<const GpuEvents&>(trace_.kernels)
                                              : trace_.copies;
  }
  const std::vector<uint32_t>& CallOfGpu() const {
    return section_ == EventSection::kKernels ? layout_.kernel_call : layout_.copy_call;
  }

  void CollectRows(const EventPart& part);
  void CollectNvtx(const EventPart& part);

  // Fills `values` with of(row) for each row.
  template <typename T, typename Of>
  const std::vector<T>& Fill(std::vector<T>& values, const Of& of);
  // A column of of(row).
  template <typename Of>
  void Names(const Of& of);
  template <typename Of>
  void Integers(const Of& of);
  template <typename Of>
  void RepeatedIntegers(const Of& of);
  template <typename Has, typename Of>
  void IntegersWhere(const Has& has, const Of& of);
  // `of` gives nanoseconds.
  template <typename Of>
  void Microseconds(const Of& of);
  // `put` gets the output and the row.
  template <typename Put>
  auto Each(const Put& put) const;

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
