// SPDX-License-Identifier: MIT
#include "perfetto/proto_trace.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout_builder.h"
#include "perfetto/proto_events.h"
#include "perfetto/proto_plan.h"
#include "proto_decoder.h"
#include "trace_builder.h"

namespace nsys::perfetto {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class MemorySink : public BlockSink {
 public:
  void Pack(std::string_view block, PackedBlock& packed) const override {
    packed.bytes.assign(block);
    packed.length = block.size();
  }
  Status Take(const PackedBlock& packed) override {
    bytes += packed.bytes;
    return {};
  }
  Status Finish() override { return {}; }
  uint64_t file_bytes() const override { return bytes.size(); }
  uint64_t plain_bytes() const override { return bytes.size(); }
  std::string bytes;
};

std::string Written(const Trace& trace, const Layout& layout, int threads = 1) {
  MemorySink sink;
  const Result<int64_t> packets = WriteProtoTrace(trace, layout, {.threads = threads}, sink);
  EXPECT_TRUE(packets.ok());
  EXPECT_EQ(ReadMessage(sink.bytes).size(), static_cast<size_t>(packets.value()));
  return sink.bytes;
}

// Lines of events, without those of tracks.
std::vector<std::string> Events(const std::string& bytes) {
  std::vector<std::string> events;
  for (std::string& line : ProtoDecoder::Lines(bytes)) {
    if (line.rfind("track ", 0) != 0) {
      events.push_back(std::move(line));
    }
  }
  return events;
}

std::string TrackId(uint32_t track) { return fmt::format("{:x}", TrackUuids("r").OfTrack(track)); }
std::string FlowId(FlowKind kind, uint32_t index) {
  return fmt::format("{:x}", FlowIds("r").Of(kind, index));
}

TEST(ProtoTrace, KernelItsCoreSliceAndItsLaunch) {
  const Trace trace =
      TraceBuilder()
          .Kernel("gemm", {.start_ns = 1200,
                           .end_ns = 1300,
                           .correlation = 5,
                           .shape = {.grid = {1, 2, 3}, .block = {256, 1, 1}},
                           .demangled = "void gemm<float>()"})
          .Call("cudaLaunchKernel", {.start_ns = 1000, .end_ns = 1100, .correlation = 5})
          .Build();
  LayoutBuilder builder(trace);
  const uint32_t group = builder.Group(100, 0);
  const uint32_t stream = builder.Track(TrackKind::kStream, group, {.context = 1, .stream = 7});
  const uint32_t core = builder.Track(TrackKind::kCore, group, {});
  const uint32_t api = builder.Track(TrackKind::kApi, group, {.source_tid = 100});
  builder.Kernel(0, stream, core, 0);
  builder.layout.call_slices = {{.row = 0, .track = api}};
  builder.layout.origin_ns = 1000;

  const std::string kernel_flow = FlowId(FlowKind::kKernel, 0);
  const std::string core_flow = FlowId(FlowKind::kCore, 0);
  EXPECT_THAT(
      Events(Written(trace, builder.layout)),
      ElementsAre("2 200 B " + TrackId(stream) + " cuda gemm in " + kernel_flow +
                      " block=[256,1,1] correlationId=5 demangledName=void gemm<float>()"
                      " eventId=r:cuda:100:0:1:7:1 grid=[1,2,3] streamSequence=1",
                  "2 300 E " + TrackId(stream),
                  "3 200 B " + TrackId(core) + " cuda_kernel_usage gemm in " + core_flow +
                      " contextId=1 correlationId=5 eventId=r:cuda:100:0:1:7:1 streamId=7",
                  "3 300 E " + TrackId(core),
                  "4 0 B " + TrackId(api) + " cuda_api cudaLaunchKernel out " + kernel_flow +
                      " out " + core_flow + " correlationId=5 eventId=r:cuda_api:100:100:5:0",
                  "4 100 E " + TrackId(api)));
}

// The first packets of a file, byte by byte.
TEST(ProtoTrace, Bytes) {
  const Trace trace = TraceBuilder().Range("a", {.start_ns = 10, .end_ns = 12}).Build();
  LayoutBuilder builder(trace, "");
  const uint32_t group = builder.Group(100, 0);
  builder.layout.groups[0].name = "g";
  const uint32_t track = builder.Track(TrackKind::kMemset, group, {.name = "t"});
  builder.layout.texts = {"n"};
  builder.layout.extra_slices = {{.start_ns = 10, .end_ns = 138, .track = track, .name = 0}};
  builder.layout.origin_ns = 10;
  const std::string bytes = Written(trace, builder.layout);
  // Sequence 2: the state cleared, clocks 6 and 64 at 0, the track, clock 64 for all times.
  const std::string uuid = [] {
    ProtoBuffer buffer;
    buffer.Reserve(20);
    buffer.Varint(TrackUuids("").OfTrack(0));
    return std::string(buffer.view());
  }();
  const auto sized = [](char tag, const std::string& part) {
    return std::string{tag, static_cast<char>(part.size())} + part;
  };
  using namespace std::string_literals;
  const std::string first =
      "\x50\x02\x68\x03"s +
      sized('\x32',
            sized('\x0a', "\x08\x06\x10\x00"s) + sized('\x0a', "\x08\x40\x10\x00\x18\x01"s)) +
      "\xda"s + sized('\x03', sized('\x5a', "\x58"s + uuid) + "\xd0\x03\x40"s) + "\xb8\x05\x01"s;
  const std::string begin = "\x40\x00\x50\x02\x68\x02"s +
                            sized('\x62', sized('\x0a',
                                                "\x08\x01\x12\x0b"s
                                                "cuda_memset"s) +
                                              sized('\x12', "\x08\x01\x12\x01n"s)) +
                            sized('\x5a', "\x18\x01\x48\x01\x50\x01"s);
  const std::string end = "\x40\x80\x01\x50\x02\x68\x02\x5a\x02\x48\x02"s;
  EXPECT_THAT(bytes,
              testing::EndsWith(sized('\x0a', first) + sized('\x0a', begin) + sized('\x0a', end)));
}

TEST(ProtoTrace, NoArrowBackInTime) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 1000, .end_ns = 1001, .correlation = 5})
          .Call("cudaLaunchKernel", {.start_ns = 1007, .end_ns = 1100, .correlation = 5})
          .Build();
  LayoutBuilder builder(trace, "a\"b");
  const uint32_t group = builder.Group(100, 0);
  const uint32_t stream = builder.Track(TrackKind::kStream, group, {.context = 1, .stream = 7});
  const uint32_t core = builder.Track(TrackKind::kCore, group, {});
  const uint32_t api = builder.Track(TrackKind::kApi, group, {.source_tid = 100});
  builder.Kernel(0, stream, core, 0);
  builder.layout.call_slices = {{.row = 0, .track = api}};
  builder.layout.origin_ns = 1000;
  const std::vector<std::string> events = Events(Written(trace, builder.layout));
  for (const std::string& event : events) {
    EXPECT_THAT(event, testing::Not(HasSubstr(" in ")));
    EXPECT_THAT(event, testing::Not(HasSubstr(" out ")));
  }
  EXPECT_THAT(events[0], HasSubstr(" launchEventId=a\"b:cuda_api:100:100:5:0 launchSkewNs=7"));
}

