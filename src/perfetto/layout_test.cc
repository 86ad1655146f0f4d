// SPDX-License-Identifier: MIT
// Where rows of small traces go.
#include "layout_test_util.h"

namespace nsys::perfetto {
namespace {

using Texts = std::vector<std::string>;

TEST(LayoutTest, OneLaunchHasItsTracksInOrder) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
                          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
                          .Range("r", {.start_ns = 400, .end_ns = 700})
                          .Build();
  const Layout layout = LayoutOf(trace);
  ASSERT_EQ(GroupNames(layout), (Texts{"CUDA Device 0 / Source PID 100"}));
  EXPECT_EQ(layout.groups[0].sort_index, -10'000);
  Texts names;
  std::vector<int64_t> tids;
  for (const Track& track : layout.tracks) {
    names.push_back(track.name);
    tids.push_back(track.tid);
  }
  EXPECT_EQ(names, (Texts{"CUDA HW Context 1 / Stream 7", "CUDA Core Timeline", "NVTX Kernel 100",
                          "CUDA API 100 / Lane 1", "NVTX Thread 100"}));
  EXPECT_EQ(tids,
            (std::vector<int64_t>{1, 400'000'000, 1'000'000'000, 1'100'000'000, 1'200'000'000}));
  EXPECT_EQ(layout.origin_ns, 400);
  EXPECT_EQ(layout.last_ns, 1100);
  EXPECT_EQ(layout.anchor_ns, 400);
  EXPECT_FALSE(layout.anchored);
  EXPECT_EQ(layout.kernel_sequence[0], 1U);
  EXPECT_EQ(layout.counts.linked_kernels, 1);
}

TEST(LayoutTest, TracksStandFromTheDeviceToTheThreads) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
                          .Copy({.start_ns = 1200, .end_ns = 1300, .kind = 1})
                          .Copy({.start_ns = 1400, .end_ns = 1500, .kind = 8})
                          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
                          .Range("r", {.start_ns = 400, .end_ns = 700})
                          .Range("s", {.start_ns = 400, .end_ns = 700, .type = kNvtxStartEnd})
                          .Range("t", {.start_ns = 400, .end_ns = 700, .tid = 200})
                          .Build();
  Layout layout = LayoutOf(trace);
  std::sort(layout.tracks.begin(), layout.tracks.end(),
            [](const Track& a, const Track& b) { return a.sort_index < b.sort_index; });
  Texts names;
  for (const Track& track : layout.tracks) {
    names.push_back(track.name);
  }
  EXPECT_EQ(names, (Texts{"CUDA Core Timeline", "PCIe Usage", "GPU Copy D2D",
                          "CUDA HW Context 1 / Stream 7", "NVTX Kernel 100", "NVTX Thread 100",
                          "CUDA API 100 / Lane 1", "NVTX Range Kernel 100", "NVTX Range 100",
                          "NVTX Kernel 200", "NVTX Thread 200"}));
}

TEST(LayoutTest, ProcessorRowsStandUnderTheDevicesOfTheirProcess) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1, .pid = 10})
          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .device = 1, .correlation = 2, .pid = 10})
          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 2, .pid = 10, .tid = 1})
          .Call("cudaDeviceSynchronize",
                {.start_ns = 600, .end_ns = 620, .correlation = 9, .pid = 10, .tid = 1})
          .Range("cpu only", {.start_ns = 100, .end_ns = 5000, .pid = 12, .tid = 1})
          .Range("projected", {.start_ns = 490, .end_ns = 530, .pid = 10, .tid = 1})
          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(GroupNames(layout),
            (Texts{"CUDA Device 0 / Source PID 10", "CUDA Device 1 / Source PID 10",
                   "CUDA Device 0 / Source PID 12", "CUDA Device 1 / Source PID 12"}));
  EXPECT_EQ(Wheres(layout, layout.call_slices),
            (Texts{"0: CUDA Device 1 / Source PID 10 | CUDA API 1 / Lane 1",
                   "1: CUDA Device 0 / Source PID 10 | CUDA API 1 / Lane 1",
                   "1: CUDA Device 1 / Source PID 10 | CUDA API 1 / Lane 1"}));
  EXPECT_EQ(Wheres(layout, layout.range_slices),
            (Texts{"0: CUDA Device 0 / Source PID 12 | NVTX Thread 1",
                   "0: CUDA Device 1 / Source PID 12 | NVTX Thread 1",
                   "1: CUDA Device 1 / Source PID 10 | NVTX Thread 1"}));
  EXPECT_EQ(layout.counts.calls, 2);
  EXPECT_EQ(layout.counts.sync_calls, 1);

  const Layout host = LayoutOf(trace, {.host_tracks = true});
  EXPECT_EQ(GroupNames(host), (Texts{"Host / Source PID 10", "CUDA Device 0 / Source PID 10",
                                     "CUDA Device 1 / Source PID 10", "Host / Source PID 12"}));
  EXPECT_EQ(Wheres(host, host.call_slices),
            (Texts{"0: Host / Source PID 10 | CUDA API 1 / Lane 1",
                   "1: Host / Source PID 10 | CUDA API 1 / Lane 1"}));
  EXPECT_EQ(Wheres(host, host.range_slices), (Texts{"0: Host / Source PID 12 | NVTX Thread 1",
                                                    "1: Host / Source PID 10 | NVTX Thread 1"}));
  EXPECT_EQ(Wheres(host, host.projections),
            (Texts{"1: CUDA Device 1 / Source PID 10 | NVTX Kernel 1"}));
}

