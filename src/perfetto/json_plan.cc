// SPDX-License-Identifier: MIT
#include "perfetto/json_plan.h"

#include "perfetto/work_order.h"

namespace nsys::perfetto {
namespace {

// About how many bytes events take besides names of reports and of NVTX ranges.
constexpr size_t kCallBytes = 300;
constexpr size_t kKernelBytes = 850;  // on its stream and on the Core Timeline
constexpr size_t kCopyBytes = 850;
constexpr size_t kUsageBytes = 300;
constexpr size_t kFlowBytes = 450;
constexpr size_t kRangeBytes = 190;
constexpr size_t kExtraBytes = 300;
constexpr size_t kCounterBytes = 130;

class Planner {
 public:
  Planner(const Trace& trace, const Layout& layout, const FlowIndex& flows, size_t block_bytes)
      : trace_(trace),
        layout_(layout),
        flows_(flows),
        block_bytes_(block_bytes),
        id_bytes_(layout.options.report.size()) {}

  std::vector<JsonPart> Parts(const std::vector<RangeEvent>& ranges) {
    parts_.push_back({JsonSection::kMetadata, {}, {}});
    AddCalls();
    AddWork();
    AddEven(JsonSection::kRanges, ranges.size(), kRangeBytes + NameBytes(ranges));
    AddEven(JsonSection::kExtras, layout_.extra_slices.size(), kExtraBytes);
    AddEven(JsonSection::kCounters, layout_.counter_samples.size(), kCounterBytes);
    parts_.push_back({JsonSection::kEnd, {}, {}});
    return std::move(parts_);
  }

 private:
  // Counts `bytes` more that end at `place`, and ends the part there when it is long enough.
  void Add(JsonSection section, size_t bytes, JsonPlace place) {
    bytes_ += bytes;
    if (bytes_ >= block_bytes_) {
      Cut(section, place);
    }
  }
  void Cut(JsonSection section, JsonPlace place) {
    if (place != begin_) {
      parts_.push_back({section, begin_, place});
    }
    begin_ = place;
    bytes_ = 0;
  }

  void AddCalls() {
    begin_ = {};
    const size_t flow_bytes = kFlowBytes + 2 * id_bytes_;
    for (size_t i = 0; i < layout_.call_slices.size(); ++i) {
      const uint32_t call = layout_.call_slices[i].row;
      const size_t kernels = flows_.KernelsOf(call).size();
      const auto copies = flows_.CopiesOf(call);
      const size_t units = 1 + kernels + copies.size();
      for (size_t unit = 0; unit < units; ++unit) {
        const size_t bytes =
            unit == 0
                ? kCallBytes + id_bytes_
                : (unit <= kernels
                       ? 2 * flow_bytes
                       : (1 + layout_.UsagesOf(copies[unit - 1 - kernels]).size()) * flow_bytes);
        Add(JsonSection::kCalls, bytes,
            unit + 1 == units ? JsonPlace{i + 1, 0} : JsonPlace{i, unit + 1});
      }
    }
    Cut(JsonSection::kCalls, {layout_.call_slices.size(), 0});
  }

  void AddWork() {
    begin_ = {};
    JsonPlace next;
    ForEachWork(
        trace_,
        [&](uint32_t kernel) {
          ++next.first;
          Add(JsonSection::kWork, KernelBytes(kernel), next);
        },
        [&](uint32_t copy) {
          ++next.second;
          Add(JsonSection::kWork, CopyBytes(copy), next);
        });
    Cut(JsonSection::kWork, next);
  }
  size_t KernelBytes(uint32_t kernel) const {
    if (layout_.kernel_stream_track[kernel] == kNone) {
      return 0;
    }
    return kKernelBytes + 3 * id_bytes_ +
           (flows_.HasKernelFlow(kernel) ? 2 * (kFlowBytes + 2 * id_bytes_) : 0);
  }
  size_t CopyBytes(uint32_t copy) const {
    if (layout_.copy_stream_track[copy] == kNone) {
      return 0;
    }
    const size_t usages = layout_.UsagesOf(copy).size();
    return kCopyBytes + kFlowBytes + usages * (kUsageBytes + kFlowBytes) +
           (4 + 3 * usages) * id_bytes_;
  }

  // The usual length of a name, of every so many ranges.
  size_t NameBytes(const std::vector<RangeEvent>& ranges) const {
    constexpr size_t kStep = 61;
    const size_t placed = layout_.range_slices.size();
    size_t total = 0;
    size_t seen = 0;
    for (size_t i = 0; i < ranges.size(); i += kStep, ++seen) {
      const uint32_t slice = ranges[i].slice();
      const uint32_t row = slice < placed ? layout_.range_slices[slice].row
                                          : layout_.projections[slice - placed].row;
      total += trace_.Text(trace_.nvtx.text[row]).size();
    }
    return seen == 0 ? 0 : total / seen;
  }

  void AddEven(JsonSection section, size_t rows, size_t bytes) {
    begin_ = {};
    bytes_ = 0;
    for (size_t row = 0; row < rows; ++row) {
      Add(section, bytes, {row + 1, 0});
    }
    Cut(section, {rows, 0});
  }

  const Trace& trace_;
  const Layout& layout_;
  const FlowIndex& flows_;
  const size_t block_bytes_;
  const size_t id_bytes_;
  std::vector<JsonPart> parts_;
  JsonPlace begin_;   // of the part at hand
  size_t bytes_ = 0;  // in it
};

}  // namespace

std::vector<JsonPart> PlanJson(const Trace& trace, const Layout& layout, const FlowIndex& flows,
                               const std::vector<RangeEvent>& ranges, size_t block_bytes) {
  return Planner(trace, layout, flows, block_bytes).Parts(ranges);
}

}  // namespace nsys::perfetto
