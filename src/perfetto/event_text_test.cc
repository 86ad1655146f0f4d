// SPDX-License-Identifier: MIT
#include "perfetto/event_text.h"

#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "layout_builder.h"
#include "perfetto/copy_kinds.h"
#include "trace_builder.h"

namespace nsys::perfetto {
namespace {

// The value of a key, as it stands; empty when there is no such key.
std::string Value(const std::string& args, const std::string& key) {
  const size_t at = args.find("\"" + key + "\":");
  if (at == std::string::npos) {
    return "";
  }
  size_t end = at + key.size() + 3;
  const size_t begin = end;
  bool in_string = false;
  for (; in_string || (args[end] != ',' && args[end] != '}'); ++end) {
    if (args[end] == '\\') {
      ++end;
    } else if (args[end] == '"') {
      in_string = !in_string;
    }
  }
  return args.substr(begin, end - begin);
}

template <typename Put>
std::string Written(const Put& put) {
  std::string text;
  {
    TextWriter out(text);
    put(out);
  }
  return text;
}

std::string KernelArgs(const Trace& trace, const Layout& layout) {
  return Written([&](TextWriter& out) { EventText(trace, layout).PutKernelArgs(out, 0); });
}

std::string CallId(const Trace& trace, const Layout& layout, uint32_t call) {
  return Written([&](TextWriter& out) { EventText(trace, layout).PutCallId(out, call); });
}

std::string RangeArgs(const Trace& trace, const Layout& layout, uint32_t row) {
  return Written(
      [&](TextWriter& out) { EventText(trace, layout).PutRangeArgs(out, row, layout.tracks[0]); });
}

// A trace of one kernel on one stream.
struct OneKernel {
  OneKernel()
      : trace(TraceBuilder().Kernel("short", {.start_ns = 10, .end_ns = 20}).Build()),
        builder(trace) {
    builder.Group(100, 0);
    builder.Track(TrackKind::kStream, 0, {});
    builder.Kernel(0, 0, 0);
  }
  Trace trace;
  LayoutBuilder builder;
};

TEST(EventTextTest, KernelNamesAreAsWished) {
  OneKernel one;
  Trace& trace = one.trace;
  trace.kernels.demangled_name = {trace.strings.Intern("ns::f<\"1\">(int)")};
  trace.kernels.mangled_name = {trace.strings.Intern("_Zf")};
  Options options;
  EXPECT_EQ(KernelName(trace, options, 0), "short");
  EXPECT_EQ(OtherKernelName(trace, options, 0), "ns::f<\"1\">(int)");
  EXPECT_EQ(Value(KernelArgs(trace, one.builder.layout), "demangledName"),
            "\"ns::f<\\\"1\\\">(int)\"");
  options.kernel_naming = KernelNaming::kMangled;
  EXPECT_EQ(KernelName(trace, options, 0), "_Zf");
  options.kernel_naming = KernelNaming::kDemangled;
  EXPECT_EQ(KernelName(trace, options, 0), "ns::f<\"1\">(int)");
  EXPECT_EQ(OtherKernelName(trace, options, 0), "");
  one.builder.layout.options.kernel_naming = KernelNaming::kDemangled;
  EXPECT_EQ(Value(KernelArgs(trace, one.builder.layout), "demangledName"), "");
  trace.kernels.mangled_name.clear();  // not told: the name of the table
  options.kernel_naming = KernelNaming::kMangled;
  EXPECT_EQ(KernelName(trace, options, 0), "short");
}

TEST(EventTextTest, KernelArgsThatAreNotAlwaysThere) {
  OneKernel one;
  one.trace.kernels.shape.clear();  // a capture that does not tell
  const std::string plain = KernelArgs(one.trace, one.builder.layout);
  EXPECT_EQ(plain,
            R"({"NVTXRegions":[],"contextId":0,"correlationId":null,"deviceId":0,)"
            R"("eventId":"r:cuda:100:0:0:0:1","gpuDurationNs":10,"gpuEndNs":20,"gpuStartNs":10,)"
            R"("launchEventId":null,"sourceProcessId":100,"streamId":0,"streamSequence":1})");
  one.trace.kernels.graph = {{.graph = 4, .node = 9}};
  one.trace.kernels.recorded_end_ns = {7};
  one.builder.layout.region_names = {StringId::kNone, one.trace.strings.Intern("a\\")};
  one.builder.layout.region_sets = {{}, {.begin = 0, .count = 2, .cut = 3}};
  one.builder.layout.kernel_regions = {1};
  EXPECT_EQ(KernelArgs(one.trace, one.builder.layout),
            R"({"NVTXRegions":["NVTX","a\\"],"NVTXRegionsTruncated":3,"contextId":0,)"
            R"("correlationId":null,"deviceId":0,"eventId":"r:cuda:100:0:0:0:1",)"
            R"("gpuDurationNs":10,"gpuEndNs":20,"gpuStartNs":10,"graphId":4,"graphNodeId":9,)"
            R"("launchEventId":null,"recordedEndNs":7,"sourceProcessId":100,"streamId":0,)"
            R"("streamSequence":1})");
}

TEST(EventTextTest, CallsAreNamedByWhyTheyAreDrawn) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 10, .end_ns = 20})
                          .Call("cudaLaunchKernel", {.start_ns = 1, .correlation = 5, .tid = 7})
                          .Call("cudaDeviceSynchronize_v3020", {.start_ns = 2, .correlation = 6})
                          .Call("cudaStreamSynchronized", {.start_ns = 3, .correlation = 7})
                          .Build();
  LayoutBuilder builder(trace, "a\"b");
  builder.layout.kernel_call[0] = 0;
  EXPECT_EQ(CallId(trace, builder.layout, 0), R"(a\"b:cuda_api:100:7:5:0)");
  EXPECT_EQ(CallId(trace, builder.layout, 1), R"(a\"b:cuda_api_sync:100:100:6:1)");
  builder.layout.options.api_scope = ApiScope::kAll;
  EXPECT_EQ(CallId(trace, builder.layout, 1), R"(a\"b:cuda_api_sync:100:100:6:1)");
  EXPECT_EQ(CallId(trace, builder.layout, 2), R"(a\"b:cuda_api_unlinked:100:100:7:2)");

  const Trace alone =
      TraceBuilder().Call("cudaDeviceSynchronize", {.start_ns = 1, .correlation = 5}).Build();
  EXPECT_EQ(CallId(alone, LayoutBuilder(alone).layout, 0), "r:cuda_api_unlinked:100:100:5:0");
}