TEST(LayoutTest, UnknownDevicesStandUnderMinusOne) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .device = -1})
                          .Kernel("k", {.start_ns = 1200, .end_ns = 1300})
                          .Call("cudaStreamSynchronize_v3020", {.start_ns = 600, .end_ns = 620})
                          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(Where(layout, layout.kernel_stream_track[0]),
            "CUDA Device -1 / Source PID 100 | CUDA HW Context 1 / Stream 7");
  EXPECT_EQ(Wheres(layout, layout.call_slices),
            (Texts{"0: CUDA Device 0 / Source PID 100 | CUDA API 100 / Lane 1"}));
}

TEST(LayoutTest, CopiesShowOnEveryDeviceTheyConcern) {
  const auto route = [](int32_t from, int32_t to) {
    return CopyRoute{.from_device = from, .to_device = to};
  };
  const Trace trace =
      TraceBuilder()
          .Copy({.start_ns = 100, .end_ns = 200, .kind = 1, .correlation = 1, .route = route(5, 1)})
          .Copy({.start_ns = 300, .end_ns = 400, .kind = 10, .route = route(0, 1)})
          .Copy({.start_ns = 500, .end_ns = 600, .kind = 9})
          .Copy({.start_ns = 700, .end_ns = 800, .kind = 8, .device = -1, .route = route(1, 2)})
          .Call("copy", {.start_ns = 10, .end_ns = 20, .correlation = 1})
          .Build();
  const Layout layout = LayoutOf(trace);
  Texts usage;
  for (const CopyUsage& slice : layout.copy_usage) {
    usage.push_back(std::to_string(slice.copy) + "/" + std::to_string(slice.device) + ": " +
                    layout.tracks[slice.track].name +
                    (slice.flow == kNone ? "" : " #" + std::to_string(slice.flow)));
  }
  EXPECT_EQ(usage, (Texts{"0/0: PCIe Usage #0", "0/1: PCIe Usage #1", "1/0: NVLink/P2P",
                          "1/1: NVLink/P2P", "3/1: GPU Copy D2D", "3/2: GPU Copy D2D"}));
  EXPECT_EQ(layout.copy_usage_begin, (std::vector<uint32_t>{0, 2, 4, 4, 6}));
  EXPECT_EQ(Where(layout, layout.copy_stream_track[3]),
            "CUDA Device 1 / Source PID 100 | CUDA HW Context 1 / Stream 7");
  EXPECT_EQ(layout.counts.copies, 4);
  EXPECT_EQ(layout.counts.h2d, 1);
  EXPECT_EQ(layout.counts.d2d, 1);
  EXPECT_EQ(layout.counts.other_copies, 2);
  EXPECT_EQ(layout.counts.usage_flows, 2);
}

