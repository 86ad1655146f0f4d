// SPDX-License-Identifier: MIT
#include "analysis/device_time.h"

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "analysis/device_busy.h"
#include "trace_builder.h"

namespace nsys {
namespace {

// One letter per nanosecond of what the device does; the strongest wins.
struct Painted {
  std::string axis = std::string(100, '.');
  void Paint(const Trace& trace, const GpuEvents& events, int64_t device, char letter) {
    for (size_t row = 0; row < events.size(); ++row) {
      if (trace.DeviceOf(events, row) == device) {
        std::fill(axis.begin() + events.start_ns[row], axis.begin() + events.end_ns[row], letter);
      }
    }
  }
  int64_t Count(char letter, int64_t begin, int64_t end) const {
    return std::count(axis.begin() + begin, axis.begin() + end, letter);
  }
};

Trace RandomTrace(std::mt19937& random) {
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  TraceBuilder builder;
  for (int64_t i = number(5); i >= 0; --i) {
    const int64_t start = number(80);
    builder.Kernel(number(3) == 0 ? "ncclDevKernel_x" : "gemm", {.start_ns = start,
                                                                 .end_ns = start + 1 + number(15),
                                                                 .stream = number(3),
                                                                 .device = number(2)});
  }
  for (int64_t i = number(5); i > 0; --i) {
    const int64_t start = number(80);
    builder.Copy({.start_ns = start, .end_ns = start + number(15), .device = number(2)});
    builder.Memset({.start_ns = start + 1, .end_ns = start + 2, .device = number(2)});
    builder.Graph({.start_ns = number(4) + start, .end_ns = start + 5, .device = number(2)});
  }
  return builder.Build();
}

TEST(DeviceTime, AgreesWithPaintedTime) {
  std::mt19937 random(8);
  for (int round = 0; round < 3000; ++round) {
    const Trace trace = RandomTrace(random);
    Views views(trace);
    const auto begin = static_cast<int64_t>(random() % 50);
    const Window window{begin, begin + 1 + static_cast<int64_t>(random() % 49)};
    for (int64_t device = 0; device < 2; ++device) {
      Painted paint;
      paint.Paint(trace, trace.copies, device, 'c');
      paint.Paint(trace, trace.memsets, device, 'c');
      paint.Paint(trace, trace.graphs, device, 'g');
      for (const bool communication : {true, false}) {
        for (size_t row = 0; row < trace.kernels.size(); ++row) {
          const bool is = trace.Text(trace.kernels.name[row]) != "gemm";
          if (is == communication && trace.DeviceOf(trace.kernels, row) == device) {
            std::fill(paint.axis.begin() + trace.kernels.start_ns[row],
                      paint.axis.begin() + trace.kernels.end_ns[row], is ? 'n' : 'k');
          }
        }
      }
      const auto time = DeviceTimeOf(views, device, window);
      const auto part = RecordedPart(trace, window);
      if (!time) {
        ASSERT_TRUE(!part || paint.Count('k', part->begin_ns, part->end_ns) +
                                     paint.Count('n', part->begin_ns, part->end_ns) +
                                     paint.Count('g', part->begin_ns, part->end_ns) ==
                                 0);
        continue;
      }
      ASSERT_EQ(time->span, *part);
      ASSERT_EQ(time->compute_ns, paint.Count('k', part->begin_ns, part->end_ns));
      ASSERT_EQ(time->communication_ns, paint.Count('n', part->begin_ns, part->end_ns));
      ASSERT_EQ(time->graph_ns, paint.Count('g', part->begin_ns, part->end_ns));
      ASSERT_EQ(time->copy_ns, paint.Count('c', part->begin_ns, part->end_ns));
      ASSERT_EQ(time->idle_ns, paint.Count('.', part->begin_ns, part->end_ns));
    }
  }
}

TEST(DeviceTime, WithoutAWindowFromFirstToLastKernelOfTheDevice) {
  const Trace trace = TraceBuilder()
                          .Copy({.start_ns = 0, .end_ns = 10})
                          .Kernel("gemm", {.start_ns = 5, .end_ns = 20})
                          .Graph({.start_ns = 30, .end_ns = 40})
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 90, .device = 1})
                          .Build();
  Views views(trace);
  const auto time = DeviceTimeOf(views, 0, std::nullopt);
  ASSERT_TRUE(time.has_value());
  EXPECT_EQ(time->span, (Span{5, 40}));
  EXPECT_EQ(time->graph_ns, 10);
  EXPECT_EQ(time->idle_ns, 10);
  EXPECT_FALSE(DeviceTimeOf(views, 2, std::nullopt).has_value());
}

TEST(DeviceBusy, WindowsAndSpans) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 10, .end_ns = 20})
                          .Copy({.start_ns = 15, .end_ns = 30})
                          .Memset({.start_ns = 0, .end_ns = 5, .device = 1})
                          .Call("cudaFree", {.start_ns = -7, .end_ns = 60})
                          .Build();
  Views views(trace);
  EXPECT_EQ(ActivityWindow(trace, std::nullopt)->end_ns, 20)
      << "kernels alone, where there are any";
  EXPECT_EQ(ActivityWindow(trace, Window{3, 4})->begin_ns, 3);
  EXPECT_EQ(RecordedPart(trace, Window{-100}), (Span{-7, 60}));
  EXPECT_EQ(RecordedPart(trace, Window{0, 50}), (Span{0, 50}));
  EXPECT_FALSE(RecordedPart(trace, Window{60, 70}).has_value());
  const BusyDevices& devices = BusyDevicesOf(views, {0, 25});
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(devices.at(0).active_ns(), 15);
  EXPECT_EQ(devices.at(0).kernel_ns, 10);
  EXPECT_EQ(devices.at(0).copy_only_ns(), 5);
  EXPECT_EQ(devices.at(1).kernel_ns, 0);
  const Trace copies = TraceBuilder().Copy({.start_ns = 3, .end_ns = 9}).Build();
  EXPECT_EQ(ActivityWindow(copies, std::nullopt)->end_ns, 9);
  EXPECT_FALSE(ActivityWindow(TraceBuilder().Build(), std::nullopt).has_value());
}

TEST(DeviceBusy, BusiestDevice) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 0, .end_ns = 10, .device = 3})
                          .Kernel("k", {.start_ns = 0, .end_ns = 10, .device = 1})
                          .Kernel("k", {.start_ns = 50, .end_ns = 55, .device = 3})
                          .Build();
  EXPECT_EQ(BusiestDevice(trace, std::nullopt), 3);
  EXPECT_EQ(BusiestDevice(trace, Window{0, 20}), 1) << "a tie";
  EXPECT_EQ(BusiestDevice(trace, Window{5, 52}), 3);
  EXPECT_EQ(BusiestDevice(trace, Window{20, 30}), 3) << "none ran there";
  EXPECT_FALSE(BusiestDevice(TraceBuilder().Build(), std::nullopt).has_value());
}

}  // namespace
}  // namespace nsys
