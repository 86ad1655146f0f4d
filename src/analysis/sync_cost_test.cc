// SPDX-License-Identifier: MIT
#include "analysis/sync_cost.h"

#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "analysis/host_sync.h"
#include "trace_builder.h"

namespace nsys {
namespace {

struct Row {
  int64_t start;
  int64_t end;
  int32_t type;
  int64_t pid;
};

int64_t PaintedTime(const std::vector<Row>& rows, const Span& window, const auto& wanted) {
  std::vector<uint8_t> axis(100, 0);
  for (const Row& row : rows) {
    if (wanted(row)) {
      std::fill(axis.begin() + row.start, axis.begin() + row.end, uint8_t{1});
    }
  }
  return std::count(axis.begin() + window.begin_ns, axis.begin() + window.end_ns, 1);
}

TEST(SyncCost, AgreesWithPaintedTime) {
  std::mt19937 random(3);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 2000; ++round) {
    TraceBuilder builder;
    builder.SyncTypes()
        .Kernel("k", {.start_ns = 0, .end_ns = 1, .device = 0, .pid = 1})
        .Kernel("k", {.start_ns = 0, .end_ns = 1, .device = 1, .pid = 2});
    std::vector<Row> rows;
    for (int64_t i = number(8); i >= 0; --i) {
      const int64_t start = number(80);
      rows.push_back(
          {start, start + number(15), static_cast<int32_t>(1 + number(4)), 1 + number(2)});
      builder.Sync({.start_ns = rows.back().start,
                    .end_ns = rows.back().end,
                    .type = rows.back().type,
                    .pid = rows.back().pid});
    }
    const Trace trace = builder.Build();
    Views views(trace);
    const int64_t begin = number(50);
    const Span window{begin, begin + 1 + number(49)};
    const SyncCost& cost = *SyncCostOf(views, std::nullopt, window);
    const auto blocks = [](const Row& row) { return row.type != kStreamWaitEvent; };
    ASSERT_EQ(cost.all.blocked_ns, PaintedTime(rows, window, blocks));
    ASSERT_EQ(cost.all.blocked_ns,
              Length(*HostSyncSpans(views, std::nullopt, window.begin_ns, window.end_ns)));
    for (const SyncTypeTime& time : cost.all.by_type) {
      ASSERT_EQ(time.ns,
                PaintedTime(rows, window, [&](const Row& r) { return r.type == time.type; }));
    }
    for (int64_t device = 0; device < 2; ++device) {
      const auto mine = [&](const Row& row) { return blocks(row) && row.pid == device + 1; };
      const auto at = cost.by_device.find(device);
      const int64_t got = at == cost.by_device.end() ? 0 : at->second.blocked_ns;
      ASSERT_EQ(got, PaintedTime(rows, window, mine));
      ASSERT_EQ(SyncCostOf(views, device, window)->all.blocked_ns, got);
    }
  }
}

TEST(SyncCost, AbsentTablesAreNoZero) {
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = 5}).Build();
  Views views(trace);
  EXPECT_FALSE(SyncCostOf(views, std::nullopt, {0, 5}).has_value());
}

TEST(SyncCost, TypesByTheNameOfTheCall) {
  TraceBuilder builder;
  int64_t id = 1;
  for (const char* call :
       {"cudaStreamSynchronize_v3020", "cuEventSynchronize", "cudaDeviceSynchronize",
        "cuCtxSynchronize", "cudaStreamWaitEvent_v3020"}) {
    builder.Call(call, {.start_ns = id * 10, .end_ns = id * 10 + 5, .correlation = id})
        .Sync({.start_ns = id * 10, .end_ns = id * 10 + 5, .type = 2, .correlation = id});
    ++id;
  }
  builder.Sync({.start_ns = 90, .end_ns = 95, .type = 1});
  const Trace trace = builder.Build();
  Views views(trace);
  EXPECT_EQ(SyncRowsOf(views).type,
            (std::vector<int32_t>{kStreamSynchronize, kEventSynchronize, kContextSynchronize,
                                  kContextSynchronize, kStreamWaitEvent, kEventSynchronize}));
  EXPECT_EQ(SyncCostOf(views, std::nullopt, {0, 100})->relabelled, 4);
}

}  // namespace
}  // namespace nsys
