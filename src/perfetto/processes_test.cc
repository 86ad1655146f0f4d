// SPDX-License-Identifier: MIT
#include "perfetto/processes.h"

#include "layout_test_util.h"
#include "perfetto/track_names.h"
#include "perfetto/tracks.h"

namespace nsys::perfetto {
namespace {

constexpr int64_t kPid10 = int64_t{10} << 24;
constexpr int64_t kHost1 = int64_t{1} << 48;
constexpr int64_t kHost2 = int64_t{2} << 48;

// A kernel for each process word and a call for each thread word, all with one correlation id.
Trace WithWords(const std::vector<std::optional<int64_t>>& kernels,
                const std::vector<int64_t>& calls) {
  Trace trace = TraceBuilder().Build();
  for (const auto& word : kernels) {
    trace.lanes.push_back({.device = 0, .stream = 7, .global_pid = word, .context = 1});
  }
  std::sort(trace.lanes.begin(), trace.lanes.end());
  for (uint32_t lane = 0; lane < trace.lanes.size(); ++lane) {
    trace.kernels.start_ns.push_back(1000 + lane);
    trace.kernels.end_ns.push_back(1100 + lane);
    trace.kernels.lane.push_back(LaneId{lane});
    trace.kernels.correlation.push_back(1);
  }
  for (uint32_t thread = 0; thread < calls.size(); ++thread) {
    trace.threads.push_back({.global_tid = calls[thread]});
    trace.calls.start_ns.push_back(500 + thread);
    trace.calls.end_ns.push_back(510 + thread);
    trace.calls.thread.push_back(ThreadId{thread});
    trace.calls.correlation.push_back(1);
    trace.calls.name.push_back(StringId::kNone);
  }
  return trace;
}

TEST(ProcessesTest, EqualPidsOfTwoHostsStayApart) {
  const Trace trace =
      WithWords({kHost1 | kPid10, kHost2 | kPid10}, {kHost1 | kPid10 | 10, kHost2 | kPid10 | 10});
  const Layout layout = LayoutOf(trace);
  ASSERT_EQ(layout.groups.size(), 2U);
  EXPECT_EQ(layout.groups[0].name, layout.groups[1].name);
  EXPECT_EQ(layout.groups[0].global_pid, kHost1 | kPid10);
  EXPECT_EQ(layout.groups[1].global_pid, kHost2 | kPid10);
  EXPECT_EQ(layout.kernel_call, (std::vector<uint32_t>{0, 1}));
}

TEST(ProcessesTest, OnePidWrittenInTwoWaysIsOneProcess) {
  const Trace trace = WithWords({kPid10}, {kHost1 | kPid10 | 10});
  const Layout layout = LayoutOf(trace);
  ASSERT_EQ(layout.groups.size(), 1U);
  EXPECT_EQ(layout.groups[0].pid, 10);
  EXPECT_EQ(layout.kernel_call[0], 0U);
}

TEST(ProcessesTest, AKernelWithoutAProcessBelongsToTheOnlyOneWithItsId) {
  const Layout one = LayoutOf(WithWords({std::nullopt}, {kHost1 | kPid10 | 10}));
  ASSERT_EQ(one.groups.size(), 1U);
  EXPECT_EQ(one.groups[0].pid, 10);
  EXPECT_EQ(one.kernel_call[0], 0U);
  const Layout two = LayoutOf(
      WithWords({std::nullopt}, {kHost1 | kPid10 | 10, kHost1 | (int64_t{11} << 24) | 11}));
  EXPECT_EQ(two.kernel_call[0], kNoCall);
  EXPECT_EQ(two.groups[two.tracks[two.kernel_stream_track[0]].group].pid, 0);
}

TEST(ProcessesTest, UnknownPartsOfALaneHaveNumbers) {
  Trace trace = WithWords({kPid10}, {});
  trace.lanes[0] = {.global_pid = kPid10};
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(Where(layout, layout.kernel_stream_track[0]),
            "CUDA Device -1 / Source PID 10 | CUDA HW Context 0 / Stream 0");
}

TEST(TracksTest, GroupsAreAddedInTheirPlace) {
  Layout layout = LayoutOf(WithWords({kHost1 | kPid10}, {}));
  const std::string before = Where(layout, layout.kernel_stream_track[0]);
  EXPECT_EQ(FindOrAddGroup(layout, kHost1 | kPid10, 0), 0U);
  EXPECT_EQ(FindOrAddGroup(layout, int64_t{9} << 24, 3), 0U);
  EXPECT_EQ(GroupNames(layout), (std::vector<std::string>{"CUDA Device 3 / Source PID 9",
                                                          "CUDA Device 0 / Source PID 10"}));
  EXPECT_EQ(Where(layout, layout.kernel_stream_track[0]), before);
  EXPECT_EQ(layout.groups[1].sort_index, -9'999);
}

TEST(TracksTest, NamesWithoutLane) {
  EXPECT_EQ(WithoutLane("CUDA API 7" + LaneSuffix(11)), "CUDA API 7");
  EXPECT_EQ(WithoutLane("CUDA API 7 / Lane 12"), "CUDA API 7");
  EXPECT_EQ(WithoutLane("CUDA API 7 / Lane "), "CUDA API 7 / Lane ");
  EXPECT_EQ(WithoutLane("a / Lane x"), "a / Lane x");
  EXPECT_EQ(WithoutLane("a"), "a");
}

TEST(TracksTest, NamesOfTheCaptureAreDetails) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
      .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
      .NameThread("trainer", {})
      .NameProcess("/usr/bin/python3")
      .GpuInfo(0, {.id = 4, .name = "NVIDIA H100"});
  const Layout layout = LayoutOf(builder.Build());
  EXPECT_EQ(layout.groups[0].detail, "/usr/bin/python3, NVIDIA H100");
  EXPECT_EQ(layout.tracks.back().name, "CUDA API 100 / Lane 1");
  EXPECT_EQ(layout.tracks.back().detail, "trainer");
}

TEST(TracksTest, TracksDrawnOnRequestHaveDetailsToo) {
  TraceBuilder builder;
  builder.OsCall("poll", {.start_ns = 10, .end_ns = 20})
      .NameThread("trainer", {})
      .NameProcess("/usr/bin/python3");
  const Trace trace = builder.Build();
  const auto layout = MakeLayout(trace, {.extras = {.osrt = true}});
  ASSERT_TRUE(layout.ok());
  EXPECT_EQ(layout.value().groups[0].detail, "/usr/bin/python3");
  EXPECT_EQ(layout.value().tracks[0].name, "OS Runtime 100");
  EXPECT_EQ(layout.value().tracks[0].detail, "trainer");
}

}  // namespace
}  // namespace nsys::perfetto
