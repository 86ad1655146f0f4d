// SPDX-License-Identifier: MIT
#include "perfetto/json_trace.h"

#include <string_view>
#include <vector>

#include "base/ordered_blocks.h"
#include "base/text_writer.h"
#include "perfetto/json_events.h"
#include "perfetto/json_plan.h"
#include "perfetto/json_ranges.h"
#include "perfetto/work_order.h"

namespace nsys::perfetto {
namespace {

class JsonTrace {
 public:
  JsonTrace(const Trace& trace, const Layout& layout, size_t block_bytes)
      : trace_(trace),
        layout_(layout),
        events_(trace, layout),
        ranges_(OrderRangeEvents(trace, layout)),
        parts_(PlanJson(trace, layout, events_.flows(), ranges_, block_bytes)) {}

  size_t parts() const { return parts_.size(); }

  // Writes a part and returns the number of its events.
  int64_t Write(size_t index, TextWriter& text) const {
    const JsonPart& part = parts_[index];
    JsonOut out{text};
    switch (part.section) {
      case JsonSection::kMetadata:
        events_.Metadata(out);
        break;
      case JsonSection::kCalls:
        Calls(out, part);
        break;
      case JsonSection::kWork:
        Work(out, part);
        break;
      case JsonSection::kRanges:
        for (size_t i = part.begin.first; i < part.end.first; ++i) {
          events_.Range(out, ranges_[i]);
        }
        break;
      case JsonSection::kExtras:
        for (size_t i = part.begin.first; i < part.end.first; ++i) {
          if (!layout_.IsLeftOut(layout_.extra_slices[i].track)) {
            events_.Extra(out, layout_.extra_slices[i]);
          }
        }
        break;
      case JsonSection::kCounters:
        for (size_t i = part.begin.first; i < part.end.first; ++i) {
          if (!layout_.IsLeftOut(layout_.counter_samples[i].track)) {
            events_.Counter(out, layout_.counter_samples[i]);
          }
        }
        break;
      case JsonSection::kEnd:
        text.Put("]\n");
        break;
    }
    return out.events;
  }

 private:
  void Calls(JsonOut& out, const JsonPart& part) const {
    for (JsonPlace place = part.begin; place != part.end;) {
      const Placed& slice = layout_.call_slices[place.first];
      const auto kernels = events_.flows().KernelsOf(slice.row);
      const auto copies = events_.flows().CopiesOf(slice.row);
      const size_t all = 1 + kernels.size() + copies.size();
      const size_t end = place.first < part.end.first ? all : part.end.second;
      for (size_t unit = place.second; unit < end; ++unit) {
        if (unit == 0) {
          events_.Call(out, slice);
        } else if (unit <= kernels.size()) {
          events_.KernelFlowStarts(out, slice, kernels[unit - 1]);
        } else {
          events_.CopyFlowStarts(out, slice, copies[unit - 1 - kernels.size()]);
        }
      }
      place = end == all ? JsonPlace{place.first + 1, 0} : JsonPlace{place.first, end};
    }
  }

  void Work(JsonOut& out, const JsonPart& part) const {
    ForEachWork(
        trace_, {part.begin.first, part.begin.second}, {part.end.first, part.end.second},
        [&](uint32_t kernel) {
          if (layout_.kernel_stream_track[kernel] != kNone) {
            events_.Kernel(out, kernel);
          }
        },
        [&](uint32_t copy) {
          if (layout_.copy_stream_track[copy] != kNone) {
            events_.Copy(out, copy);
          }
        });
  }

  const Trace& trace_;
  const Layout& layout_;
  JsonEvents events_;
  std::vector<RangeEvent> ranges_;
  std::vector<JsonPart> parts_;
};

// A part on its way to the file.
struct JsonBlock {
  std::string text;  // room, kept from part to part
  PackedBlock packed;
  int64_t events = 0;
};

}  // namespace

Result<int64_t> WriteJsonTrace(const Trace& trace, const Layout& layout,
                               const WriteOptions& options, BlockSink& sink) {
  if (layout.groups.empty()) {  // every event belongs to one
    NSYS_TRY(sink.Write("[]\n"));
    return int64_t{0};
  }
  const JsonTrace json(trace, layout, options.block_bytes);
  int64_t events = 0;
  const auto make = [&](size_t part, JsonBlock& block) {
    TextWriter text = TextWriter::Over(block.text);
    block.events = json.Write(part, text);
    text.KeepRoom();
    if (part == 0) {
      block.text[0] = '[';  // for the comma before the first event
    }
    sink.Pack(text.view(), block.packed);
    return Status();
  };
  const auto take = [&](size_t, JsonBlock& block) {
    events += block.events;
    const Status status = sink.Take(block.packed);
    if (status.ok() && options.progress) {
      options.progress(events);
    }
    return status;
  };
  NSYS_TRY(OrderedBlocks<JsonBlock>::Run(json.parts(), options.threads, make, take));
  return events;
}

}  // namespace nsys::perfetto
