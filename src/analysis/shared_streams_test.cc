// SPDX-License-Identifier: MIT
// Streams on which compute and communication take turns, and the kernels' names for the latter.
#include "analysis/shared_streams.h"

#include <gtest/gtest.h>

#include "analysis/collectives.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr char kNccl[] = "ncclDevKernel_SendRecv";

SharedStreams Find(const Trace& trace, const std::optional<Window>& window = std::nullopt) {
  Views views(trace);
  return FindSharedStreams(views, 0, window, OverlapOf(views, 0, window).value());
}

TEST(SharedStreams, SharesOfTheKernelsOfOneDevice) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 1, .stream = 7})
                          .Kernel(kNccl, {.start_ns = 1, .end_ns = 2, .stream = 7})
                          .Kernel("gemm", {.start_ns = 2, .end_ns = 3, .stream = 20})
                          .Kernel(kNccl, {.start_ns = 3, .end_ns = 4, .stream = 20})
                          .Kernel(kNccl, {.start_ns = 4, .end_ns = 5, .stream = 20})
                          .Kernel("gemm", {.start_ns = 5, .end_ns = 6, .stream = 9})
                          .Kernel(kNccl, {.start_ns = 5, .end_ns = 6, .stream = 11})
                          .Kernel(kNccl, {.start_ns = 5, .end_ns = 6, .stream = 9, .device = 1})
                          .Build();
  const SharedStreams shared = Find(trace);
  EXPECT_EQ(shared.streams, (std::set<int64_t>{7, 20}));
  EXPECT_EQ(shared.StreamList(), "7, 20");
  EXPECT_EQ(shared.compute_pct, 66.7);
  EXPECT_EQ(shared.communication_pct, 75.0);
  EXPECT_TRUE(shared.matter());
  const SharedStreams part = Find(trace, Window{2, 6});
  EXPECT_EQ(part.streams, (std::set<int64_t>{20}));
  EXPECT_EQ(part.compute_pct, 50.0);
  EXPECT_EQ(part.communication_pct, 66.7);
}

TEST(SharedStreams, OneNumberInTwoProcessesIsTwoStreams) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 1, .stream = 7, .pid = 100})
                          .Kernel(kNccl, {.start_ns = 1, .end_ns = 2, .stream = 7, .pid = 200})
                          .Build();
  EXPECT_TRUE(Find(trace).streams.empty());
  EXPECT_FALSE(Find(trace).matter());
  EXPECT_EQ(Find(trace).StreamList(), "");
}

TEST(SharedStreams, FivePercentOfEachKindMatter) {
  const auto with = [](int64_t compute, int64_t communication) {
    TraceBuilder builder;
    builder.Kernel("gemm", {.start_ns = 0, .end_ns = 1, .stream = 7});
    builder.Kernel(kNccl, {.start_ns = 1, .end_ns = 2, .stream = 7});
    for (int64_t i = 1; i < compute; ++i) {
      builder.Kernel("gemm", {.start_ns = i, .end_ns = i + 1, .stream = 8});
    }
    for (int64_t i = 1; i < communication; ++i) {
      builder.Kernel(kNccl, {.start_ns = i, .end_ns = i + 1, .stream = 9});
    }
    return Find(builder.Build()).matter();
  };
  EXPECT_TRUE(with(20, 20));
  EXPECT_FALSE(with(21, 20));
  EXPECT_FALSE(with(20, 21));
}

// A call of NCCL on one thread, and the kernel that is launched within it.
TraceBuilder Launched(const std::string& range, const std::string& kernel) {
  TraceBuilder builder;
  builder.Range(range, {.start_ns = 0, .end_ns = 100, .domain = 1})
      .Call("cudaLaunchKernel", {.start_ns = 10, .end_ns = 20, .correlation = 1})
      .Kernel(kernel, {.start_ns = 30, .end_ns = 40, .correlation = 1});
  return builder;
}

TEST(Collectives, TheCallTellsMoreThanTheName) {
  const auto operations = [](const Trace& trace) {
    Views views(trace);
    Collectives collectives(views);
    return std::vector<std::string>{std::string(collectives.Named(0)),
                                    std::string(collectives.Called(0)),
                                    std::string(collectives.Operation(0))};
  };
  using Texts = std::vector<std::string>;
  EXPECT_EQ(operations(Launched("ncclAllToAll", kNccl).Build()),
            (Texts{"sendrecv", "alltoall", "alltoall"}));
  EXPECT_EQ(operations(Launched("nccl:all_reduce", kNccl).Build()),
            (Texts{"sendrecv", "allreduce", "allreduce"}));
  EXPECT_EQ(operations(Launched("step", kNccl).Build()), (Texts{"sendrecv", "", "sendrecv"}));
  EXPECT_EQ(operations(Launched("ncclAllReduce", "gemm").Build()), (Texts{"", "", ""}))
      << "a compute kernel within a call of NCCL";
}

TEST(Collectives, NamesAloneWithoutRangesOrCalls) {
  const Trace no_ranges =
      TraceBuilder()
          .Call("cudaLaunchKernel", {.start_ns = 10, .end_ns = 20, .correlation = 1})
          .Kernel(kNccl, {.start_ns = 30, .end_ns = 40, .correlation = 1})
          .Build();
  const Trace no_calls = TraceBuilder()
                             .Range("ncclAllReduce", {.start_ns = 0, .end_ns = 100, .domain = 1})
                             .Kernel(kNccl, {.start_ns = 30, .end_ns = 40, .correlation = 1})
                             .Build();
  for (const Trace* trace : {&no_ranges, &no_calls}) {
    Views views(*trace);
    Collectives collectives(views);
    EXPECT_EQ(collectives.Operation(0), "sendrecv");
    EXPECT_EQ(collectives.Called(0), "");
  }
}

}  // namespace
}  // namespace nsys
