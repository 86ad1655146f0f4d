// SPDX-License-Identifier: MIT
#include "perfetto/event_columns.h"

#include <fmt/core.h>

#include "base/text.h"
#include "base/text_writer.h"
#include "perfetto/copy_kinds.h"
#include "perfetto/ranges.h"

namespace nsys::perfetto {
namespace {

constexpr auto kText = ParquetType::kText;
constexpr auto kDouble = ParquetType::kDouble;
constexpr auto kInt64 = ParquetType::kInt64;
constexpr auto kUint64 = ParquetType::kUint64;
constexpr auto kUint32 = ParquetType::kUint32;

std::string ThreadLabel(const Track& track) {
  switch (track.kind) {
    case TrackKind::kStream:
      return fmt::format("Context {} / Stream {}", track.context, track.stream);
    case TrackKind::kApi:
      return fmt::format("CUDA API Thread {}", track.source_tid);
    case TrackKind::kNvtxThread:
      return fmt::format("NVTX Thread {}", track.source_tid);
    case TrackKind::kNvtxRange:
      return fmt::format("NVTX Range Thread {}", track.source_tid);
    case TrackKind::kNvtxKernel:
    case TrackKind::kNvtxRangeKernel:
      return fmt::format("NVTX Kernel Thread {}", track.source_tid);
    default:
      return {};  // no row of the table lies there
  }
}

}  // namespace

// Readers may go by position: new columns belong at the end.
ParquetSchema EventSchema() {
  return {{"report", kText},
          {"event_type", kText},
          {"cat", kText},
          {"name", kText},
          {"ph", kText},
          {"ts_us", kDouble},
          {"dur_us", kDouble, true},
          {"aligned_ts_us", kDouble},
          {"pid", kText},
          {"tid", kText},
          {"args_json", kText},
          {"event_id", kText, true},
          {"launch_event_id", kText, true},
          {"stream_id", kUint64, true},
          {"correlation_id", kUint32, true},
          {"stream_sequence", kUint64, true},
          {"depends_on_event_id", kText, true},
          {"dependency_type", kText, true},
          {"start_ns", kInt64},
          {"end_ns", kInt64},
          {"device_id", kInt64, true},
          {"source_pid", kInt64},
          {"source_tid", kInt64, true},
          {"context_id", kUint64, true}};
}

EventLabels::EventLabels(const Layout& layout) : report(ToValidUtf8(layout.options.report)) {
  for (const Track& track : layout.tracks) {
    threads.push_back(ThreadLabel(track));
  }
  for (size_t place = 0; place <= kCopyKinds; ++place) {
    const int32_t kind = place < kCopyKinds ? static_cast<int32_t>(place) : -1;
    copy_types[place] = fmt::format("cuda_memcpy_{}", CopyDirectionKey(kind));
  }
}

template <typename T, typename Of>
const std::vector<T>& EventEncoder::Fill(std::vector<T>& values, const Of& of) {
  values.clear();
  for (const Row& row : rows_) {
    values.push_back(static_cast<T>(of(row)));
  }
  return values;
}

template <typename Of>
void EventEncoder::Names(const Of& of) {
  encoder_.Names(Fill<std::string_view>(names_, of));
}

template <typename Of>
void EventEncoder::Integers(const Of& of) {
  encoder_.Integers(Fill<int64_t>(integers_, of));
}

template <typename Of>
void EventEncoder::RepeatedIntegers(const Of& of) {
  encoder_.RepeatedIntegers(Fill<int64_t>(integers_, of));
}

template <typename Has, typename Of>
void EventEncoder::IntegersWhere(const Has& has, const Of& of) {
  Fill<uint8_t>(present_, has);
  encoder_.Integers(Fill<int64_t>(integers_, of), present_);
}

template <typename Of>
void EventEncoder::Microseconds(const Of& of) {
  constexpr double kNsPerUs = 1000;
  encoder_.Doubles(Fill<double>(
      doubles_, [&](const Row& row) { return static_cast<double>(of(row)) / kNsPerUs; }));
}

template <typename Put>
auto EventEncoder::Each(const Put& put) const {
  return [this, put](TextWriter& out, size_t i) { put(out, rows_[i]); };
}

void EventEncoder::Encode(const EventPart& part, const BlockSink& sink, ParquetRowGroup& group) {
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

void EventEncoder::CollectRows(const EventPart& part) {
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
  const std::vector<uint32_t>& track =
      section_ == EventSection::kKernels ? layout_.kernel_stream_track : layout_.copy_stream_track;
  for (size_t row = part.begin; row < part.end; ++row) {
    if (track[row] != kNone) {
      rows_.push_back({static_cast<uint32_t>(row), track[row], false, Gpu().span(row)});
    }
  }
}

void EventEncoder::CollectNvtx(const EventPart& part) {
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

std::string_view EventEncoder::NvtxType(const Row& row) const {
  if (row.projected) {
    return "nvtx_kernel";
  }
  if (TrackOf(row).kind == TrackKind::kNvtxRange) {
    return "nvtx_range";
  }
  return IsRange(trace_, row.row) ? "nvtx" : "nvtx_mark";
}

void EventEncoder::EncodeTypes() {
  switch (section_) {
    case EventSection::kCalls:
      encoder_.Constant("cuda_api");
      encoder_.Constant("cuda_api");
      return;
    case EventSection::kKernels:
      encoder_.Constant("cuda_kernel");
      encoder_.Constant("cuda");
      return;
    case EventSection::kCopies:
      Names([&](const Row& row) -> std::string_view {
        return labels_.CopyType(trace_.copies.kind[row.row]);
      });
      encoder_.Constant("cuda_memcpy");
      return;
    case EventSection::kNvtx:
      Names([&](const Row& row) { return NvtxType(row); });
      Names([](const Row& row) -> std::string_view {
        return row.projected ? "nvtx-kernel" : "nvtx";
      });
  }
}

void EventEncoder::EncodeNames() {
  Names([&](const Row& row) -> std::string_view {
    switch (section_) {
      case EventSection::kCalls:
        return CallName(trace_, row.row);
      case EventSection::kKernels:
        return KernelName(trace_, layout_.options, row.row);
      case EventSection::kCopies:
        return CopyName(trace_.copies.kind[row.row]);
      default:
        return RangeName(trace_, row.row);
    }
  });
}

void EventEncoder::EncodeTimes() {
  Microseconds([&](const Row& row) { return row.span.begin_ns - layout_.origin_ns; });
  Microseconds([](const Row& row) { return row.span.length_ns(); });
  if (layout_.anchor_ns == layout_.origin_ns) {
    constexpr size_t kStart = 5;  // ts_us
    encoder_.SameAs(kStart);
  } else {
    Microseconds([&](const Row& row) { return row.span.begin_ns - layout_.anchor_ns; });
  }
}

void EventEncoder::EncodePlaces() {
  Names([&](const Row& row) -> std::string_view { return GroupOf(row).name; });
  Names([&](const Row& row) -> std::string_view { return labels_.threads[row.track]; });
}

void EventEncoder::EncodeArgs() {
  switch (section_) {
    case EventSection::kCalls:
      encoder_.Texts(Each([&](TextWriter& out, const Row& row) {
        text_.PutCallArgs(out, row.row, GroupOf(row).device);
      }));
      return;
    case EventSection::kKernels:
      encoder_.Texts(
          Each([&](TextWriter& out, const Row& row) { text_.PutKernelArgs(out, row.row); }));
      return;
    case EventSection::kCopies:
      encoder_.Texts(
          Each([&](TextWriter& out, const Row& row) { text_.PutCopyArgs(out, row.row); }));
      return;
    case EventSection::kNvtx:
      encoder_.RepeatedTexts(Each([&](TextWriter& out, const Row& row) {
        text_.PutRangeArgs(out, row.row, TrackOf(row));
      }));
  }
}

void EventEncoder::EncodeIds() {
  switch (section_) {
    case EventSection::kCalls:
      encoder_.Texts(Each(
          [&](TextWriter& out, const Row& row) { text_.PutCallId(out, row.row, IdForm::kPlain); }));
      break;
    case EventSection::kKernels:
      encoder_.Texts(Each([&](TextWriter& out, const Row& row) {
        text_.PutKernelId(out, row.row, IdForm::kPlain);
      }));
      break;
    case EventSection::kCopies:
      encoder_.Texts(Each(
          [&](TextWriter& out, const Row& row) { text_.PutCopyId(out, row.row, IdForm::kPlain); }));
      break;
    case EventSection::kNvtx:
      encoder_.Nulls();
  }
  EncodeLaunchIds();
}

void EventEncoder::EncodeLaunchIds() {
  if (!IsGpu()) {
    encoder_.Nulls();
    return;
  }
  const std::vector<uint32_t>& call = CallOfGpu();
  Fill<uint8_t>(present_, [&](const Row& row) { return call[row.row] != kNoCall; });
  encoder_.Texts(Each([&](TextWriter& out, const Row& row) {
                   text_.PutCallId(out, call[row.row], IdForm::kPlain);
                 }),
                 present_);
}

void EventEncoder::EncodeNumbers() {
  if (section_ == EventSection::kNvtx) {
    encoder_.Nulls();  // stream_id
    encoder_.Nulls();  // correlation_id
    encoder_.Nulls();  // stream_sequence
    return;
  }
  if (IsGpu()) {
    RepeatedIntegers([&](const Row& row) { return TrackOf(row).stream; });
  } else {
    encoder_.Nulls();
  }
  const std::vector<int64_t>& correlation = IsGpu() ? Gpu().correlation : trace_.calls.correlation;
  IntegersWhere([&](const Row& row) { return correlation[row.row] != kNoCorrelation; },
                [&](const Row& row) { return correlation[row.row]; });
  if (section_ == EventSection::kKernels) {
    Integers([&](const Row& row) { return int64_t{layout_.kernel_sequence[row.row]}; });
  } else {
    encoder_.Nulls();
  }
}

void EventEncoder::EncodeAdditions() {
  Integers([](const Row& row) { return row.span.begin_ns; });
  Integers([](const Row& row) { return row.span.end_ns; });
  if (layout_.options.host_tracks) {
    IntegersWhere([&](const Row& row) { return !GroupOf(row).host; },
                  [&](const Row& row) { return GroupOf(row).device; });
  } else {
    RepeatedIntegers([&](const Row& row) { return GroupOf(row).device; });
  }
  RepeatedIntegers([&](const Row& row) { return GroupOf(row).pid; });
  if (IsGpu()) {
    encoder_.Nulls();
    RepeatedIntegers([&](const Row& row) { return TrackOf(row).context; });
  } else {
    RepeatedIntegers([&](const Row& row) { return TrackOf(row).source_tid; });
    encoder_.Nulls();
  }
}

}  // namespace nsys::perfetto