TEST(ProtoTrace, CopyOnItsStreamAndOnTwoUsageTracks) {
  const Trace trace =
      TraceBuilder()
          .Copy({.start_ns = 50,
                 .end_ns = 150,
                 .bytes = 400,
                 .kind = 1,
                 .correlation = 3,
                 .from_memory = 1,
                 .to_memory = 2,
                 .route = {.from_device = 4, .to_device = 5, .virtual_address = 99, .copies = 2}})
          .Call("cudaMemcpyAsync", {.start_ns = 0, .end_ns = 10, .correlation = 3})
          .Build();
  LayoutBuilder builder(trace);
  const uint32_t group = builder.Group(100, 0);
  const uint32_t other = builder.Group(100, 1);
  const uint32_t stream = builder.Track(TrackKind::kStream, group, {.context = 1, .stream = 7});
  const uint32_t pcie = builder.Track(TrackKind::kPcieUsage, group, {});
  const uint32_t pcie_of_other = builder.Track(TrackKind::kPcieUsage, other, {});
  const uint32_t api = builder.Track(TrackKind::kApi, group, {.source_tid = 100});
  const uint32_t api_of_other = builder.Track(TrackKind::kApi, other, {.source_tid = 100});
  builder.Copy(0, {.stream_track = stream,
                   .call = 0,
                   .devices = {0, 1},
                   .usage = {{.track = pcie, .device = 0, .flow = 0},
                             {.track = pcie_of_other, .device = 1, .flow = 1}}});
  builder.layout.call_slices = {{.row = 0, .track = api}, {.row = 0, .track = api_of_other}};
  const std::string usage =
      " bandwidthGBps=4 bytes=400 direction=H2D eventId=r:cuda_memcpy:0:1:7:0";
  const std::string call = " correlationId=3 eventId=r:cuda_api:100:100:3:0";
  EXPECT_THAT(
      Events(Written(trace, builder.layout)),
      ElementsAre("2 50 B " + TrackId(stream) + " cuda_memcpy CUDA Memcpy H2D in " +
                      FlowId(FlowKind::kCopy, 0) +
                      " bandwidthGBps=4 bytes=400 direction=H2D copyCount=2 correlationId=3"
                      " dstDeviceId=5 dstMemoryKind=Device eventId=r:cuda_memcpy:0:1:7:0"
                      " srcDeviceId=4 srcMemoryKind=Pinned virtualAddress=99",
                  "2 150 E " + TrackId(stream),
                  "3 50 B " + TrackId(pcie) + " cuda_copy_usage CUDA Memcpy H2D in " +
                      FlowId(FlowKind::kUsage, 0) + usage,
                  "3 150 E " + TrackId(pcie),
                  "4 50 B " + TrackId(pcie_of_other) + " cuda_copy_usage CUDA Memcpy H2D in " +
                      FlowId(FlowKind::kUsage, 1) + usage,
                  "4 150 E " + TrackId(pcie_of_other),
                  "5 0 B " + TrackId(api) + " cuda_api cudaMemcpyAsync out " +
                      FlowId(FlowKind::kCopy, 0) + " out " + FlowId(FlowKind::kUsage, 0) + call,
                  "5 10 E " + TrackId(api),
                  "6 0 B " + TrackId(api_of_other) + " cuda_api cudaMemcpyAsync out " +
                      FlowId(FlowKind::kUsage, 1) + call,
                  "6 10 E " + TrackId(api_of_other)));
}