TEST(LayoutTest, ArrayCopiesCountByTheirDirection) {
  TraceBuilder builder;
  for (int32_t kind = 0; kind < 15; ++kind) {
    builder.Copy({.start_ns = 100 * kind, .end_ns = 100 * kind + 50, .kind = kind});
  }
  const Layout layout = LayoutOf(builder.Build());
  EXPECT_EQ(layout.counts.copies, 15);
  EXPECT_EQ(layout.counts.h2d, 3);           // 1, 3, 11
  EXPECT_EQ(layout.counts.d2h, 3);           // 2, 4, 12
  EXPECT_EQ(layout.counts.d2d, 5);           // 5, 6, 7, 8, 13
  EXPECT_EQ(layout.counts.other_copies, 4);  // 0, 9, 10, 14
}

TEST(LayoutTest, OverlappingCopiesGetLanesOnUsageTracks) {
  const Layout layout =
      LayoutOf(TraceBuilder()
                   .Copy({.start_ns = 1000, .end_ns = 2000, .kind = 1})
                   .Copy({.start_ns = 1500, .end_ns = 2500, .kind = 2, .stream = 8})
                   .Build());
  EXPECT_EQ(layout.tracks[layout.copy_usage[0].track].name, "PCIe Usage");
  EXPECT_EQ(layout.tracks[layout.copy_usage[1].track].name, "PCIe Usage / Lane 2");
  EXPECT_EQ(layout.counts.stream_lanes, 0);
}

TEST(LayoutTest, ACallLaterThanItsKernelIsLinkedWithoutAnArrow) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
          .Copy({.start_ns = 900, .end_ns = 950, .correlation = 1})
          .Call("launch", {.start_ns = 990'000, .end_ns = 990'010, .correlation = 1})
          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(layout.kernel_call[0], 0U);
  EXPECT_FALSE(Layout::HasArrow(trace, layout.kernel_call[0], 1000));
  EXPECT_EQ(layout.counts.linked_kernels, 1);
  EXPECT_EQ(layout.counts.skewed_links, 2);
  EXPECT_EQ(layout.counts.usage_flows, 0);
}

TEST(LayoutTest, OfSeveralCallsTheNearestBeforeWins) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 100, .end_ns = 150, .correlation = 1})
                          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
                          .Kernel("k", {.start_ns = 9000, .end_ns = 9100, .correlation = 1})
                          .Kernel("none", {.start_ns = 9200, .end_ns = 9300})
                          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
                          .Call("launch", {.start_ns = 8000, .end_ns = 8020, .correlation = 1})
                          .Call("launch", {.start_ns = 8000, .end_ns = 8030, .correlation = 1})
                          .Call("no id", {.start_ns = 9100, .end_ns = 9110})
                          .Build();
  EXPECT_EQ(LayoutOf(trace).kernel_call, (std::vector<uint32_t>{0, 0, 1, kNoCall}));
}

// Two contexts use one id at the same time: threads that launch into them elsewhere tell which is
// whose.
TEST(LayoutTest, AThreadOfTheContextIsPreferred) {
  TraceBuilder builder;
  builder.Kernel("a", {.start_ns = 100, .end_ns = 110, .correlation = 1, .context = 1})
      .Call("launch", {.start_ns = 10, .end_ns = 11, .correlation = 1, .tid = 1})
      .Kernel("b", {.start_ns = 200, .end_ns = 210, .correlation = 2, .context = 2})
      .Call("launch", {.start_ns = 20, .end_ns = 21, .correlation = 2, .tid = 2})
      .Kernel("shared", {.start_ns = 1000, .end_ns = 1010, .correlation = 7, .context = 1})
      .Kernel("shared", {.start_ns = 1000, .end_ns = 1020, .correlation = 7, .context = 2})
      .Call("launch", {.start_ns = 900, .end_ns = 901, .correlation = 7, .tid = 1})
      .Call("launch", {.start_ns = 950, .end_ns = 951, .correlation = 7, .tid = 2});
  EXPECT_EQ(LayoutOf(builder.Build()).kernel_call, (std::vector<uint32_t>{0, 1, 2, 3}));
}

