// SPDX-License-Identifier: MIT
#include <algorithm>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json_trace_test_util.h"
#include "perfetto/flows.h"
#include "perfetto/json_trace.h"

namespace nsys::perfetto {
namespace {

// A call that launched a kernel: all that is said of both, byte for byte.
TEST(JsonFlowsTest, CallKernelAndArrows) {
  Small small(TraceBuilder()
                  .Kernel("k", {.start_ns = 5000, .end_ns = 6505, .correlation = 3, .context = 2})
                  .Call("launch", {.start_ns = 1000, .end_ns = 2000, .correlation = 3, .tid = 9})
                  .Build());
  small.layout().origin_ns = 1000;
  small.trace.kernels.shape = {{.grid = {4, 2, 1}, .block = {256, 1, 1}}};
  small.builder.Kernel(0, small.stream, small.core, 0);
  small.layout().call_slices = {{0, small.api}};
  const std::string h = std::to_string(FlowIds("r").Of(FlowKind::kKernel, 0));
  const std::string core = std::to_string(FlowIds("r").Of(FlowKind::kCore, 0));
  const std::string common =
      R"(,"pid":2000000000,"args":{"correlationId":3,"cpuCallEndNs":2000,"cpuCallStartNs":1000,)"
      R"("deviceId":0,"from":"r:cuda_api:100:9:3:0","gpuKernelEndNs":6505,)"
      R"("gpuKernelStartNs":5000,"kernelStartMinusApiEndUs":3.0,"launchLatencyUs":3.0,)"
      R"("streamId":7,)";
  const std::string to = R"("to":"r:cuda:100:0:2:7:1"},"id":)";
  const std::string target = R"("targetTrack":"CUDA Core Timeline",)";
  const std::string stream_flow =
      R"("name":"cuda_kernel_launch","ph":"@","cat":"cuda_launch_dependency","ts":)";
  const std::string core_flow =
      R"("name":"cuda_core_kernel_launch","ph":"@","cat":"cuda_core_launch_dependency","ts":)";
  const auto with = [](std::string text, char phase) {
    text[text.find('@')] = phase;
    return "{" + text;
  };
  EXPECT_THAT(
      EventsOf(JsonOf(small.trace, small.layout())),
      testing::ElementsAre(
          R"({"name":"launch","ph":"X","cat":"cuda_api","ts":0.0,"dur":1.0,"tid":1100000000,)"
          R"("pid":2000000000,"args":{"correlationId":3,"cpuDurationNs":1000,"cpuEndNs":2000,)"
          R"("cpuStartNs":1000,"deviceId":0,"eventId":"r:cuda_api:100:9:3:0"}})",
          with(stream_flow, 's') + R"(0.999,"tid":1100000000)" + common + to + h + "}",
          with(core_flow, 's') + R"(0.999,"tid":1100000000)" + common + target + to + core + "}",
          R"({"name":"k","ph":"X","cat":"cuda","ts":4.0,"dur":1.505,"tid":1,"pid":2000000000,)"
          R"("args":{"NVTXRegions":[],"block":[256,1,1],"contextId":2,"correlationId":3,)"
          R"("deviceId":0,"eventId":"r:cuda:100:0:2:7:1","gpuDurationNs":1505,"gpuEndNs":6505,)"
          R"("gpuStartNs":5000,"grid":[4,2,1],"launchEventId":"r:cuda_api:100:9:3:0",)"
          R"("sourceProcessId":100,"streamId":7,"streamSequence":1}})",
          R"({"name":"k","ph":"X","cat":"cuda_kernel_usage","ts":4.0,"dur":1.505,)"
          R"("tid":400000000,"pid":2000000000,"args":{"contextId":2,"correlationId":3,)"
          R"("deviceId":0,"eventId":"r:cuda:100:0:2:7:1","streamId":7}})",
          with(stream_flow, 'f') + R"(4.001,"tid":1)" + common + to + h + R"(,"bp":"e"})",
          with(core_flow, 'f') + R"(4.001,"tid":400000000)" + common + target + to + core +
              R"(,"bp":"e"})"));
}

TEST(JsonFlowsTest, CopyUsageAndArrows) {
  Small small(TraceBuilder()
                  .Copy({.start_ns = 100,
                         .end_ns = 300,
                         .bytes = 5,
                         .kind = 11,
                         .device = -1,
                         .correlation = 4,
                         .context = 2,
                         .from_memory = 0,
                         .to_memory = 2})
                  .Call("copy", {.start_ns = 90, .end_ns = 400, .correlation = 4, .tid = 9})
                  .Build());
  small.builder.Copy(0, {.stream_track = small.stream,
                         .call = 0,
                         .devices = {0, 1},
                         .usage = {{.track = small.usage, .device = 0, .flow = 6}}});
  small.layout().call_slices = {{0, small.api}};
  const std::string args =
      R"("args":{"activityDeviceId":-1,"bytes":5,"correlationId":4,"cpuCallEndNs":400,)"
      R"("cpuCallStartNs":90,"deviceId":0,"direction":"Unified H2D","displayDeviceIds":[0,1],)"
      R"("from":"r:cuda_api:100:9:4:0","gpuCopyEndNs":300,"gpuCopyStartNs":100,"streamId":7,)";
  const std::string to = R"("to":"r:cuda_memcpy:-1:2:7:0"},"id":)";
  const std::string id = std::to_string(FlowIds("r").Of(FlowKind::kCopy, 0));
  const std::string usage = std::to_string(FlowIds("r").Of(FlowKind::kUsage, 6));
  EXPECT_THAT(
      EventsOf(JsonOf(small.trace, small.layout())),
      testing::ElementsAre(
          testing::StartsWith(R"({"name":"copy","ph":"X","cat":"cuda_api","ts":0.09,"dur":0.31,)"),
          R"({"name":"cuda_memcpy_unified_h2d","ph":"s","cat":"cuda_memcpy_dependency",)"
          R"("ts":0.099,"tid":1100000000,"pid":2000000000,)" +
              args + to + id + "}",
          R"({"name":"pcie_usage_unified_h2d","ph":"s","cat":"pcie_usage_dependency",)"
          R"("ts":0.099,"tid":1100000000,"pid":2000000000,)" +
              args + R"("targetTrack":"PCIe Usage",)" + to + usage + "}",
          R"({"name":"CUDA Memcpy Unified H2D","ph":"X","cat":"cuda_memcpy","ts":0.1,"dur":0.2,)"
          R"("tid":1,"pid":2000000000,"args":{"activityDeviceId":-1,"bandwidthGBps":0.025,)"
          R"("bytes":5,"contextId":2,"copyCount":1,"copyKindId":11,"correlationId":4,)"
          R"("deviceId":0,"direction":"Unified H2D","displayDeviceIds":[0,1],)"
          R"("dstContextId":-1,"dstDeviceId":-1,"dstMemoryKind":"Device","dstMemoryKindId":2,)"
          R"("durationNs":200,"eventId":"r:cuda_memcpy:-1:2:7:0","gpuEndNs":300,)"
          R"("gpuStartNs":100,"graphNodeId":-1,"launchEventId":"r:cuda_api:100:9:4:0",)"
          R"("sourceProcessId":100,"srcContextId":-1,"srcDeviceId":-1,)"
          R"("srcMemoryKind":"Pageable","srcMemoryKindId":0,"streamId":7,)"
          R"("virtualAddress":"0"}})",
          R"({"name":"CUDA Memcpy Unified H2D","ph":"X","cat":"cuda_copy_usage","ts":0.1,)"
          R"("dur":0.2,"tid":500000000,"pid":2000000000,"args":{"bandwidthGBps":0.025,"bytes":5,)"
          R"("deviceId":0,"direction":"Unified H2D","eventId":"r:cuda_memcpy:-1:2:7:0"}})",
          R"({"name":"cuda_memcpy_unified_h2d","ph":"f","cat":"cuda_memcpy_dependency",)"
          R"("ts":0.101,"tid":1,"pid":2000000000,)" +
              args + to + id + R"(,"bp":"e"})",
          R"({"name":"pcie_usage_unified_h2d","ph":"f","cat":"pcie_usage_dependency",)"
          R"("ts":0.101,"tid":500000000,"pid":2000000000,)" +
              args + R"("targetTrack":"PCIe Usage",)" + to + usage + R"(,"bp":"e"})"));
}

// The moments of an arrow, for work of every short length and calls around it.
TEST(JsonFlowsTest, ArrowsEndInsideTheirSlices) {
  struct Case {
    int64_t call_start, call_end, start, end;
    const char* s;
    const char* f;
  };
  for (const Case& c : {Case{10, 20, 30, 40, "0.019", "0.031"},  // after the call
                        Case{10, 20, 15, 40, "0.014", "0.016"},  // during the call
                        Case{10, 20, 10, 40, "0.01", "0.011"},   // at its start
                        Case{10, 10, 10, 10, "0.01", "0.01"},    // all without length
                        Case{10, 10, 15, 40, "0.01", "0.016"},   // a call without length
                        Case{10, 20, 20, 21, "0.019", "0.02"},   // 1 ns of work
                        Case{10, 20, 20, 22, "0.019", "0.021"},  // 2 ns of work
                        Case{10, 20, 9, 30, "", ""}}) {          // skewed: no arrow
    Small small(TraceBuilder()
                    .Kernel("k", {.start_ns = c.start, .end_ns = c.end, .correlation = 1})
                    .Call("l", {.start_ns = c.call_start, .end_ns = c.call_end, .correlation = 1})
                    .Build());
    small.builder.Kernel(0, small.stream, small.core, 0);
    small.layout().call_slices = {{0, small.api}};
    std::string s;
    std::string f;
    std::string skew;
    for (const std::string& event : EventsOf(JsonOf(small.trace, small.layout()))) {
      (FieldOf(event, "ph") == "s"   ? s
       : FieldOf(event, "ph") == "f" ? f
                                     : skew) =
          FieldOf(event, FieldOf(event, "cat") == "cuda" ? "launchSkewNs" : "ts");
      if (FieldOf(event, "cat") == "cuda") {
        EXPECT_EQ(FieldOf(event, "launchEventId"), "r:cuda_api:100:100:1:0");
        EXPECT_EQ(FieldOf(event, "launchSkewNs"), c.s[0] == '\0' ? "1" : "");
      }
    }
    EXPECT_EQ(s, c.s) << c.call_start << " " << c.start;
    EXPECT_EQ(f, c.f) << c.call_start << " " << c.start;
  }
}

// The starts of the arrows of a call without length stand before the next call at the same moment.
TEST(JsonFlowsTest, ArrowsFollowTheirCallAtOnce) {
  Small small(TraceBuilder()
                  .Kernel("k", {.start_ns = 50, .end_ns = 60, .correlation = 1})
                  .Call("a", {.start_ns = 10, .end_ns = 10, .correlation = 1})
                  .Call("b", {.start_ns = 10, .end_ns = 20, .correlation = 2})
                  .Build());
  small.builder.Kernel(0, small.stream, small.core, 0);
  small.layout().call_slices = {{0, small.api}, {1, small.api}};
  const auto points = PointsOf(small.trace, small.layout());
  EXPECT_THAT(std::vector<std::string>(points.begin(), points.begin() + 4),
              testing::ElementsAre("X a 0.01", "s cuda_kernel_launch 0.01",
                                   "s cuda_core_kernel_launch 0.01", "X b 0.01"));
}

// A call drawn under two devices: each arrow leaves from the device of its work.
TEST(JsonFlowsTest, ArrowsLeaveUnderTheDeviceOfTheWork) {
  Small small(TraceBuilder()
                  .Kernel("k", {.start_ns = 50, .end_ns = 60, .correlation = 1})
                  .Kernel("m", {.start_ns = 70, .end_ns = 80, .device = 1, .correlation = 1})
                  .Call("a", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                  .Build());
  const uint32_t other = small.builder.Group(100, 1);
  const uint32_t stream = small.builder.Track(TrackKind::kStream, other, {.tid = 2});
  const uint32_t core = small.builder.Track(TrackKind::kCore, other, {.tid = 400000001});
  const uint32_t api = small.builder.Track(TrackKind::kApi, other, {.tid = 1100000001});
  small.builder.Kernel(0, small.stream, small.core, 0).Kernel(1, stream, core, 0);
  small.layout().call_slices = {{0, small.api}, {0, api}};
  const auto places = [&] {
    std::vector<std::string> result;
    for (const std::string& event : EventsOf(JsonOf(small.trace, small.layout()))) {
      if (FieldOf(event, "name") == "cuda_kernel_launch") {
        result.push_back(FieldOf(event, "ph") + FieldOf(event, "tid") + FieldOf(event, "to"));
      }
    }
    return result;
  };
  EXPECT_THAT(places(),
              testing::ElementsAre("s1100000000r:cuda:100:0:2:7:1", "s1100000001r:cuda:100:1:0:0:1",
                                   "f1r:cuda:100:0:2:7:1", "f2r:cuda:100:1:0:0:1"));
  // On the processor side of the process, both leave from the one slice.
  small.layout().groups[0].host = true;
  small.layout().call_slices = {{0, small.api}};
  EXPECT_EQ(places()[0], "s1100000000r:cuda:100:0:2:7:1");
  EXPECT_EQ(places()[1], "s1100000000r:cuda:100:1:0:0:1");
}

TEST(JsonFlowsTest, GraphArrowsCanBeCutToTheFirst) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 5; ++i) {
    builder.Kernel("k", {.start_ns = 50 + 10 * i, .end_ns = 60 + 10 * i, .correlation = 1});
  }
  Small small(builder.Call("g", {.start_ns = 10, .end_ns = 20, .correlation = 1}).Build());
  for (uint32_t i = 1; i < 5; ++i) {  // the first is not drawn
    small.builder.Kernel(i, small.stream, small.core, 0);
  }
  small.layout().kernel_call[0] = 0;
  small.layout().call_slices = {{0, small.api}};
  const auto count = [&](const std::string& phase) {
    int found = 0;
    for (const std::string& event : EventsOf(JsonOf(small.trace, small.layout()))) {
      found += FieldOf(event, "ph") == phase ? 1 : 0;
    }
    return found;
  };
  EXPECT_EQ(count("s"), 8);
  EXPECT_EQ(count("f"), 8);
  small.layout().options.graph_flows = GraphFlows::kFirst;
  EXPECT_EQ(count("s"), 2);
  EXPECT_EQ(count("f"), 2);
}

TEST(FlowIdsTest, KindsAndReportsDifferBelow53Bits) {
  std::vector<uint64_t> ids;
  for (const char* report : {"", "a", "b", "a long name of a report"}) {
    for (const FlowKind kind :
         {FlowKind::kKernel, FlowKind::kCopy, FlowKind::kCore, FlowKind::kUsage}) {
      for (const uint32_t index : {0U, 1U, 0xFFFFFFFFU}) {
        ids.push_back(FlowIds(report).Of(kind, index));
        EXPECT_LT(ids.back(), uint64_t{1} << 53);
        EXPECT_GT(ids.back(), 0U);
      }
    }
  }
  std::sort(ids.begin(), ids.end());
  EXPECT_EQ(std::adjacent_find(ids.begin(), ids.end()), ids.end());
}

}  // namespace
}  // namespace nsys::perfetto