// Kernels stand before copies of the same span; a slice without length ends before the next begins.
TEST(ProtoTrace, OrderOnAStream) {
  const Trace trace = TraceBuilder()
                          .Kernel("b", {.start_ns = 20, .end_ns = 30})
                          .Kernel("a", {.start_ns = 10, .end_ns = 10})
                          .Copy({.start_ns = 10, .end_ns = 10, .kind = 8})
                          .Copy({.start_ns = 10, .end_ns = 20, .kind = 8})
                          .Build();
  LayoutBuilder builder(trace);
  const uint32_t group = builder.Group(100, 0);
  const uint32_t stream = builder.Track(TrackKind::kStream, group, {.context = 1, .stream = 7});
  const uint32_t core = builder.Track(TrackKind::kCore, group, {});
  builder.Kernel(0, stream, core).Kernel(1, stream, core);
  builder.Copy(0, {.stream_track = stream}).Copy(1, {.stream_track = stream});
  std::vector<std::string> heads;
  for (const std::string& event : Events(Written(trace, builder.layout))) {
    if (event.rfind("2 ", 0) == 0) {
      heads.push_back(event.substr(0, 6));
    }
  }
  EXPECT_THAT(heads, ElementsAre("2 10 B", "2 10 E", "2 10 B", "2 10 E", "2 10 B", "2 20 E",
                                 "2 20 B", "2 30 E"));
}

