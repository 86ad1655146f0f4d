// SPDX-License-Identifier: MIT
#include "perfetto/json_trace.h"

#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "json_trace_test_util.h"

namespace nsys::perfetto {
namespace {

TEST(JsonTraceTest, MetadataComesFirstAndTheArrayIsOneLine) {
  Small small(TraceBuilder().Build(), "a\"b");
  small.layout().tracks.resize(1);
  small.layout().tracks[0].detail = "main";
  small.layout().groups[0].name = "back\\slash";
  EXPECT_EQ(JsonOf(small.trace, small.layout()),
            R"([{"name":"process_name","ph":"M","cat":"__metadata","ts":0.0,"tid":0,)"
            R"("pid":2000000000,"args":{"name":"back\\slash"}},)"
            R"({"name":"process_sort_index","ph":"M","cat":"__metadata","ts":0.0,"tid":0,)"
            R"("pid":2000000000,"args":{"sort_index":-10000}},)"
            R"({"name":"thread_name","ph":"M","cat":"__metadata","ts":0.0,"tid":1,)"
            R"("pid":2000000000,"args":{"detail":"main","name":"S"}},)"
            R"({"name":"thread_sort_index","ph":"M","cat":"__metadata","ts":0.0,"tid":1,)"
            R"("pid":2000000000,"args":{"sort_index":1}}])"
            "\n");
}

TEST(JsonTraceTest, EmptyLayoutIsAnEmptyArray) {
  const Trace trace = TraceBuilder().Build();
  EXPECT_EQ(JsonOf(trace, LayoutBuilder(trace).layout), "[]\n");
}

TEST(JsonTraceTest, WorkIsInOrderOfTimeKernelsBeforeCopies) {
  Small small(TraceBuilder()
                  .Kernel("a", {.start_ns = 10, .end_ns = 20})
                  .Kernel("b", {.start_ns = 20, .end_ns = 30})
                  .Kernel("c", {.start_ns = 20, .end_ns = 40})
                  .Copy({.start_ns = 5, .end_ns = 30, .kind = 1})
                  .Copy({.start_ns = 20, .end_ns = 30, .kind = 2})
                  .Copy({.start_ns = 50, .end_ns = 51, .kind = 8})
                  .Copy({.start_ns = 60, .end_ns = 61, .kind = 8})
                  .Build());
  for (uint32_t row = 0; row < 3; ++row) {
    small.builder.Kernel(row, small.stream, small.core);
    small.builder.Copy(row, {.stream_track = small.stream});
  }  // the last copy is not drawn
  std::vector<std::string> names;
  for (const std::string& event : EventsOf(JsonOf(small.trace, small.layout()))) {
    if (FieldOf(event, "cat") != "cuda_kernel_usage") {
      names.push_back(FieldOf(event, "name"));
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("CUDA Memcpy H2D", "a", "b", "CUDA Memcpy D2H", "c",
                                          "CUDA Memcpy D2D"));
}

TEST(JsonTraceTest, RangesAreAStackAtEveryMoment) {
  Small small(TraceBuilder()
                  .Range("short", {.start_ns = 0, .end_ns = 10})
                  .Range("outer", {.start_ns = 0, .end_ns = 30})
                  .Range("zero", {.start_ns = 10, .end_ns = 10})
                  .Range("twin1", {.start_ns = 10, .end_ns = 30})
                  .Range("twin2", {.start_ns = 10, .end_ns = 30})
                  .Range("mark", {.start_ns = 30, .end_ns = 30, .type = 34})
                  .Build());
  for (uint32_t row = 0; row < 6; ++row) {
    small.layout().range_slices.push_back({row, small.nvtx});
  }
  EXPECT_THAT(PointsOf(small.trace, small.layout()),
              testing::ElementsAre("B outer 0.0", "B short 0.0", "E short 0.01", "B twin1 0.01",
                                   "B twin2 0.01", "X zero 0.01", "E twin2 0.03", "E twin1 0.03",
                                   "E outer 0.03", "i mark 0.03"));
}

TEST(JsonTraceTest, RangesSayWhatTheyAre) {
  Small small(TraceBuilder()
                  .Range("a\n\"b\"", {.start_ns = 2000, .end_ns = 3000})
                  .Range("m", {.start_ns = 2500, .end_ns = 2500, .type = 34})
                  .Build());
  small.layout().range_slices = {{0, small.nvtx}, {1, small.nvtx}};
  small.layout().projections = {{0, small.projected, 4000, 5001}};
  const std::string args = R"("pid":2000000000,"args":{"deviceId":0,"sourcePid":100,"sourceTid":9,)"
                           R"("timestampRepaired":false})";
  const std::string name = R"({"name":"a\n\"b\"","ph":)";
  EXPECT_THAT(
      EventsOf(JsonOf(small.trace, small.layout())),
      testing::ElementsAre(
          name + R"("B","cat":"nvtx-kernel","ts":4.0,"tid":1000000000,)" + args + "}",
          name + R"("E","cat":"nvtx-kernel","ts":5.001,"tid":1000000000,)" + args + "}",
          name + R"("B","cat":"nvtx","ts":2.0,"tid":1200000000,)" + args + "}",
          R"({"name":"m","ph":"i","cat":"nvtx","ts":2.5,"tid":1200000000,)" + args + R"(,"s":"t"})",
          name + R"("E","cat":"nvtx","ts":3.0,"tid":1200000000,)" + args + "}"));
}

TEST(JsonTraceTest, ExtrasAndCounters) {
  Small small(TraceBuilder().Build());
  Layout& layout = small.layout();
  const uint32_t osrt = small.builder.Track(TrackKind::kOsrt, 0, {.tid = 1500000000});
  const uint32_t counter =
      small.builder.Track(TrackKind::kCounter, 0, {.tid = 1500000001, .name = "SM \"busy\""});
  const uint32_t hidden =
      small.builder.Track(TrackKind::kCounter, 0, {.tid = 1500000002, .name = "hidden"});
  layout.tracks[hidden].proto_only = true;
  layout.texts = {"poll", "a", "b\\", "text\t"};
  layout.extra_args = {{.key = 1, .value = -4}, {.key = 2, .is_text = true, .value = 3}};
  layout.extra_slices = {
      {.start_ns = 5, .end_ns = 1005, .track = osrt, .name = 0, .first_arg = 0, .arg_count = 2},
      {.start_ns = 5000, .end_ns = 5000, .track = osrt, .name = 0}};
  layout.counter_samples = {{.time_ns = 7, .track = counter, .value = 88},
                            {.time_ns = 8, .track = hidden, .value = 1}};
  const auto json = JsonOf(small.trace, layout);
  EXPECT_EQ(json.find("hidden"), std::string::npos);
  EXPECT_THAT(EventsOf(json),
              testing::ElementsAre(
                  R"({"name":"poll","ph":"X","cat":"osrt","ts":0.005,"dur":1.0,"tid":1500000000,)"
                  R"("pid":2000000000,"args":{"a":-4,"b\\":"text\t"}})",
                  R"({"name":"poll","ph":"X","cat":"osrt","ts":5.0,"dur":0.0,"tid":1500000000,)"
                  R"("pid":2000000000,"args":{}})",
                  R"({"name":"SM \"busy\"","ph":"C","cat":"counter","ts":0.007,"tid":1500000001,)"
                  R"("pid":2000000000,"args":{"value":88}})"));
}

// Random ranges that nest, random work and graph launches: the same bytes however it is cut.
TEST(JsonTraceTest, BytesDependNeitherOnThreadsNorOnBlocks) {
  std::mt19937 random(7);
  TraceBuilder builder;
  for (int64_t i = 0; i < 60; ++i) {
    builder.Call("call", {.start_ns = 10 * i, .end_ns = 10 * i + 9, .correlation = i});
    builder.Range("range " + std::to_string(i), {.start_ns = 10 * (i - i % 6), .end_ns = 10 * i});
    for (unsigned j = 0; j < random() % 4; ++j) {
      builder.Kernel("kernel", {.start_ns = 10 * i + j, .end_ns = 10 * i + 10, .correlation = i});
      builder.Copy({.start_ns = 10 * i + j, .end_ns = 10 * i + 10, .correlation = i});
    }
  }
  Small small(builder.Build());
  for (uint32_t row = 0; row < small.trace.kernels.size(); ++row) {
    small.builder.Kernel(row, small.stream, small.core,
                         static_cast<uint32_t>(small.trace.kernels.correlation[row]));
  }
  uint32_t flow = 0;
  for (uint32_t row = 0; row < small.trace.copies.size(); ++row) {
    small.builder.Copy(row, {.stream_track = small.stream,
                             .call = static_cast<uint32_t>(small.trace.copies.correlation[row]),
                             .usage = {{.track = small.usage, .flow = flow++}}});
  }
  for (uint32_t row = 0; row < 60; ++row) {
    small.layout().call_slices.push_back({row, small.api});
    small.layout().range_slices.push_back({row, small.nvtx});
  }
  const std::string expected = JsonOf(small.trace, small.layout());
  for (const size_t block : {size_t{1}, size_t{700}, size_t{5000}}) {
    for (const int threads : {1, 2, 7}) {
      int64_t seen = 0;
      TextSink sink;
      WriteOptions options;
      options.threads = threads;
      options.block_bytes = block;
      options.progress = [&](int64_t events) {
        EXPECT_GE(events, seen);
        seen = events;
      };
      const auto events = WriteJsonTrace(small.trace, small.layout(), options, sink);
      ASSERT_TRUE(events.ok());
      EXPECT_EQ(sink.text, expected) << block << " " << threads;
      EXPECT_EQ(events.value(), seen);
      EXPECT_EQ(static_cast<size_t>(seen), EventsOf(expected).size() + 14);  // with metadata
      EXPECT_GT(sink.blocks, 8);
    }
  }
}

TEST(JsonTraceTest, ErrorsOfTheSinkEndTheWork) {
  Small small(TraceBuilder().Build());
  TextSink sink;
  sink.fails = true;
  const auto events = WriteJsonTrace(small.trace, small.layout(), {}, sink);
  ASSERT_FALSE(events.ok());
  EXPECT_EQ(events.error().message, "disk full");
  EXPECT_EQ(sink.blocks, 2);
}

}  // namespace
}  // namespace nsys::perfetto
