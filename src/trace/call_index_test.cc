// SPDX-License-Identifier: MIT
#include "trace/call_index.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

// The calls of each (process, correlation id), by plain search.
std::map<std::pair<ProcessId, int64_t>, std::vector<uint32_t>> CallsByKey(const Trace& trace) {
  std::map<std::pair<ProcessId, int64_t>, std::vector<uint32_t>> calls;
  for (uint32_t call = 0; call < trace.calls.size(); ++call) {
    const int64_t correlation = trace.calls.correlation[call];
    if (correlation != kNoCorrelation) {
      calls[{trace.ProcessOf(trace.calls.thread[call]), correlation}].push_back(call);
    }
  }
  return calls;
}

void ExpectAsSearched(const Trace& trace, int64_t least, int64_t most, int64_t step) {
  const CallIndex index(trace);
  const auto expected = CallsByKey(trace);
  EXPECT_EQ(index.keys(), expected.size());
  for (const auto& [key, calls] : expected) {
    const uint32_t found = index.Find(key.first, key.second);
    ASSERT_NE(found, kNoKey) << key.second;
    EXPECT_EQ(std::vector<uint32_t>(index.Calls(found).begin(), index.Calls(found).end()), calls);
  }
  for (int64_t id = least; id <= most; id += step) {
    for (uint32_t process = 0; process < trace.processes.size(); ++process) {
      EXPECT_EQ(index.Find(ProcessId{process}, id) != kNoKey,
                expected.contains({ProcessId{process}, id}));
    }
  }
}

// Ids that follow each other, ids with gaps, and ids without any order.
TEST(CallIndex, FindsEveryCallHoweverIdsLie) {
  std::mt19937_64 random(11);
  for (const int64_t gap : {1, 3, 60, 100'000}) {
    TraceBuilder builder;
    for (int64_t i = 0; i < 300; ++i) {
      const auto id = static_cast<int64_t>(random() % 200) * gap;
      const auto pid = static_cast<int64_t>(100 + random() % 3);
      builder.Call("cudaLaunchKernel",
                   {.start_ns = i, .end_ns = i + 1, .correlation = id, .pid = pid, .tid = pid});
    }
    ExpectAsSearched(builder.Build(), -gap, 201 * gap, std::max<int64_t>(1, gap / 2));
  }
}

TEST(CallIndex, HasNothingOfATraceWithoutCalls) {
  const Trace trace = TraceBuilder().Build();
  const CallIndex index(trace);
  EXPECT_EQ(index.keys(), 0U);
  EXPECT_EQ(index.Find(ProcessId::kNone, 5), kNoKey);
}

TEST(CallIndex, TakesTheLargestAndTheLeastId) {
  TraceBuilder builder;
  for (const int64_t id :
       {std::numeric_limits<int64_t>::max(), std::numeric_limits<int64_t>::min(), int64_t{0}}) {
    builder.Call("cudaLaunchKernel", {.start_ns = 1, .end_ns = 2, .correlation = id});
  }
  const Trace trace = builder.Build();
  const CallIndex index(trace);
  EXPECT_EQ(index.keys(), 3U);
  EXPECT_NE(index.Find(trace.ProcessOf(trace.calls.thread[0]), 0), kNoKey);
  EXPECT_EQ(index.Find(trace.ProcessOf(trace.calls.thread[0]), 1), kNoKey);
}

}  // namespace
}  // namespace nsys
