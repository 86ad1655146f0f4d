// SPDX-License-Identifier: MIT
// Causes in copies and memsets: which of them count, and what of them no kernel hides.
#include "root_cause_test_util.h"

namespace nsys {
namespace {

constexpr char kMuch[] = "Excessive H2D Transfers";
constexpr char kSpread[] = "Continuous H2D Transfers";
constexpr char kSpike[] = "H2D Transfer Spike";
constexpr char kBlocking[] = "Synchronous Memcpy";
constexpr char kPageable[] = "Pageable Memory in Async Memcpy";
constexpr char kBlockingSet[] = "Synchronous Memset";

// Kernels from 0 to 40 ms and from 160 to 200 ms, and one copy in between, partly beside them.
TraceBuilder WithCopy(const CopySpec& copy, const std::string& call = "cudaMemcpyAsync_v3020") {
  TraceBuilder builder;
  builder.Kernel("gemm", {.start_ns = 0, .end_ns = 40 * kMs})
      .Kernel("gemm", {.start_ns = 160 * kMs, .end_ns = 200 * kMs})
      .Call(call, {.start_ns = copy.start_ns, .end_ns = copy.start_ns + 10, .correlation = 9});
  CopySpec linked = copy;
  linked.correlation = 9;
  builder.Copy(linked);
  return builder;
}

TEST(HostToDevice, MoreThanFiftyMilliseconds) {
  const auto with = [](int64_t end, int32_t kind, int64_t device) {
    return WithCopy({.start_ns = 30 * kMs, .end_ns = end, .kind = kind, .device = device}).Build();
  };
  const RootCause cause = FindOne(with(80 * kMs + 1, 1, 0), kMuch);
  EXPECT_EQ(cause.magnitude_ns, 50 * kMs + 1);
  EXPECT_EQ(cause.claim, (SpanSet{{40 * kMs, 80 * kMs + 1}}));
  EXPECT_EQ(cause.place, (Span{30 * kMs, 80 * kMs + 1}));
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_EQ(cause.where, "device 0");
  EXPECT_FALSE(Fires(with(80 * kMs, 1, 0), kMuch));
  EXPECT_FALSE(Fires(with(150 * kMs, 2, 0), kMuch)) << "device to host";
  EXPECT_FALSE(Fires(with(150 * kMs, 1, 1), kMuch)) << "another device";
}

TEST(HostToDevice, IsInfoWhereKernelsHideIt) {
  const auto with = [](int64_t kernel_end) {
    return TraceBuilder()
        .Kernel("gemm", {.start_ns = 0, .end_ns = kernel_end})
        .Kernel("gemm", {.start_ns = 100 * kMs, .end_ns = 100 * kMs})
        .Copy({.start_ns = 0, .end_ns = 100 * kMs, .kind = 1, .stream = 9})
        .Build();
  };
  EXPECT_EQ(FindOne(with(99 * kMs), kMuch).severity, Severity::kWarning);
  EXPECT_EQ(FindOne(with(99 * kMs), kMuch).recoverable_ns(), kMs);
  EXPECT_EQ(FindOne(with(99 * kMs + 1), kMuch).severity, Severity::kInfo);
}

// One copy in each of these seconds, of so many bytes.
Trace CopiesInSeconds(const std::vector<int64_t>& bytes) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const int64_t size : bytes) {
    builder.Copy({.start_ns = at, .end_ns = at + kMs, .bytes = size, .kind = 1});
    builder.Kernel("gemm", {.start_ns = at, .end_ns = at + kMs / 2});
    at += 1000 * kMs;
  }
  return builder.Build();
}