TEST(LayoutTest, OnlyTheTwoSynchronizingNamesAreDrawnUnlinked) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = 5000, .end_ns = 5100});
  int64_t start = 0;
  for (const char* name :
       {"cudaDeviceSynchronize", "cudaStreamSynchronize_ptsz_v7000", "cudaStreamSynchronized",
        "cudaEventSynchronize_v3020", "cuCtxSynchronize", "cudaMemcpy_v3020",
        "cudaMemcpyAsync_v3020", "cudaMalloc_v3020"}) {
    builder.Call(name, {.start_ns = start, .end_ns = start + 5});
    start += 10;
  }
  const Trace trace = builder.Build();
  const auto drawn = [&](ApiScope scope) {
    return LayoutOf(trace, {.api_scope = scope}).counts.calls;
  };
  EXPECT_EQ(drawn(ApiScope::kLinked), 2);
  EXPECT_EQ(drawn(ApiScope::kSyncWide), 5);
  EXPECT_EQ(drawn(ApiScope::kAll), 8);
  EXPECT_EQ(LayoutOf(trace).counts.sync_calls, 2);
}

TEST(LayoutTest, WithoutWorkAllCallsAreDrawn) {
  const Layout layout = LayoutOf(TraceBuilder()
                                     .Call("cudaMalloc", {.start_ns = 500, .end_ns = 600})
                                     .Call("cudaFree", {.start_ns = 510, .end_ns = 550})
                                     .Build());
  EXPECT_EQ(Wheres(layout, layout.call_slices),
            (Texts{"0: CUDA Device -1 / Source PID 100 | CUDA API 100 / Lane 1",
                   "1: CUDA Device -1 / Source PID 100 | CUDA API 100 / Lane 2"}));
}

TEST(LayoutTest, CrossingRangesOfAThreadGetLanes) {
  const Layout layout = LayoutOf(TraceBuilder()
                                     .Range("A", {.start_ns = 460, .end_ns = 540, .domain = 1})
                                     .Range("B", {.start_ns = 490, .end_ns = 610, .domain = 2})
                                     .Range("in B", {.start_ns = 500, .end_ns = 600, .domain = 2})
                                     .Range("tail", {.start_ns = 700, .end_ns = 800})
                                     .Build());
  const std::string thread = "CUDA Device -1 / Source PID 100 | NVTX Thread 100";
  EXPECT_EQ(Wheres(layout, layout.range_slices),
            (Texts{"0: " + thread, "1: " + thread + " / Lane 2", "2: " + thread + " / Lane 2",
                   "3: " + thread}));
}

TEST(LayoutTest, MarksOpenAndStartEndRangesHaveCountersOfTheirOwn) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
          .Range("open", {.start_ns = 100, .open = true})
          .Range("mark", {.start_ns = 450, .type = 34, .open = true})
          .Range("ok", {.start_ns = 450, .end_ns = 600})
          .Range("start-end", {.start_ns = 460, .end_ns = 650, .type = kNvtxStartEnd})
          .Range("a domain", {.start_ns = 1, .type = 75, .open = true})
          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(layout.counts.ranges, 1);
  EXPECT_EQ(layout.counts.open_ranges, 1);
  EXPECT_EQ(layout.counts.marks, 1);
  EXPECT_EQ(layout.counts.start_end_ranges, 1);
  EXPECT_EQ(layout.counts.projected_ranges, 1);
  EXPECT_EQ(layout.counts.projected_other_ranges, 2);
  EXPECT_EQ(layout.origin_ns, 100);
  EXPECT_EQ(layout.last_ns, 1100);
  EXPECT_EQ(layout.RangeSpan(trace, 1), (Span{100, 1100}));
  const std::string group = "CUDA Device 0 / Source PID 100 | ";
  EXPECT_EQ(Wheres(layout, layout.range_slices),
            (Texts{"1: " + group + "NVTX Thread 100", "2: " + group + "NVTX Thread 100",
                   "3: " + group + "NVTX Thread 100", "4: " + group + "NVTX Range 100"}));
  EXPECT_EQ(Wheres(layout, layout.projections),
            (Texts{"1: " + group + "NVTX Kernel 100", "3: " + group + "NVTX Kernel 100",
                   "4: " + group + "NVTX Range Kernel 100"}));
}

TEST(LayoutTest, RowsThatEndBeforeTheyStartAreCounted) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 1000, .end_ns = 900, .correlation = 1})
                          .Call("launch", {.start_ns = 500, .end_ns = 480, .correlation = 1})
                          .Range("r", {.start_ns = 490, .end_ns = 400})
                          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(layout.counts.clamped, 3);
  EXPECT_EQ(layout.counts.projected_ranges, 0);
  EXPECT_EQ(layout.origin_ns, 490);
  EXPECT_EQ(layout.warnings.back(), "3 rows ending before the start; drawn with no length");
}

