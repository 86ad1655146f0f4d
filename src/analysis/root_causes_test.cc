// SPDX-License-Identifier: MIT
// Causes in idle time, waiting, small kernels and communication, each just at its threshold and
// just below it; the device looked at; the order.
#include "root_cause_test_util.h"

namespace nsys {
namespace {

constexpr char kBubbles[] = "GPU Bubbles (Pipeline Stalls)";
constexpr char kSerial[] = "NCCL Serialization";
constexpr char kBound[] = "Compute-Communication Imbalance";
constexpr char kSmall[] = "Small Kernel Overhead";
constexpr char kWaiting[] = "Excessive Synchronization";
constexpr char kHotspot[] = "Kernel Hotspot";
constexpr char kNccl[] = "ncclDevKernel_AllReduce_Sum";

// Kernels from 0 to `end`, with pauses of these lengths after 10 ms each.
TraceBuilder WithPauses(const std::vector<int64_t>& pauses, int64_t end) {
  TraceBuilder builder;
  int64_t at = 0;
  for (const int64_t pause : pauses) {
    builder.Kernel("gemm", {.start_ns = at, .end_ns = at + 10 * kMs});
    at += 10 * kMs + pause;
  }
  builder.Kernel("gemm", {.start_ns = at, .end_ns = end});
  return builder;
}

TEST(IdleStretches, ThreeOfMoreThanAMillisecond) {
  const Trace trace = WithPauses({2 * kMs, 3 * kMs, kMs + 1}, 100 * kMs).Build();
  const RootCause cause = FindOne(trace, kBubbles);
  EXPECT_EQ(cause.magnitude_ns, 6 * kMs + 1);
  EXPECT_EQ(cause.claim,
            (SpanSet{{10 * kMs, 12 * kMs}, {22 * kMs, 25 * kMs}, {35 * kMs, 36 * kMs + 1}}));
  EXPECT_EQ(cause.place, (Span{22 * kMs, 25 * kMs}));
  EXPECT_EQ(cause.where, "device 0");
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_FALSE(Fires(WithPauses({2 * kMs, 3 * kMs, kMs}, 100 * kMs).Build(), kBubbles));
  EXPECT_FALSE(Fires(WithPauses({20 * kMs, 30 * kMs}, 100 * kMs).Build(), kBubbles));
}

TEST(IdleStretches, SeverityByShareOfTheSpan) {
  const std::vector<int64_t> pauses = {2 * kMs, 2 * kMs, 2 * kMs};
  EXPECT_EQ(FindOne(WithPauses(pauses, 600 * kMs).Build(), kBubbles).severity, Severity::kWarning);
  EXPECT_EQ(FindOne(WithPauses(pauses, 600 * kMs + 1).Build(), kBubbles).severity, Severity::kInfo);
}

TEST(IdleStretches, AnyWorkEndsThem) {
  const std::vector<int64_t> pauses = {2 * kMs, 2 * kMs, 2 * kMs};
  const int64_t from = 11 * kMs - 500 * kUs;  // in the middle of the first
  EXPECT_FALSE(
      Fires(WithPauses(pauses, 100 * kMs).Copy({.start_ns = from, .end_ns = from + kMs}).Build(),
            kBubbles));
  EXPECT_FALSE(
      Fires(WithPauses(pauses, 100 * kMs).Memset({.start_ns = from, .end_ns = from + kMs}).Build(),
            kBubbles));
  EXPECT_FALSE(
      Fires(WithPauses(pauses, 100 * kMs).Graph({.start_ns = from, .end_ns = from + kMs}).Build(),
            kBubbles));
  EXPECT_TRUE(Fires(WithPauses(pauses, 100 * kMs)
                        .Copy({.start_ns = from, .end_ns = from + kMs, .device = 1})
                        .Build(),
                    kBubbles))
      << "another device works then";
}

TEST(IdleStretches, TellWhatTheHostDid) {
  const auto evidence = [](TraceBuilder& builder) {
    return FindOne(builder.Build(), kBubbles).evidence;
  };
  const std::vector<int64_t> pauses = {2 * kMs, 2 * kMs, 2 * kMs};
  TraceBuilder quiet = WithPauses(pauses, 100 * kMs);
  EXPECT_NE(evidence(quiet).find("outside CUDA calls"), std::string::npos);
  TraceBuilder busy = WithPauses(pauses, 100 * kMs);
  busy.Call("cudaDeviceSynchronize", {.start_ns = 10 * kMs, .end_ns = 11 * kMs});
  EXPECT_NE(evidence(busy).find("waits in synchronization"), std::string::npos);
  TraceBuilder brief = WithPauses(pauses, 100 * kMs);
  brief.Call("cudaDeviceSynchronize", {.start_ns = 10 * kMs, .end_ns = 11 * kMs - 1});
  EXPECT_NE(evidence(brief).find("outside CUDA calls"), std::string::npos) << "less than half";
  TraceBuilder foreign = WithPauses(pauses, 100 * kMs);
  foreign.Call("cudaDeviceSynchronize",
               {.start_ns = 10 * kMs, .end_ns = 12 * kMs, .pid = 200, .tid = 200});
  EXPECT_NE(evidence(foreign).find("outside CUDA calls"), std::string::npos) << "another process";
}

// ---- communication

TraceBuilder WithCommunication(int64_t compute_end, int64_t begin, int64_t end, int64_t stream) {
  TraceBuilder builder;
  builder.Kernel("gemm", {.start_ns = 0, .end_ns = compute_end})
      .Kernel(kNccl, {.start_ns = begin, .end_ns = end, .stream = stream});
  return builder;
}

TEST(ExposedCommunication, LessThanThirtyPercentHidden) {
  const RootCause cause =
      FindOne(WithCommunication(70 * kMs, 60 * kMs, 100 * kMs, 20).Build(), kSerial);
  EXPECT_EQ(cause.magnitude_ns, 30 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{70 * kMs, 100 * kMs}}));
  EXPECT_EQ(cause.place, (Span{70 * kMs, 100 * kMs}));
  EXPECT_EQ(cause.severity, Severity::kCritical);
  EXPECT_EQ(cause.where, "device 0");
  EXPECT_FALSE(Fires(WithCommunication(72 * kMs, 60 * kMs, 100 * kMs, 20).Build(), kSerial));
  EXPECT_TRUE(Fires(WithCommunication(71'800 * kUs, 60 * kMs, 100 * kMs, 20).Build(), kSerial));
  EXPECT_FALSE(Fires(TraceBuilder().Kernel("gemm", {.start_ns = 0, .end_ns = 9}).Build(), kSerial));
}

TEST(ExposedCommunication, SeverityByShareOfTheSpan) {
  EXPECT_EQ(FindOne(WithCommunication(99 * kMs, 99 * kMs, 100 * kMs, 20).Build(), kSerial).severity,
            Severity::kCritical);
  EXPECT_EQ(
      FindOne(WithCommunication(99 * kMs, 99 * kMs, 100 * kMs - 1, 20).Build(), kSerial).severity,
      Severity::kInfo);
}

std::string ReasonOf(TraceBuilder& builder) { return FindOne(builder.Build(), kSerial).evidence; }

TEST(ExposedCommunication, BecauseOfOneStream) {
  TraceBuilder shared = WithCommunication(60 * kMs, 60 * kMs, 100 * kMs, 7);
  EXPECT_NE(ReasonOf(shared).find("take turns on stream 7"), std::string::npos);
  TraceBuilder apart = WithCommunication(60 * kMs, 60 * kMs, 100 * kMs, 20);
  EXPECT_EQ(ReasonOf(apart).find("take turns"), std::string::npos);
  // 1 of 20 kernels of communication is just 5 %, 1 of 21 is less.
  const auto one_of = [](int64_t kernels) {
    TraceBuilder builder = WithCommunication(60 * kMs, 60 * kMs, 61 * kMs, 7);
    for (int64_t i = 1; i < kernels; ++i) {
      builder.Kernel(kNccl, {.start_ns = (60 + i) * kMs, .end_ns = (61 + i) * kMs, .stream = 20});
    }
    return ReasonOf(builder).find("take turns on stream 7") != std::string::npos;
  };
  EXPECT_TRUE(one_of(20));
  EXPECT_FALSE(one_of(21));
}

TEST(ExposedCommunication, BecauseTheHostWaits) {
  const int64_t end = 100 * kMs;
  const auto waits = [&](const std::string& call, int64_t start, int64_t pid) {
    TraceBuilder builder = WithCommunication(60 * kMs, 60 * kMs, end, 20);
    builder.Call(call, {.start_ns = start, .end_ns = start + 10, .pid = pid, .tid = pid});
    return ReasonOf(builder).find("begins to wait") != std::string::npos;
  };
  EXPECT_TRUE(waits("cudaStreamSynchronize_v3020", end, 100));
  EXPECT_TRUE(waits("cudaDeviceSynchronize_v3020", end + kMs, 100));
  EXPECT_FALSE(waits("cudaDeviceSynchronize_v3020", end + kMs + 1, 100));
  EXPECT_FALSE(waits("cudaDeviceSynchronize_v3020", end - 1, 100));
  EXPECT_FALSE(waits("cudaStreamSynchronize_v3020", end, 200)) << "another process";
  EXPECT_FALSE(waits("cudaStreamWaitEvent_v3020", end, 100)) << "no host wait";
}

TEST(CommunicationBound, LessThanHalfTheComputeIncludingWhatIsHidden) {
  const RootCause cause =
      FindOne(WithCommunication(50 * kMs - 1, 0, 100 * kMs, 20).Build(), kBound);
  EXPECT_EQ(cause.magnitude_ns, 100 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{50 * kMs - 1, 100 * kMs}}));
  EXPECT_EQ(cause.place, (Span{0, 100 * kMs}));
  EXPECT_EQ(cause.severity, Severity::kCritical);
  EXPECT_TRUE(cause.counted_in.empty()) << "half is hidden: no serialization";
  EXPECT_FALSE(Fires(WithCommunication(50 * kMs, 0, 100 * kMs, 20).Build(), kBound));
  EXPECT_FALSE(
      Fires(TraceBuilder().Kernel(kNccl, {.start_ns = 0, .end_ns = 9 * kMs}).Build(), kBound));
}

TEST(Claims, OneStretchIsCountedOnce) {
  const auto causes = CausesOf(WithCommunication(10 * kMs, 10 * kMs, 100 * kMs, 20).Build());
  ASSERT_TRUE(causes.has_value());
  ASSERT_GE(causes->found.size(), 2U);
  EXPECT_EQ(causes->found[0].pattern, kSerial);
  EXPECT_EQ(causes->found[0].recoverable_ns(), 90 * kMs);
  EXPECT_EQ(causes->found[1].pattern, kBound);
  EXPECT_EQ(causes->found[1].recoverable_ns(), 0);
  EXPECT_EQ(causes->found[1].counted_in, kSerial);
}

// ---- small kernels

// `count` launches of one kernel, 20 us apart.
TraceBuilder SmallKernels(int64_t count, int64_t length) {
  TraceBuilder builder;
  for (int64_t i = 0; i < count; ++i) {
    const int64_t at = i * 20 * kUs;
    builder.Call("cudaLaunchKernel_v7000",
                 {.start_ns = at - 6 * kUs, .end_ns = at - 2 * kUs, .correlation = i + 1});
    builder.Kernel("tiny", {.start_ns = at, .end_ns = at + length, .correlation = i + 1});
  }
  return builder;
}

TEST(SmallKernels, OneHundredLaunchesOfLessThanTenMicroseconds) {
  const RootCause cause = FindOne(SmallKernels(100, 5 * kUs).Build(), kSmall);
  EXPECT_EQ(cause.magnitude_ns, 100 * 4 * kUs);
  EXPECT_EQ(cause.recoverable_ns(), 99 * 15 * kUs);
  EXPECT_EQ(cause.claim.front(), (Span{5 * kUs, 20 * kUs}));
  EXPECT_EQ(cause.place, (Span{0, 99 * 20 * kUs + 5 * kUs}));
  EXPECT_EQ(cause.where, "device 0, kernel tiny");
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_TRUE(Fires(SmallKernels(100, 10 * kUs - 1).Build(), kSmall));
  EXPECT_FALSE(Fires(SmallKernels(100, 10 * kUs).Build(), kSmall));
  EXPECT_FALSE(Fires(SmallKernels(99, 5 * kUs).Build(), kSmall));
}

TEST(SmallKernels, ClaimOnlyShortPausesThatTheyEnd) {
  const auto claimed = [](int64_t pause) {
    const int64_t last = 99 * 20 * kUs + 5 * kUs;
    const int64_t late = last + 300 * kUs + pause;
    TraceBuilder builder = SmallKernels(100, 5 * kUs);
    builder.Kernel("gemm", {.start_ns = last + 100 * kUs, .end_ns = last + 300 * kUs});
    builder.Call("cudaLaunchKernel_v7000",
                 {.start_ns = last, .end_ns = last + kUs, .correlation = 1000});
    builder.Kernel("tiny", {.start_ns = late, .end_ns = late + 5 * kUs, .correlation = 1000});
    return FindOne(builder.Build(), kSmall).recoverable_ns();
  };
  EXPECT_EQ(claimed(kMs), 99 * 15 * kUs + kMs);
  EXPECT_EQ(claimed(kMs + 1), 99 * 15 * kUs) << "an idle period of its own kind";
}

// ---- waiting

Trace Waiting(int64_t kernel_ns, int64_t wait_ns, const std::string& call, int64_t pid = 100) {
  return TraceBuilder()
      .Kernel("gemm", {.start_ns = 0, .end_ns = kernel_ns})
      .Kernel("gemm", {.start_ns = kernel_ns + 10 * kMs, .end_ns = kernel_ns + 10 * kMs + 1})
      .Call(call, {.start_ns = kernel_ns - kMs / 2,
                   .end_ns = kernel_ns - kMs / 2 + wait_ns,
                   .pid = pid,
                   .tid = pid + 3})
      .Build();
}

TEST(Waiting, AMillisecondAndTwoPercentOfTheKernelTime) {
  constexpr char kCall[] = "cudaStreamSynchronize_v3020";
  const RootCause cause = FindOne(Waiting(100 * kMs - 1, 2 * kMs, kCall), kWaiting);
  EXPECT_EQ(cause.magnitude_ns, 2 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{100 * kMs - 1, 101'500 * kUs - 1}}));
  EXPECT_EQ(cause.place, (Span{99'500 * kUs - 1, 101'500 * kUs - 1}));
  EXPECT_EQ(cause.where, "thread 103");
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_FALSE(Fires(Waiting(100 * kMs - 1, 2 * kMs - 1, kCall), kWaiting));
  EXPECT_TRUE(Fires(Waiting(10 * kMs, kMs, kCall), kWaiting));
  EXPECT_FALSE(Fires(Waiting(10 * kMs, kMs - 1, kCall), kWaiting));
  EXPECT_FALSE(Fires(Waiting(10 * kMs, 5 * kMs, kCall, 200), kWaiting)) << "another process";
  EXPECT_FALSE(Fires(Waiting(10 * kMs, 5 * kMs, "cudaStreamWaitEvent_v3020"), kWaiting));
  EXPECT_TRUE(Fires(Waiting(10 * kMs, 5 * kMs, "cuCtxSynchronize"), kWaiting));
}

TEST(Waiting, CountsEachMomentOnceAndOnlyTheSpan) {
  const Trace trace =
      TraceBuilder()
          .Kernel("gemm", {.start_ns = 10 * kMs, .end_ns = 20 * kMs})
          .Kernel("gemm", {.start_ns = 30 * kMs, .end_ns = 40 * kMs})
          .Call("cudaDeviceSynchronize", {.start_ns = 0, .end_ns = 12 * kMs})
          .Call("cudaStreamSynchronize", {.start_ns = 21 * kMs, .end_ns = 24 * kMs})
          .Call("cuStreamSynchronize", {.start_ns = 21 * kMs, .end_ns = 23 * kMs})
          .Call("cudaEventSynchronize", {.start_ns = 23 * kMs, .end_ns = 25 * kMs, .tid = 101})
          .Call("cudaDeviceSynchronize", {.start_ns = 39 * kMs, .end_ns = 50 * kMs})
          .Build();
  const RootCause cause = FindOne(trace, kWaiting);
  EXPECT_EQ(cause.magnitude_ns, 2 * kMs + 4 * kMs + 1 * kMs);
  EXPECT_EQ(cause.claim, (SpanSet{{21 * kMs, 25 * kMs}}));
  EXPECT_EQ(cause.where, "thread 100");
  EXPECT_EQ(cause.place, (Span{21 * kMs, 24 * kMs}));
}

TEST(Waiting, IsInfoWhereTheGpuWorksMeanwhile) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 100 * kMs})
                          .Call("cudaDeviceSynchronize", {.start_ns = 0, .end_ns = 90 * kMs})
                          .Build();
  const RootCause cause = FindOne(trace, kWaiting);
  EXPECT_EQ(cause.severity, Severity::kInfo);
  EXPECT_EQ(cause.recoverable_ns(), 0);
  EXPECT_EQ(cause.magnitude_ns, 90 * kMs);
}

}  // namespace
}  // namespace nsys