TEST(HostToDevice, PatternOverTime) {
  const Trace spread = CopiesInSeconds({10, 10, 10, 10});
  EXPECT_FALSE(Fires(spread, kSpike));
  const RootCause cause = FindOne(spread, kSpread);
  EXPECT_EQ(cause.magnitude_ns, 4 * kMs);
  EXPECT_EQ(cause.recoverable_ns(), 3 * kMs / 2) << "the last copy's end is behind the span";
  EXPECT_EQ(cause.severity, Severity::kInfo);
  EXPECT_FALSE(Fires(CopiesInSeconds({10, 10, 10}), kSpread)) << "too short to tell";
  EXPECT_FALSE(Fires(CopiesInSeconds({100, 100, 10, 10}), kSpread)) << "mostly at the start";
  const Trace spike = CopiesInSeconds({10, 10, 31, 10});
  EXPECT_FALSE(Fires(spike, kSpread));
  EXPECT_EQ(FindOne(spike, kSpike).place, (Span{2000 * kMs, 2001 * kMs}));
  EXPECT_EQ(FindOne(spike, kSpike).severity, Severity::kInfo);
  EXPECT_FALSE(Fires(CopiesInSeconds({10, 10, 30, 10}), kSpike)) << "three times is not more";
}

TEST(BlockingCopies, ByTheNameOfTheirCall) {
  const CopySpec copy{.start_ns = 100 * kMs, .end_ns = 110 * kMs, .bytes = 5'000'000, .kind = 2};
  const auto fires = [&](const std::string& call) {
    return Fires(WithCopy(copy, call).Build(), kBlocking);
  };
  for (const char* call : {"cudaMemcpy_v3020", "cudaMemcpy2D_v3020", "cudaMemcpyToSymbol_v3020",
                           "cuMemcpyHtoD_v2", "cuMemcpyDtoH_v2"}) {
    EXPECT_TRUE(fires(call)) << call;
  }
  for (const char* call : {"cudaMemcpyAsync_v3020", "cudaMemcpy2DAsync_v3020",
                           "cudaMemcpyToSymbolAsync_v3020", "cudaMemcpyPeerAsync_v4000",
                           "cuMemcpyHtoDAsync_v2", "cudaGraphLaunch_v10000", "cudaMemset_v3020"}) {
    EXPECT_FALSE(fires(call)) << call;
  }
  const RootCause cause = FindOne(WithCopy(copy, "cudaMemcpy_v3020").Build(), kBlocking);
  EXPECT_EQ(cause.magnitude_ns, 10 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{100 * kMs, 110 * kMs}}));
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_EQ(cause.evidence, "1 blocking transfer, 5.0 MB, 10.00 ms");
}

TEST(BlockingCopies, ByTheCallOfTheirOwnProcess) {
  const Trace trace =
      TraceBuilder()
          .Kernel("gemm", {.start_ns = 0, .end_ns = 100})
          .Call("cudaMemcpyAsync", {.start_ns = 0, .end_ns = 9, .correlation = 5})
          .Call("cudaMemcpy",
                {.start_ns = 0, .end_ns = 9, .correlation = 5, .pid = 200, .tid = 200})
          .Copy({.start_ns = 20, .end_ns = 30, .correlation = 5})
          .Build();
  EXPECT_FALSE(Fires(trace, kBlocking));
}

TEST(BlockingCopies, AreCutToTheWindow) {
  const Trace trace =
      WithCopy({.start_ns = 100 * kMs, .end_ns = 150 * kMs}, "cudaMemcpy_v3020").Build();
  const RootCause cause = FindOne(trace, kBlocking, Window{140 * kMs, 300 * kMs});
  EXPECT_EQ(cause.magnitude_ns, 10 * kMs);
  EXPECT_EQ(cause.place, (Span{140 * kMs, 150 * kMs}));
  EXPECT_EQ(cause.recoverable_ns(), 0) << "before the first kernel of the window";
  EXPECT_FALSE(Fires(trace, kBlocking, Window{150 * kMs, 300 * kMs}));
}

// A kernel that reaches over the window's edge runs all the same.
TEST(BlockingCopies, KernelsOverTheEdgeHideThemToo) {
  const Trace trace =
      TraceBuilder()
          .Kernel("gemm", {.start_ns = 0, .end_ns = 60 * kMs})
          .Kernel("gemm", {.start_ns = 50 * kMs, .end_ns = 52 * kMs, .stream = 8})
          .Kernel("gemm", {.start_ns = 90 * kMs, .end_ns = 100 * kMs})
          .Call("cudaMemcpy", {.start_ns = 54 * kMs, .end_ns = 70 * kMs, .correlation = 3})
          .Copy({.start_ns = 54 * kMs, .end_ns = 70 * kMs, .stream = 9, .correlation = 3})
          .Build();
  const RootCause cause = FindOne(trace, kBlocking, Window{20 * kMs, 100 * kMs});
  EXPECT_EQ(cause.claim, (SpanSet{{60 * kMs, 70 * kMs}}));
}

