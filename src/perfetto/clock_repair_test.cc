// SPDX-License-Identifier: MIT
#include "perfetto/clock_repair.h"

#include "layout_test_util.h"

namespace nsys::perfetto {
namespace {

constexpr int64_t kShift = 1'786'331'166'672'603'878;
constexpr int64_t kStart = 1'635'943'131'813'181;
constexpr int64_t kNow = kShift + 1'000'000'000;  // when the kernel runs

TraceBuilder WithKernel(std::optional<int64_t> shift = kShift) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = kNow, .end_ns = kNow + 500, .correlation = 1})
      .Call("launch", {.start_ns = kNow - 900, .end_ns = kNow - 500, .correlation = 1})
      .Clocks(shift, kStart);
  return builder;
}

TEST(ClockRepairTest, RangesOnTheClockOfTheSystemAreMoved) {
  const Trace trace =
      WithKernel()
          .Range("off", {.start_ns = kNow + kStart - 1000, .end_ns = kNow + kStart + 1000})
          .Range("good", {.start_ns = kNow - 2000, .end_ns = kNow + 2000})
          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(layout.counts.repaired_ranges, 1);
  EXPECT_EQ(layout.counts.ambiguous_ranges, 0);
  EXPECT_FALSE(layout.IsRepaired(0));
  EXPECT_TRUE(layout.IsRepaired(1));
  EXPECT_EQ(layout.RangeSpan(trace, 0), (Span{kNow - 2000, kNow + 2000}));
  EXPECT_EQ(layout.RangeSpan(trace, 1), (Span{kNow - 1000, kNow + 1000}));
  EXPECT_EQ(RegionsOf(trace, layout, 0), (std::vector<std::string>{"good", "off"}));
  EXPECT_EQ(layout.origin_ns, kNow - 2000);
  EXPECT_EQ(layout.last_ns, kNow + 2000);
  // Both on one lane: the repaired range lies inside the other.
  EXPECT_EQ(layout.range_slices[0].track, layout.range_slices[1].track);
}

TEST(ClockRepairTest, OneShiftedEndIsAmbiguous) {
  const Trace trace =
      WithKernel().Range("half", {.start_ns = kNow - 1000, .end_ns = kNow + kStart + 1000}).Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(layout.counts.ambiguous_ranges, 1);
  EXPECT_EQ(layout.counts.repaired_ranges, 0);
  EXPECT_EQ(layout.RangeSpan(trace, 0), (Span{kNow - 1000, kNow + kStart + 1000}));
  const Result<Layout> strict = MakeLayout(trace, {.strict_clocks = true});
  ASSERT_FALSE(strict.ok());
  EXPECT_EQ(strict.error().code, ErrorCode::kProfile);
}

TEST(ClockRepairTest, FarRangesStay) {
  const int64_t far = kNow + kStart + 3'000'000'000'000;
  const Trace trace = WithKernel().Range("far", {.start_ns = far, .end_ns = far + 5}).Build();
  EXPECT_TRUE(RepairClocks(trace).repaired.empty());
  EXPECT_EQ(RepairClocks(trace).ambiguous, 0);
}

TEST(ClockRepairTest, NothingIsDoneWithoutAShift) {
  const RangeSpec off = {.start_ns = kNow + kStart - 1000, .end_ns = kNow + kStart + 1000};
  EXPECT_TRUE(RepairClocks(WithKernel(std::nullopt).Range("off", off).Build()).repaired.empty());
  EXPECT_TRUE(RepairClocks(WithKernel(-1).Range("off", off).Build()).repaired.empty());
}

}  // namespace
}  // namespace nsys::perfetto