TEST(EventTextTest, RangesSayWhatTheyCarry) {
  Trace trace = TraceBuilder()
                    .Range("NCCL", {.domain = 3, .type = 75})
                    .Range("my \"category\"", {.domain = 3, .type = 33})
                    .Range("a", {.start_ns = 10, .end_ns = 10, .domain = 3})
                    .Range("b", {.start_ns = 20, .end_ns = 30, .domain = 4})
                    .Range("c", {.start_ns = 40, .end_ns = 50, .pid = 200, .domain = 3})
                    .Range("m", {.start_ns = 60, .end_ns = 60, .type = 34})
                    .Build();
  trace.nvtx_attributes = {{.category = 8},
                           {.category = 8, .color = 0xFF00AB01U, .payload = int64_t{-5}},
                           {.category = 0, .payload = std::string("x\xff\"")},
                           {.payload = std::nan("")},
                           {.payload = uint64_t{18446744073709551615U}}};
  trace.nvtx.attributes = {kNoAttributes, 0, 1, 1, 2, 3};
  trace.nvtx.open = {1, 1, 1, 0, 0, 1};
  LayoutBuilder builder(trace);
  builder.Group(100, 0);
  builder.Track(TrackKind::kNvtxThread, 0, {.source_tid = 6});
  const std::string end = R"(,"sourcePid":100,"sourceTid":6,"timestampRepaired":false})";
  EXPECT_EQ(RangeArgs(trace, builder.layout, 2),
            R"({"category":"my \"category\"","color":"#FF00AB01","deviceId":0,"domain":"NCCL",)"
            R"("open":true,"payload":-5)" +
                end);
  // No names in that domain, and none in the process of the other range.
  EXPECT_EQ(RangeArgs(trace, builder.layout, 3),
            R"({"category":8,"color":"#FF00AB01","deviceId":0,"domain":4,"payload":-5)" + end);
  EXPECT_EQ(RangeArgs(trace, builder.layout, 4), R"({"deviceId":0,"domain":3,"payload":"x)"
                                                 "\xef\xbf\xbd"
                                                 R"(\"")" +
                                                     end);
  EXPECT_EQ(RangeArgs(trace, builder.layout, 5), R"({"deviceId":0,"payload":"NaN")" + end);
  trace.nvtx.attributes[5] = 4;
  trace.nvtx.recorded_end_ns = {0, 0, 10, 30, 50, 55};
  EXPECT_EQ(RangeArgs(trace, builder.layout, 5),
            R"({"deviceId":0,"payload":18446744073709551615,"recordedEndNs":55)" + end);
  trace.nvtx.attributes.clear();
  trace.nvtx.recorded_end_ns.clear();
  EXPECT_EQ(RangeArgs(trace, builder.layout, 5), R"({"deviceId":0)" + end);
}

