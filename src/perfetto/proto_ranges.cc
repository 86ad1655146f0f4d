// SPDX-License-Identifier: MIT
// NVTX ranges and marks, tables drawn on request, and the ids of events.
#include <array>
#include <type_traits>

#include "base/text.h"
#include "perfetto/proto_events.h"
#include "perfetto/ranges.h"

namespace nsys::perfetto {

void ProtoEvents::Nested(const ProtoPlan& plan, const ProtoPlan::Part& part) {
  const TrackKind kind = layout_.tracks[part.track].kind;
  open_ = part.open_ends;
  const auto end_until = [&](int64_t ns) {
    while (!open_.empty() && open_.back() <= ns) {
      sequence_.EndSlice(Ts(open_.back()));
      open_.pop_back();
    }
  };
  for (size_t at = part.begin; at < part.end; ++at) {
    const uint32_t item = plan.item(part.track, at);
    const Span span = NestedSpan(trace_, layout_, kind, item);
    end_until(span.begin_ns);
    Range(kind, item);
    sequence_.Close(Ts(span.begin_ns));
    if (HasLength(trace_, kind, item)) {
      open_.push_back(span.end_ns);
    }
  }
  if (part.last) {
    end_until(INT64_MAX);
  }
}

void ProtoEvents::Range(TrackKind kind, uint32_t item) {
  const bool projected = IsProjected(kind);
  const uint32_t row = projected ? layout_.projections[item].row : item;
  const auto category =
      static_cast<uint32_t>(projected ? ProtoCategory::kNvtxKernel : ProtoCategory::kNvtx);
  const uint32_t name = texts_.Of(trace_.nvtx.text[row]);
  if (HasLength(trace_, kind, item)) {
    sequence_.OpenSlice(category, name);
  } else {
    sequence_.OpenInstant(category, name);
  }
  RangeArgs(row);
}

void ProtoEvents::RangeArgs(uint32_t row) {
  if (const NvtxAttributes* const attributes = source_.text.Attributes(row)) {
    AttributeArgs(row, *attributes);
  }
  if (const int64_t number = source_.text.nvtx_names().DomainNumber(row); number != 0) {
    const std::string_view name = source_.text.nvtx_names().Domain(row);
    name.empty() ? Arg(ProtoArg::kDomain, number) : ArgText(ProtoArg::kDomain, name);
  }
  if (IsOpenRange(trace_, row)) {
    sequence_.ArgTrue(static_cast<uint32_t>(ProtoArg::kOpen));
  }
  RecordedEndArg(trace_.nvtx, row);
  if (layout_.IsRepaired(row)) {
    sequence_.ArgTrue(static_cast<uint32_t>(ProtoArg::kRepaired));
  }
}

void ProtoEvents::AttributeArgs(uint32_t row, const NvtxAttributes& attributes) {
  if (const int64_t number = attributes.category.value_or(0); number != 0) {  // 0: no category
    const std::string_view name = source_.text.nvtx_names().Category(row, number);
    name.empty() ? Arg(ProtoArg::kCategory, number) : ArgText(ProtoArg::kCategory, name);
  }
  if (attributes.color) {
    constexpr std::string_view kDigits = "0123456789ABCDEF";
    std::array<char, 9> text = {'#'};
    for (size_t digit = 0; digit < 8; ++digit) {
      text[8 - digit] = kDigits[*attributes.color >> (4 * digit) & 15];
    }
    ArgText(ProtoArg::kColor, {text.data(), text.size()});
  }
  const auto payload = static_cast<uint32_t>(ProtoArg::kPayload);
  std::visit(
      [&](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, int64_t>) {
          sequence_.Arg(payload, value);
        } else if constexpr (std::is_same_v<T, uint64_t>) {
          sequence_.ArgUint(payload, value);
        } else if constexpr (std::is_same_v<T, double>) {
          sequence_.ArgDouble(payload, value);
        } else if constexpr (std::is_same_v<T, std::string>) {
          ArgText(ProtoArg::kPayload, IsValidUtf8(value) ? value : ToValidUtf8(value));
        }
      },
      attributes.payload);
}

void ProtoEvents::Extras(const ProtoPlan::Part& part) {
  const TrackKind kind = layout_.tracks[part.track].kind;
  for (size_t at = part.begin; at < part.end; ++at) {
    if (kind == TrackKind::kCounter) {
      const CounterSample& sample = layout_.counter_samples[at];
      sequence_.Counter(Ts(sample.time_ns), sample.value);
    } else {
      Extra(layout_.extra_slices[at], kind);
    }
  }
}

void ProtoEvents::Extra(const ExtraSlice& slice, TrackKind kind) {
  sequence_.OpenSlice(CategoryOfExtra(kind), texts_.OfLayout(slice.name));
  for (uint32_t i = slice.first_arg; i < slice.first_arg + slice.arg_count; ++i) {
    const ExtraArg& arg = layout_.extra_args[i];
    const auto name = static_cast<uint32_t>(kProtoArgCount + arg.key);
    if (arg.is_text) {
      sequence_.ArgInterned(name, texts_.OfLayout(static_cast<uint32_t>(arg.value)));
    } else {
      sequence_.Arg(name, arg.value);
    }
  }
  sequence_.Close(Ts(slice.start_ns));
  sequence_.EndSlice(Ts(slice.end_ns));
}

void ProtoEvents::KernelId(uint32_t row) {
  TextWriter out = TextWriter::Over(id_);
  source_.text.PutKernelId(out, row, IdForm::kPlain);
  ArgText(ProtoArg::kEventId, out.view());
  out.KeepRoom();
}

void ProtoEvents::CopyId(uint32_t row) {
  TextWriter out = TextWriter::Over(id_);
  source_.text.PutCopyId(out, row, IdForm::kPlain);
  ArgText(ProtoArg::kEventId, out.view());
  out.KeepRoom();
}

void ProtoEvents::CallId(ProtoArg arg, uint32_t row) {
  TextWriter out = TextWriter::Over(id_);
  source_.text.PutCallId(out, row, IdForm::kPlain);
  ArgText(arg, out.view());
  out.KeepRoom();
}

}  // namespace nsys::perfetto