struct RangeLayout {
  explicit RangeLayout(const Trace& trace) : builder(trace) {
    const uint32_t group = builder.Group(100, 0);
    track = builder.Track(TrackKind::kNvtxThread, group, {.source_tid = 100});
    for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
      builder.layout.range_slices.push_back({.row = row, .track = track});
      builder.layout.last_ns = std::max(builder.layout.last_ns, trace.nvtx.end_ns[row]);
    }
  }
  LayoutBuilder builder;
  uint32_t track = 0;
};

std::vector<std::string> Shapes(const std::string& bytes, const std::string& id) {
  std::vector<std::string> shapes;
  for (std::string event : Events(bytes)) {
    event.erase(event.find(id), id.size());
    shapes.push_back(event.substr(event.find(' ') + 1));
  }
  return shapes;
}

TEST(ProtoTrace, RangesNestAndMarksAreMoments) {
  const Trace trace = TraceBuilder()
                          .Range("inner", {.start_ns = 10, .end_ns = 15})
                          .Range("outer", {.start_ns = 10, .end_ns = 20})
                          .Range("empty", {.start_ns = 20, .end_ns = 20})
                          .Range("next", {.start_ns = 20, .end_ns = 30})
                          .Range("mark", {.start_ns = 25, .end_ns = 25, .type = 34})
                          .NamelessRange({.start_ns = 26, .end_ns = 27})
                          .Build();
  const RangeLayout ranges(trace);
  const std::string bytes = Written(trace, ranges.builder.layout);
  EXPECT_THAT(Shapes(bytes, TrackId(ranges.track)),
              ElementsAre("10 B  nvtx outer", "10 B  nvtx inner", "15 E ", "20 E ",
                          "20 B  nvtx next", "20 B  nvtx empty", "20 E ", "25 I  nvtx mark",
                          "26 B  nvtx NVTX", "27 E ", "30 E "));
}

TEST(ProtoTrace, AttributesOfRanges) {
  NvtxAttributes attributes;
  attributes.category = 7;
  attributes.color = 0xFF00AB12;
  attributes.payload = -3.5;
  const Trace trace =
      TraceBuilder()
          .Range("open", {.start_ns = 10, .domain = 0, .open = true, .attributes = attributes})
          .Range("last", {.start_ns = 10, .end_ns = 12})
          .Build();
  const RangeLayout ranges(trace);
  const std::vector<std::string> shapes =
      Shapes(Written(trace, ranges.builder.layout), TrackId(ranges.track));
  EXPECT_THAT(shapes, testing::Contains(
                          "10 B  nvtx open category=7 color=#FF00AB12 payload=-3.5 open=true"));
}

TEST(ProtoTrace, RegionsOfAKernel) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 5, .end_ns = 6})
                          .Range("a", {})
                          .Range("b", {})
                          .Build();
  LayoutBuilder builder(trace);
  const uint32_t group = builder.Group(100, 0);
  const uint32_t stream = builder.Track(TrackKind::kStream, group, {.context = 1, .stream = 7});
  builder.Kernel(0, stream, kNone);
  builder.layout.region_names = {trace.nvtx.text[1], StringId::kNone, trace.nvtx.text[0]};
  builder.layout.region_sets = {{.begin = 0, .count = 2, .cut = 0},
                                {.begin = 0, .count = 3, .cut = 4}};
  builder.layout.kernel_regions[0] = 1;
  EXPECT_THAT(Events(Written(trace, builder.layout))[0],
              HasSubstr(" NVTXRegions=[b,NVTX,a] NVTXRegionsTruncated=4 block="));
}

