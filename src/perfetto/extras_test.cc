// SPDX-License-Identifier: MIT
#include "perfetto/extras.h"

#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "layout_builder.h"
#include "trace_builder.h"

namespace nsys::perfetto {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// "<group name> | <track name> | <times> <slice name> <arg>=<value>…", or the value of a sample.
std::vector<std::string> Lines(const Layout& layout) {
  std::vector<std::string> lines;
  const auto head = [&](uint32_t number) {
    const Track& track = layout.tracks[number];
    return layout.groups[track.group].name + " | " + track.name + " | ";
  };
  for (const ExtraSlice& slice : layout.extra_slices) {
    std::string line = head(slice.track) + fmt::format("{}-{} {}", slice.start_ns, slice.end_ns,
                                                       layout.texts[slice.name]);
    for (uint32_t i = slice.first_arg; i < slice.first_arg + slice.arg_count; ++i) {
      const ExtraArg& arg = layout.extra_args[i];
      line += fmt::format(" {}={}", layout.texts[arg.key], arg.value);
    }
    lines.push_back(line);
  }
  for (const CounterSample& sample : layout.counter_samples) {
    lines.push_back(head(sample.track) + fmt::format("{}: {}", sample.time_ns, sample.value));
  }
  return lines;
}

// A layout with a group for each device of process 100, and a kernel drawn from 100 to 200.
Layout Base(const Trace& trace, const Extras& extras, const std::vector<int64_t>& devices = {0}) {
  LayoutBuilder builder(trace);
  for (const int64_t device : devices) {
    builder.Group(100, device);
  }
  builder.layout.options.extras = extras;
  builder.layout.counts.kernels = 1;
  builder.layout.origin_ns = 100;
  builder.layout.anchor_ns = 100;
  builder.layout.last_ns = 200;
  return builder.layout;
}

const std::string kDevice0 = "CUDA Device 0 / Source PID 100 | ";

TEST(Extras, NothingUnlessAskedFor) {
  const Trace trace = TraceBuilder()
                          .Memset({.start_ns = 110, .end_ns = 120})
                          .MemoryUsage({.at_ns = 120, .bytes = 5})
                          .Build();
  Layout layout = Base(trace, {});
  AddExtras(trace, layout);
  EXPECT_THAT(layout.tracks, IsEmpty());
  EXPECT_THAT(Lines(layout), IsEmpty());
  EXPECT_TRUE(ExtraReads({}).Of(TableId::kMemset).empty());
}

TEST(Extras, MemsetsInLanes) {
  const Trace trace =
      TraceBuilder()
          .Memset({.start_ns = 110, .end_ns = 130, .correlation = 4, .bytes = 64, .value = 255})
          .Memset({.start_ns = 120, .end_ns = 125, .bytes = 8})
          .Memset({.start_ns = 130, .end_ns = 120, .bytes = 16})
          .Build();
  Layout layout = Base(trace, {.memset = true});
  AddExtras(trace, layout);
  const std::string track = kDevice0 + "CUDA HW Context 1 / Stream 7 / Memset";
  EXPECT_THAT(Lines(layout),
              ElementsAre(track + " | 110-130 CUDA Memset bytes=64 correlationId=4 value=255",
                          track + " | 130-130 CUDA Memset bytes=16 recordedEndNs=120 value=0",
                          track + " / Lane 2 | 120-125 CUDA Memset bytes=8 value=0"));
  EXPECT_EQ(layout.tracks[0].tid, kFirstExtraTid);
  EXPECT_EQ(layout.tracks[1].tid, kFirstExtraTid + 1);
  EXPECT_EQ(layout.tracks[1].lane, 1U);
  EXPECT_LT(layout.tracks[0].sort_index, layout.tracks[1].sort_index);
  EXPECT_EQ(layout.counts.extra_slices, 3);
}

// Rows of synchronizations say device 0 whatever their context.
TEST(Extras, SynchronizationsOnTheDeviceOfTheirContext) {
  const Trace trace = TraceBuilder()
                          .SyncTypes()
                          .Kernel("k", {.start_ns = 100, .end_ns = 200, .device = 1, .context = 2})
                          .Sync({.start_ns = 110, .end_ns = 120, .type = 3, .context = 2})
                          .Sync({.start_ns = 130, .end_ns = 140, .type = 99, .context = 5})
                          .Build();
  Layout layout = Base(trace, {.sync = true}, {1});
  AddExtras(trace, layout);
  EXPECT_THAT(
      Lines(layout),
      ElementsAre(
          kDevice0 + "CUDA HW Context 5 / Stream 7 / Synchronization | 130-140 unknown(99)",
          "CUDA Device 1 / Source PID 100 | CUDA HW Context 2 / Stream 7 / Synchronization | "
          "110-120 CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE"));
  EXPECT_EQ(layout.groups.size(), 2U);  // one was made, before the other
  EXPECT_EQ(layout.groups[0].device, 0);
}

TEST(Extras, GraphsByTheirNumber) {
  const Trace trace = TraceBuilder()
                          .Graph({.start_ns = 110, .end_ns = 120, .graph = {.graph = 12}})
                          .Graph({.start_ns = 130, .end_ns = 140})
                          .Build();
  Layout layout = Base(trace, {.graph = true});
  AddExtras(trace, layout);
  const std::string track = kDevice0 + "CUDA HW Context 1 / Stream 7 / CUDA Graph | ";
  EXPECT_THAT(Lines(layout), ElementsAre(track + "110-120 CUDA Graph 12 graphId=12",
                                         track + "130-140 CUDA Graph"));
}

TEST(Extras, OsCallsUnderEveryGroupOfTheProcess) {
  const Trace trace = TraceBuilder()
                          .OsCall("read", {.start_ns = 50, .end_ns = 260, .tid = 101})
                          .OsCall("poll", {.start_ns = 60, .end_ns = 70, .tid = 101})
                          .Build();
  Layout layout = Base(trace, {.osrt = true}, {0, 1});
  AddExtras(trace, layout);
  const std::string device1 = "CUDA Device 1 / Source PID 100 | ";
  EXPECT_THAT(Lines(layout), ElementsAre(kDevice0 + "OS Runtime 101 | 50-260 read",
                                         kDevice0 + "OS Runtime 101 / Lane 2 | 60-70 poll",
                                         device1 + "OS Runtime 101 | 50-260 read",
                                         device1 + "OS Runtime 101 / Lane 2 | 60-70 poll"));
  EXPECT_EQ(layout.tracks[0].source_tid, 101);
  // They begin before everything else and end after it.
  EXPECT_EQ(layout.origin_ns, 50);
  EXPECT_EQ(layout.anchor_ns, 50);
  EXPECT_EQ(layout.last_ns, 260);
}

TEST(Extras, OsCallsOnTheHostGroupAlone) {
  const Trace trace =
      TraceBuilder().OsCall("read", {.start_ns = 110, .end_ns = 120, .tid = 101}).Build();
  Layout layout = Base(trace, {.osrt = true}, {-1, 0});
  layout.options.host_tracks = true;
  layout.groups[0].host = true;
  layout.groups[0].name = "host";
  AddExtras(trace, layout);
  EXPECT_THAT(Lines(layout), ElementsAre("host | OS Runtime 101 | 110-120 read"));
}

TEST(Extras, OverheadOfAThreadAndOfNone) {
  const Trace trace = TraceBuilder()
                          .Overhead("flush", {.start_ns = 110, .end_ns = 120, .tid = 101})
                          .Overhead(130, 140)
                          .Build();
  Layout layout = Base(trace, {.overhead = true});
  AddExtras(trace, layout);
  EXPECT_THAT(Lines(layout), ElementsAre(kDevice0 + "Profiler Overhead | 130-140 Profiler Overhead",
                                         kDevice0 + "Profiler Overhead 101 | 110-120 flush"));
}

Trace MemoryTrace() {
  return TraceBuilder()
      .MemoryUsage({.at_ns = 50, .bytes = 100, .kind = 2})
      .MemoryUsage({.at_ns = 110, .bytes = 30, .kind = 2})
      .MemoryUsage({.at_ns = 120, .bytes = 100, .kind = 2, .operation = 1})
      .MemoryUsage({.at_ns = 130, .bytes = 7, .kind = 1})
      .MemoryUsage({.at_ns = 140, .bytes = 9, .kind = 2, .operation = 5})
      .MemoryUsage({.at_ns = 150, .bytes = 1, .kind = 2, .device = 3})
      .Build();
}

TEST(Extras, MemoryInUse) {
  const Trace trace = MemoryTrace();
  Layout layout = Base(trace, {.memory = true});
  AddExtras(trace, layout);
  const std::string device = kDevice0 + "GPU Memory / Device (bytes) | ";
  EXPECT_THAT(Lines(layout),
              ElementsAre(kDevice0 + "GPU Memory / Pinned (bytes) | 130: 7", device + "50: 100",
                          device + "110: 130", device + "120: 30",
                          "CUDA Device 3 / Source PID 100 | GPU Memory / Device (bytes) | 150: 1"));
  EXPECT_FALSE(layout.tracks[0].proto_only);
  EXPECT_EQ(layout.origin_ns, 50);
  EXPECT_EQ(layout.counts.counter_samples, 5);
}

// Shown without being asked, it changes nothing else: no group, no origin.
TEST(Extras, MemoryInUseForTheProtobufTraceAlone) {
  const Trace trace = MemoryTrace();
  Layout layout = Base(trace, {});
  layout.options.proto_memory = true;
  AddExtras(trace, layout);
  const std::string device = kDevice0 + "GPU Memory / Device (bytes) | ";
  EXPECT_THAT(Lines(layout),
              ElementsAre(kDevice0 + "GPU Memory / Pinned (bytes) | 130: 7", device + "100: 100",
                          device + "110: 130", device + "120: 30"));
  EXPECT_TRUE(layout.tracks[0].proto_only);
  EXPECT_EQ(layout.origin_ns, 100);
  EXPECT_EQ(layout.groups.size(), 1U);
  EXPECT_EQ(layout.counts.counter_samples, 0);
}

TEST(Extras, TrimKeepsWhatTouchesItAndWhatWasInUse) {
  const Trace trace = TraceBuilder()
                          .MemoryUsage({.at_ns = 50, .bytes = 100, .kind = 2})
                          .MemoryUsage({.at_ns = 60, .bytes = 20, .kind = 2})
                          .MemoryUsage({.at_ns = 120, .bytes = 30, .kind = 2})
                          .MemoryUsage({.at_ns = 150, .bytes = 1, .kind = 2})
                          .Memset({.start_ns = 90, .end_ns = 100, .bytes = 1})
                          .Memset({.start_ns = 99, .end_ns = 101, .bytes = 2})
                          .Memset({.start_ns = 149, .end_ns = 190, .bytes = 3})
                          .Memset({.start_ns = 150, .end_ns = 190, .bytes = 4})
                          .Build();
  Layout layout = Base(trace, {.memset = true, .memory = true});
  layout.options.trim = Span{100, 150};
  AddExtras(trace, layout);
  const std::string memset = kDevice0 + "CUDA HW Context 1 / Stream 7 / Memset | ";
  const std::string memory = kDevice0 + "GPU Memory / Device (bytes) | ";
  EXPECT_THAT(Lines(layout), ElementsAre(memset + "99-101 CUDA Memset bytes=2 value=0",
                                         memset + "149-190 CUDA Memset bytes=3 value=0",
                                         memory + "100: 120", memory + "120: 150"));
}

TEST(Extras, MetricsOfTheGpuOfADevice) {
  const Trace trace =
      TraceBuilder()
          .GpuInfo(0, {.id = 5})
          .GpuInfo(1, {.id = 4})
          .MetricName({.type = 0x304, .metric = 1, .source = "GPU 4", .name = "SMs"})
          .Metric({.at_ns = 110, .value = 40, .type = 0x304, .metric = 1})
          .Metric({.at_ns = 120, .value = 50, .type = 0x304, .metric = 1})
          .Metric({.at_ns = 120, .value = 3, .type = 0x305, .metric = 2})
          .Metric({.at_ns = 120, .value = 9, .type = 0x307, .metric = 2})
          .Build();
  Layout layout = Base(trace, {.metrics = true}, {0, 1});
  AddExtras(trace, layout);
  const std::string device1 = "CUDA Device 1 / Source PID 100 | ";
  EXPECT_THAT(Lines(layout), ElementsAre(kDevice0 + "Metric 2 | 120: 3", device1 + "SMs | 110: 40",
                                         device1 + "SMs | 120: 50"));
  EXPECT_THAT(layout.warnings,
              ElementsAre("GPU metrics of source 775: no device of the trace is known to be that "
                          "GPU; left out"));
}

TEST(Extras, AloneTheyMakeTheOrigin) {
  const Trace trace = TraceBuilder().Memset({.start_ns = 1000, .end_ns = 1010}).Build();
  Layout layout;
  layout.options.extras.memset = true;
  AddExtras(trace, layout);
  EXPECT_EQ(layout.origin_ns, 1000);
  EXPECT_EQ(layout.last_ns, 1010);
  EXPECT_EQ(layout.groups.size(), 1U);
}

// Slices of a track never cross, lie by (track, start, end), and none is lost.
TEST(Extras, RandomMemsets) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    std::mt19937 random(seed);
    TraceBuilder builder;
    for (int i = 0; i < 40; ++i) {
      const auto start = static_cast<int64_t>(100 + random() % 50);
      builder.Memset({.start_ns = start,
                      .end_ns = start + static_cast<int64_t>(random() % 6),
                      .stream = static_cast<int64_t>(random() % 3),
                      .device = static_cast<int64_t>(random() % 2)});
    }
    const Trace trace = builder.Build();
    Layout layout = Base(trace, {.memset = true}, {0, 1});
    AddExtras(trace, layout);
    EXPECT_EQ(layout.extra_slices.size(), 40U);
    for (size_t i = 1; i < layout.extra_slices.size(); ++i) {
      const ExtraSlice& before = layout.extra_slices[i - 1];
      const ExtraSlice& slice = layout.extra_slices[i];
      EXPECT_LE(before.track, slice.track);
      if (before.track == slice.track) {
        EXPECT_LE(before.end_ns, slice.start_ns);
      }
    }
  }
}

}  // namespace
}  // namespace nsys::perfetto
