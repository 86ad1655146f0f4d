// SPDX-License-Identifier: MIT
// The events of a JSON trace, one function for each kind of row. Every event is written with a
// comma before it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text_writer.h"
#include "perfetto/event_text.h"
#include "perfetto/flows.h"
#include "perfetto/json_ranges.h"
#include "perfetto/layout.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// A stretch of the array on its way.
struct JsonOut {
  TextWriter& text;
  int64_t events = 0;
};

class JsonEvents {
 public:
  JsonEvents(const Trace& trace, const Layout& layout);

  const FlowIndex& flows() const { return flows_; }

  // Names and places of all processes and tracks.
  void Metadata(JsonOut& out) const;

  void Call(JsonOut& out, const Placed& slice) const;
  // The starts of the arrows to a kernel or a copy, as far as they leave from this slice: a call
  // can be drawn under several devices.
  void KernelFlowStarts(JsonOut& out, const Placed& slice, uint32_t kernel) const;
  void CopyFlowStarts(JsonOut& out, const Placed& slice, uint32_t copy) const;

  // A kernel or a copy wherever it is drawn, and the ends of its arrows.
  void Kernel(JsonOut& out, uint32_t kernel) const;
  void Copy(JsonOut& out, uint32_t copy) const;

  void Range(JsonOut& out, RangeEvent event) const;
  void Extra(JsonOut& out, const ExtraSlice& slice) const;
  void Counter(JsonOut& out, const CounterSample& sample) const;

 private:
  // One end of an arrow.
  struct FlowPoint {
    bool is_end = false;
    int64_t time_ns = 0;
    uint32_t track = 0;
  };
  template <size_t n, typename Name, typename Args>
  void Slice(JsonOut& out, const Name& name, const char (&middle)[n], Span span, uint32_t track,
             const Args& args) const;
  void BeginFlow(JsonOut& out, std::string_view name, std::string_view category,
                 const FlowPoint& point) const;
  void EndFlow(JsonOut& out, uint64_t id, const FlowPoint& point) const;

  void KernelFlows(JsonOut& out, uint32_t kernel, FlowPoint stream, FlowPoint core) const;
  void CopyFlow(JsonOut& out, uint32_t copy, FlowPoint point) const;
  void UsageFlow(JsonOut& out, const CopyUsage& usage, FlowPoint point) const;
  void PutKernelFlowArgs(TextWriter& out, uint32_t kernel) const;
  void PutCopyFlowArgs(TextWriter& out, uint32_t copy, int64_t device,
                       std::string_view target_track) const;
  struct DrawnRange {
    uint32_t row;  // of trace.nvtx
    uint32_t track;
    Span span;
    bool projected;
  };
  void RangePoint(JsonOut& out, RangeEvent event, const DrawnRange& range) const;
  int64_t DeviceOfTrack(uint32_t track) const { return layout_.GroupOf(track).device; }

  const Trace& trace_;
  const Layout& layout_;
  EventText text_;
  FlowIds ids_;
  FlowIndex flows_;
  std::vector<std::string> places_;  // by track: ,"tid":1,"pid":2000000000,"args":
};

}  // namespace nsys::perfetto
