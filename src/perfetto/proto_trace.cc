// SPDX-License-Identifier: MIT
// A trace is: the tracks, then packet sequences in the order of their tracks. Times are nanoseconds
// since Layout::origin_ns, the same as in the JSON.
#include "perfetto/proto_trace.h"

#include <memory>
#include <string_view>

#include "base/ordered_blocks.h"
#include "perfetto/proto_events.h"
#include "perfetto/proto_plan.h"
#include "perfetto/proto_tracks.h"
#include "perfetto/proto_writer.h"

namespace nsys::perfetto {
namespace {

constexpr uint32_t kTracksSequence = 1;

struct Block {
  std::unique_ptr<ProtoEvents> events;  // made once, then used for every block made here
  ProtoBuffer bytes;
  PackedBlock packed;
  int64_t packets = 0;
};

}  // namespace

Result<int64_t> WriteProtoTrace(const Trace& trace, const Layout& layout,
                                const WriteOptions& options, BlockSink& sink) {
  const ProtoSource source(trace, layout);
  NSYS_ASSIGN(const ProtoPlan plan, ProtoPlan::Make(trace, layout));

  ProtoBuffer tracks;
  int64_t packets = WriteTracks(layout, kTracksSequence, tracks);
  NSYS_TRY(sink.Write(tracks.view()));

  const auto make = [&](size_t number, Block& block) -> Status {
    if (!block.events) {
      block.events = std::make_unique<ProtoEvents>(source);
    }
    block.bytes.Clear();
    block.packets = 0;
    for (size_t part = plan.block_begin(number); part < plan.block_begin(number + 1); ++part) {
      const auto id = static_cast<uint32_t>(kTracksSequence + 1 + part);
      block.packets += block.events->Write(plan, plan.parts()[part], id, block.bytes);
    }
    sink.Pack(block.bytes.view(), block.packed);
    return {};
  };
  const auto take = [&](size_t, Block& block) -> Status {
    packets += block.packets;
    if (options.progress) {
      options.progress(packets);
    }
    return sink.Take(block.packed);
  };
  NSYS_TRY(OrderedBlocks<Block>::Run(plan.block_count(), options.threads, make, take));
  return packets;
}

}  // namespace nsys::perfetto