TEST(PageableCopies, ByNamesOfMemoryKinds) {
  const auto with = [](bool named, int32_t from, const std::string& call) {
    TraceBuilder builder = WithCopy(
        {.start_ns = 100 * kMs, .end_ns = 110 * kMs, .from_memory = from, .to_memory = 2}, call);
    if (named) {  // numbers unlike those of today's exports
      builder.MemoryKind(0, "CUDA_MEMOPR_MEMORY_KIND_PINNED")
          .MemoryKind(1, "CUDA_MEMOPR_MEMORY_KIND_PAGEABLE")
          .MemoryKind(2, "CUDA_MEMOPR_MEMORY_KIND_DEVICE");
    }
    return builder.Build();
  };
  EXPECT_TRUE(Fires(with(true, 1, "cudaMemcpyAsync_v3020"), kPageable));
  EXPECT_FALSE(Fires(with(true, 0, "cudaMemcpyAsync_v3020"), kPageable));
  EXPECT_TRUE(Fires(with(false, 0, "cudaMemcpyAsync_v3020"), kPageable));
  EXPECT_FALSE(Fires(with(false, 1, "cudaMemcpyAsync_v3020"), kPageable));
  EXPECT_FALSE(Fires(with(false, kNoMemoryKind, "cudaMemcpyAsync_v3020"), kPageable));
  EXPECT_FALSE(Fires(with(false, 0, "cudaMemcpy_v3020"), kPageable)) << "not asynchronous anyway";
  const RootCause cause = FindOne(with(true, 1, "cuMemcpyHtoDAsync_v2"), kPageable);
  EXPECT_EQ(cause.magnitude_ns, 10 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{100 * kMs, 110 * kMs}}));
  EXPECT_EQ(cause.severity, Severity::kWarning);
}

TEST(PageableCopies, AtEitherEnd) {
  const auto with = [](int32_t from, int32_t to) {
    return WithCopy(
               {.start_ns = 100 * kMs, .end_ns = 110 * kMs, .from_memory = from, .to_memory = to})
        .Build();
  };
  EXPECT_TRUE(Fires(with(2, 0), kPageable));
  EXPECT_TRUE(Fires(with(0, 2), kPageable));
  EXPECT_FALSE(Fires(with(2, 1), kPageable));
}

TEST(BlockingMemsets, ByTheNameOfTheirCall) {
  const auto with = [](const std::string& call, int64_t device) {
    return TraceBuilder()
        .Kernel("gemm", {.start_ns = 0, .end_ns = 10 * kMs})
        .Kernel("gemm", {.start_ns = 90 * kMs, .end_ns = 100 * kMs})
        .Call(call, {.start_ns = 0, .end_ns = 10, .correlation = 4})
        .Memset({.start_ns = 5 * kMs, .end_ns = 15 * kMs, .device = device, .correlation = 4})
        .Build();
  };
  const RootCause cause = FindOne(with("cudaMemset_v3020", 0), kBlockingSet);
  EXPECT_EQ(cause.magnitude_ns, 10 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{10 * kMs, 15 * kMs}}));
  EXPECT_EQ(cause.place, (Span{5 * kMs, 15 * kMs}));
  EXPECT_EQ(cause.severity, Severity::kInfo);
  EXPECT_TRUE(Fires(with("cuMemsetD32_v2", 0), kBlockingSet));
  EXPECT_FALSE(Fires(with("cudaMemset2DAsync_v3020", 0), kBlockingSet));
  EXPECT_FALSE(Fires(with("cuMemsetD8Async", 0), kBlockingSet));
  EXPECT_FALSE(Fires(with("cudaMemset_v3020", 1), kBlockingSet));
}

}  // namespace
}  // namespace nsys
