// SPDX-License-Identifier: MIT
// What the events of a protobuf trace say: names, categories, arrows and those arguments that do
// not follow from the trace itself. Start, duration and the other end of an arrow do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "perfetto/event_text.h"
#include "perfetto/flows.h"
#include "perfetto/layout.h"
#include "perfetto/proto_plan.h"
#include "perfetto/proto_sequence.h"
#include "perfetto/proto_text.h"
#include "perfetto/proto_tracks.h"
#include "trace/trace.h"

namespace nsys::perfetto {

// What all threads share.
struct ProtoSource {
  ProtoSource(const Trace& a_trace, const Layout& a_layout);

  const Trace& trace;
  const Layout& layout;
  ProtoTexts texts;
  FlowIds flow_ids;
  FlowIndex flows;
  EventText text;  // for event ids and attributes
  TrackUuids uuids;
};

// Writes parts of the plan, one after the other.
class ProtoEvents {
 public:
  explicit ProtoEvents(const ProtoSource& source);

  // The packet sequence `id` with the events of `part`; returns the number of packets.
  int64_t Write(const ProtoPlan& plan, const ProtoPlan::Part& part, uint32_t id, ProtoBuffer& out);

 private:
  int64_t Ts(int64_t ns) const { return ns - layout_.origin_ns; }
  void WriteSpan(const Events& events, uint32_t row) {
    sequence_.Close(Ts(events.start_ns[row]));
    sequence_.EndSlice(Ts(events.end_ns[row]));
  }

  void Kernel(uint32_t row);
  void KernelArgs(uint32_t row);
  void DemangledName(uint32_t row);
  void Regions(const Layout::RegionSet& set);
  void CoreKernel(uint32_t row);
  void Copy(uint32_t row);
  void CopyArgs(uint32_t row);
  void Usage(const CopyUsage& usage);
  void BytesArgs(uint32_t row);
  void Call(uint32_t row, uint32_t track);
  void CallFlows(uint32_t row, uint32_t track);
  void Nested(const ProtoPlan& plan, const ProtoPlan::Part& part);
  void Range(TrackKind kind, uint32_t item);
  void RangeArgs(uint32_t row);
  void AttributeArgs(uint32_t row, const NvtxAttributes& attributes);
  void Extra(const ExtraSlice& slice, TrackKind kind);
  void Extras(const ProtoPlan::Part& part);

  void Launch(uint32_t call, int64_t start_ns);
  void RecordedEndArg(const Events& events, uint32_t row);
  void Arg(ProtoArg arg, int64_t value) { sequence_.Arg(static_cast<uint32_t>(arg), value); }
  void OptionalArg(ProtoArg arg, int64_t value) {
    if (value != kNoNumber) {
      Arg(arg, value);
    }
  }
  void Arg3(ProtoArg arg, const Extent& extent) {
    sequence_.ArgNumbers(static_cast<uint32_t>(arg), extent.x, extent.y, extent.z);
  }
  void ArgInterned(ProtoArg arg, uint32_t text) {
    sequence_.ArgInterned(static_cast<uint32_t>(arg), text);
  }
  void ArgText(ProtoArg arg, std::string_view text) {
    sequence_.ArgText(static_cast<uint32_t>(arg), text);
  }

  void KernelId(uint32_t row);
  void CopyId(uint32_t row);
  void CallId(ProtoArg arg, uint32_t row);

  const ProtoSource& source_;
  const Trace& trace_;
  const Layout& layout_;
  const ProtoTexts& texts_;
  ProtoSequence sequence_;
  std::string id_;             // room for one
  std::vector<int64_t> open_;  // ends of the slices that are open
};

}  // namespace nsys::perfetto