TEST(LayoutTest, ATrimKeepsWholeWhatTouchesItAndWhatLaunchedIt) {
  const Trace trace = TraceBuilder()
                          .Kernel("before", {.start_ns = 100, .end_ns = 200, .correlation = 1})
                          .Kernel("inside", {.start_ns = 900, .end_ns = 1100, .correlation = 2})
                          .Call("launch", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                          .Call("launch", {.start_ns = 30, .end_ns = 40, .correlation = 2})
                          .Call("cudaDeviceSynchronize", {.start_ns = 50, .end_ns = 60})
                          .Range("launches", {.start_ns = 5, .end_ns = 45})
                          .Range("touches", {.start_ns = 1000, .end_ns = 3000})
                          .Build();
  const Layout layout = LayoutOf(trace, {.trim = Span{1000, 2000}});
  EXPECT_EQ(Where(layout, layout.kernel_stream_track[0]), "-");
  EXPECT_EQ(layout.kernel_core_track[0], kNone);
  EXPECT_NE(layout.kernel_stream_track[1], kNone);
  EXPECT_EQ(layout.kernel_sequence[1], 2U);  // ids do not depend on the trim
  const std::string group = "CUDA Device 0 / Source PID 100 | ";
  EXPECT_EQ(Wheres(layout, layout.call_slices), (Texts{"1: " + group + "CUDA API 100 / Lane 1"}));
  EXPECT_EQ(Wheres(layout, layout.range_slices), (Texts{"1: " + group + "NVTX Thread 100"}));
  EXPECT_EQ(Wheres(layout, layout.projections), (Texts{"0: " + group + "NVTX Kernel 100"}));
  EXPECT_EQ(layout.counts.kernels, 1);
  EXPECT_EQ(layout.counts.sync_calls, 0);
  const Result<Layout> nothing = MakeLayout(trace, {.trim = Span{5000, 6000}});
  ASSERT_FALSE(nothing.ok());
  EXPECT_EQ(nothing.error().code, ErrorCode::kTrimOutOfRange);
}

TEST(LayoutTest, TheMeasuredBatchIsTheAnchor) {
  const Layout layout =
      LayoutOf(TraceBuilder()
                   .Range("before", {.start_ns = 10, .end_ns = 20})
                   .Range("CriticalPath/MeasuredBatch/x/batch_1", {.start_ns = 50, .end_ns = 60})
                   .Range("CriticalPath/MeasuredBatch/x/batch_0", {.start_ns = 100, .end_ns = 200})
                   .Range("CriticalPath/MeasuredBatch//batch_0", {.start_ns = 300, .end_ns = 400})
                   .Build());
  EXPECT_TRUE(layout.anchored);
  EXPECT_EQ(layout.anchor_ns, 100);
  EXPECT_EQ(layout.origin_ns, 10);
}

TEST(LayoutTest, AbsentTablesAreToldInOrder) {
  Trace trace = TraceBuilder().Copy({.start_ns = 1, .end_ns = 2}).Build();
  trace.schema.resolved[static_cast<size_t>(TableId::kStringIds)].reset();
  const Layout layout = LayoutOf(trace);
  ASSERT_EQ(layout.warnings.size(), 4U);
  EXPECT_TRUE(layout.warnings[0].starts_with("no table StringIds: "));
  EXPECT_TRUE(layout.warnings[1].starts_with("no table CUPTI_ACTIVITY_KIND_KERNEL: "));
  EXPECT_TRUE(layout.warnings[2].starts_with("no table NVTX_EVENTS: "));
  EXPECT_TRUE(layout.warnings[3].starts_with("no table CUPTI_ACTIVITY_KIND_RUNTIME: "));
}

TEST(LayoutTest, AnEmptyTraceIsAnError) {
  const Result<Layout> layout = MakeLayout(TraceBuilder().Build(), {});
  ASSERT_FALSE(layout.ok());
  EXPECT_EQ(layout.error().code, ErrorCode::kProfile);
}

}  // namespace
}  // namespace nsys::perfetto