TEST(ProtoTrace, Tracks) {
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 5, .end_ns = 6}).Build();
  LayoutBuilder builder(trace);
  const uint32_t group = builder.Group(100, 0);
  builder.layout.groups[0].detail = "python";
  builder.Track(TrackKind::kCore, group, {.name = "Core", .sort_index = -300});
  builder.Track(TrackKind::kCore, group, {.name = "Core / Lane 2", .sort_index = -299});
  const uint32_t api = builder.Track(
      TrackKind::kApi, group, {.name = "CUDA API 9 / Lane 1", .sort_index = 40, .source_tid = 9});
  builder.layout.tracks[api].detail = "loader";
  builder.Track(TrackKind::kNvtxThread, group,
                {.name = "NVTX Thread 9", .sort_index = 20, .source_tid = 9});
  builder.Track(TrackKind::kCounter, group, {.name = "Used", .sort_index = 90});
  const TrackUuids uuids("r");
  const std::string root = fmt::format("{:x}", uuids.OfGroup(0));
  const std::string thread = fmt::format("{:x}", uuids.OfThread(0));
  EXPECT_THAT(ProtoDecoder::Lines(Written(trace, builder.layout)),
              ElementsAre("track " + root +
                              " in 0: CUDA Device 0 / Source PID 100 rank -10000 about python",
                          "track " + thread + " in " + root + ": Thread 9 (loader) rank 20",
                          "track " + TrackId(0) + " in " + root + ": Core rank -300 key Core",
                          "track " + TrackId(1) + " in " + root + ": Core rank -299 key Core",
                          "track " + TrackId(2) + " in " + thread + ": CUDA API 9 rank 40",
                          "track " + TrackId(3) + " in " + thread + ": NVTX Thread 9 rank 20",
                          "track " + TrackId(4) + " in " + root + ": Used rank 90 counter"));
}

// Ranges that nest at random, and kernels; many parts and blocks.
Trace RandomTrace(uint32_t seed, size_t rows) {
  std::mt19937 random(seed);
  TraceBuilder builder;
  for (size_t i = 0; i < rows; ++i) {
    const auto start = static_cast<int64_t>(32 * (random() % (rows / 8 + 1)));
    const auto depth = static_cast<int64_t>(random() % 8);
    builder.Range("r" + std::to_string(random() % 50),
                  {.start_ns = start + depth, .end_ns = start + 20 - depth});
    builder.Kernel(
        "k" + std::to_string(random() % 50),
        {.start_ns = static_cast<int64_t>(i) * 4, .end_ns = static_cast<int64_t>(i) * 4 + 3});
  }
  return builder.Build();
}

TEST(ProtoTrace, SameBytesForAnyNumberOfThreads) {
  const Trace trace = RandomTrace(1, 40'000);
  RangeLayout ranges(trace);
  const uint32_t stream = ranges.builder.Track(TrackKind::kStream, 0, {.context = 1, .stream = 7});
  for (uint32_t row = 0; row < trace.kernels.size(); ++row) {
    ranges.builder.layout.kernel_stream_track[row] = stream;
  }
  const std::string bytes = Written(trace, ranges.builder.layout, 1);
  EXPECT_EQ(bytes, Written(trace, ranges.builder.layout, 2));
  EXPECT_EQ(bytes, Written(trace, ranges.builder.layout, 7));
  const std::vector<std::string> events = Events(bytes);
  EXPECT_EQ(events.size(), 4 * 40'000U);
  EXPECT_EQ(events.back().substr(0, 2), "7 ");  // two tracks of three parts each
}

// Cut anywhere, a track has the same events in the same order.
TEST(ProtoTrace, PartsContinueEachOther) {
  for (uint32_t seed = 0; seed < 20; ++seed) {
    const Trace trace = RandomTrace(seed, 60);
    RangeLayout ranges(trace);
    const Layout& layout = ranges.builder.layout;
    const auto written = [&](size_t part_events) {
      const Result<ProtoPlan> plan = ProtoPlan::Make(trace, layout, part_events);
      const ProtoSource source(trace, layout);
      ProtoEvents events(source);
      ProtoBuffer out;
      uint32_t id = 1;
      for (const ProtoPlan::Part& part : plan.value().parts()) {
        events.Write(plan.value(), part, id++, out);
      }
      return Shapes(std::string(out.view()), TrackId(ranges.track));
    };
    const std::vector<std::string> whole = written(1000);
    EXPECT_EQ(whole.size(), 120U);
    for (const size_t part_events : {1, 2, 7, 59}) {
      EXPECT_EQ(written(part_events), whole);
    }
  }
}

}  // namespace
}  // namespace nsys::perfetto