TEST(EventTextTest, RepairedRangesSaySo) {
  const Trace trace = TraceBuilder().Range("a", {.start_ns = 10, .end_ns = 20}).Build();
  LayoutBuilder builder(trace);
  builder.Group(100, 0);
  builder.Track(TrackKind::kNvtxThread, 0, {});
  EXPECT_EQ(Value(RangeArgs(trace, builder.layout, 0), "timestampRepaired"), "false");
  builder.layout.repaired = {{.row = 0, .start_ns = 1, .end_ns = 2}};
  EXPECT_EQ(Value(RangeArgs(trace, builder.layout, 0), "timestampRepaired"), "true");
}

TEST(EventTextTest, KindsOfCopiesAndMemory) {
  const char* const directions[] = {"Unknown", "H2D",         "D2H",         "H2A",        "A2H",
                                    "A2A",     "A2D",         "D2A",         "D2D",        "H2H",
                                    "P2P",     "Unified H2D", "Unified D2H", "Unified D2D"};
  for (int32_t kind = 0; kind < 14; ++kind) {
    EXPECT_EQ(CopyDirection(kind), directions[kind]);
    EXPECT_EQ(CopyName(kind), std::string("CUDA Memcpy ") + directions[kind]);
  }
  for (const int32_t kind : {-1, 14, 99}) {
    EXPECT_EQ(CopyDirection(kind), "Unknown");
    EXPECT_EQ(CopyDirectionKey(kind), "unknown");
  }
  EXPECT_EQ(CopyDirectionKey(12), "unified_d2h");
  EXPECT_EQ(MemoryKindName(0), "Pageable");
  EXPECT_EQ(MemoryKindName(6), "Managed Static");
  EXPECT_EQ(MemoryKindName(7), "Unknown");
  EXPECT_EQ(MemoryKindName(kNoMemoryKind), "Unknown");
}

TEST(EventTextTest, BandwidthOfACopyWithoutLengthIsZero) {
  const Trace trace = TraceBuilder()
                          .Copy({.start_ns = 10, .end_ns = 10, .bytes = 5})
                          .Copy({.start_ns = 20, .end_ns = 24, .bytes = 6})
                          .Build();
  EXPECT_EQ(CopyBandwidth(trace, 0), 0);
  EXPECT_EQ(CopyBandwidth(trace, 1), 1.5);
}

}  // namespace
}  // namespace nsys::perfetto
