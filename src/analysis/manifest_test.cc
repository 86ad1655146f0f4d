// SPDX-License-Identifier: MIT
// The manifest on traces made by hand: what it calls the bottleneck, the profiler's own time, and
// what it says where it knows nothing. manifest_sections_test.cc compares it with other skills.
#include "analysis/manifest.h"

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kMs = 1'000'000;
constexpr char kNccl[] = "ncclDevKernel_AllReduce";

Object ManifestOf(const Trace& trace, const std::optional<Window>& window = std::nullopt,
                  const std::string& device = "0") {
  const Answer answer = RunOn(trace, "profile_health_manifest", {{"device", device}}, window);
  EXPECT_EQ(answer.rows.size(), 1U);
  return answer.rows.empty() ? Object{} : answer.rows.front();
}

const Object& Section(const Object& row, std::string_view key) {
  static const Object kNone;
  const Object* section = Cell(row, key).AsObject();
  return section == nullptr ? kNone : *section;
}

std::string Bottleneck(const Trace& trace) {
  const Object row = ManifestOf(trace);
  const Value* words = row.Find("suspected_bottleneck");
  return words == nullptr ? "" : *words->AsText();
}

// ---- suspected bottleneck

// Exposed communication of so long in a span of 100 ms.
Trace WithExposed(int64_t exposed) {
  return TraceBuilder()
      .Kernel("gemm", {.start_ns = 0, .end_ns = 100 * kMs - exposed})
      .Kernel(kNccl, {.start_ns = 100 * kMs - exposed, .end_ns = 100 * kMs, .stream = 20})
      .Build();
}

TEST(SuspectedBottleneck, ACauseOfFivePercentOfTheSpan) {
  EXPECT_EQ(Bottleneck(WithExposed(5 * kMs)),
            "NCCL Serialization: up to 5.00 ms of 100.00 ms (5.0 %)");
  // Below that the next rule speaks: gemm has 95 % of the kernel time.
  EXPECT_TRUE(
      Bottleneck(WithExposed(5 * kMs - 1)).starts_with("Kernel hotspot: gemm takes 95.0 %"));
}

TEST(SuspectedBottleneck, AKernelOfMoreThanSixtyPercent) {
  const auto with = [](int64_t first) {
    return TraceBuilder()
        .Kernel("gemm", {.start_ns = 0, .end_ns = first})
        .Kernel("softmax", {.start_ns = first, .end_ns = 1000})
        .Build();
  };
  EXPECT_EQ(Bottleneck(with(600)), "");
  EXPECT_EQ(Bottleneck(with(601)), "Kernel hotspot: gemm takes 60.1 % of the kernel time");
  EXPECT_EQ(Bottleneck(TraceBuilder().Kernel("gemm", {.start_ns = 0, .end_ns = 9}).Build()), "")
      << "the only kernel is no hotspot";
}

// Iterations of these lengths, each of two kernels of equal time under changing names.
TraceBuilder Iterations(const std::vector<int64_t>& lengths) {
  TraceBuilder builder;
  int64_t at = 0;
  int64_t id = 0;
  for (const int64_t length : lengths) {
    builder.Range("sample_0 step", {.start_ns = at, .end_ns = at + length});
    for (const char* name : {"gemm", "softmax"}) {
      const int64_t start = at + (name[0] == 'g' ? 0 : length / 2);
      builder.Call("cudaLaunchKernel",
                   {.start_ns = start + 1, .end_ns = start + 2, .correlation = ++id});
      builder.Kernel(name, {.start_ns = start, .end_ns = start + length / 2, .correlation = id});
    }
    at += length;
  }
  return builder;
}

TEST(SuspectedBottleneck, IterationsOfWhichOneTakesHalfAsLongAgain) {
  EXPECT_EQ(Bottleneck(Iterations({90 * kMs, 10 * kMs, 10 * kMs, 15 * kMs}).Build()), "")
      << "the first does not count, one and a half is not more";
  EXPECT_EQ(Bottleneck(Iterations({10 * kMs, 10 * kMs, 10 * kMs, 15 * kMs + 2}).Build()),
            "Iteration variance: the slowest takes 15.00 ms, the median 10.00 ms");
}

TEST(SuspectedBottleneck, NeverTheProfiler) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 50 * kMs})
                          .Kernel("softmax", {.start_ns = 50 * kMs, .end_ns = 100 * kMs})
                          .Overhead(0, 40 * kMs)
                          .Build();
  EXPECT_EQ(Bottleneck(trace), "");
  EXPECT_EQ(RealCell(Section(ManifestOf(trace), "data_quality"), "overhead_pct"), 40.0);
}

// ---- iterations

TEST(Iterations, MedianAndSlowestWithoutTheFirst) {
  const auto nvtx = [](const std::vector<int64_t>& lengths) {
    return Section(ManifestOf(Iterations(lengths).Build()), "nvtx");
  };
  const Object several = nvtx({90 * kMs, 10 * kMs, 12 * kMs, 16 * kMs, 11 * kMs});
  EXPECT_EQ(IntCell(several, "iteration_count"), 5);
  EXPECT_EQ(RealCell(several, "median_iter_ms"), 12.0) << "the upper of the two in the middle";
  EXPECT_EQ(RealCell(several, "slowest_iter_ms"), 16.0);
  const Object one = nvtx({90 * kMs});
  EXPECT_EQ(IntCell(one, "iteration_count"), 1);
  EXPECT_EQ(RealCell(one, "median_iter_ms"), 90.0);
  EXPECT_EQ(RealCell(one, "slowest_iter_ms"), 90.0);
}

TEST(Iterations, PausesAreNoIterations) {
  const Trace trace = TraceBuilder()
                          .Range("step", {.start_ns = 0, .end_ns = 90 * kMs})
                          .Call("cudaLaunchKernel", {.start_ns = 1, .end_ns = 2, .correlation = 1})
                          .Kernel("gemm", {.start_ns = 5, .end_ns = kMs, .correlation = 1})
                          .Build();
  EXPECT_EQ(Section(ManifestOf(trace), "nvtx").Find("iteration_count"), nullptr);
}

// ---- data quality

TEST(Overhead, IsTheUnionWithinTheSpan) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 10 * kMs, .end_ns = 60 * kMs})
                          .Kernel("gemm", {.start_ns = 100 * kMs, .end_ns = 110 * kMs, .device = 1})
                          .Overhead(0, 20 * kMs)
                          .Overhead(15 * kMs, 30 * kMs)
                          .Overhead(105 * kMs, 900 * kMs)
                          .Build();
  const Object whole = Section(ManifestOf(trace), "data_quality");
  EXPECT_EQ(RealCell(ManifestOf(trace), "profile_span_ms"), 100.0);
  EXPECT_EQ(RealCell(whole, "profiler_overhead_ms"), 25.0);
  EXPECT_EQ(RealCell(whole, "overhead_pct"), 25.0);
  EXPECT_EQ(RealCell(whole, "overhead_pct_raw"), 25.0);
  const Object part = Section(ManifestOf(trace, Window{10 * kMs, 25 * kMs}), "data_quality");
  EXPECT_EQ(RealCell(part, "profiler_overhead_ms"), 15.0);
  EXPECT_EQ(RealCell(part, "overhead_pct"), 100.0);
}

TEST(Overhead, IsUnknownWithoutASpan) {
  const Trace trace =
      TraceBuilder().Kernel("gemm", {.start_ns = 10, .end_ns = 20}).Overhead(0, 100).Build();
  const Object row = ManifestOf(trace, Window{40, 50});
  EXPECT_EQ(RealCell(row, "profile_span_ms"), 0.0);
  EXPECT_EQ(RealCell(Section(row, "data_quality"), "profiler_overhead_ms"), 0.0);
  EXPECT_TRUE(Cell(Section(row, "data_quality"), "overhead_pct").is_null());
  EXPECT_TRUE(Cell(Section(row, "data_quality"), "overhead_pct_raw").is_null());
}

// ---- what the capture does not tell

TEST(Manifest, AnEmptyWindowHasNoFigures) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 10, .end_ns = 20})
                          .Kernel(kNccl, {.start_ns = 20, .end_ns = 30, .stream = 9})
                          .Build();
  const Object row = ManifestOf(trace, Window{12, 18});
  EXPECT_TRUE(Cell(row, "top_kernels").AsList()->empty());
  EXPECT_EQ(RealCell(row, "total_kernel_ms"), 0.0);
  EXPECT_NE(Section(row, "overlap").Find("error"), nullptr);
  EXPECT_EQ(IntCell(Section(row, "nccl"), "collectives"), 0);
  EXPECT_EQ(Section(row, "nccl").Find("dominant_type"), nullptr);
  EXPECT_TRUE(Section(row, "idle").empty());
  EXPECT_TRUE(Section(row, "sync").empty());
  EXPECT_EQ(IntCell(row, "root_cause_count"), 0);
  EXPECT_TRUE(Cell(row, "root_causes").AsList()->empty());
  EXPECT_EQ(row.Find("suspected_bottleneck"), nullptr);
}

TEST(Manifest, NoKernelTable) {
  const Answer answer =
      RunOn(TraceBuilder().Copy({.start_ns = 0, .end_ns = 5}).Build(), "profile_health_manifest");
  EXPECT_TRUE(answer.abstention.has_value());
}

// A kernel of another device is no bottleneck of the one that was asked for, unless it is said.
TEST(Manifest, CausesOfAnotherDeviceAreCalledThat) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm", {.start_ns = 0, .end_ns = 10 * kMs})
                          .Kernel(kNccl, {.start_ns = 10 * kMs, .end_ns = 40 * kMs, .stream = 20})
                          .Kernel("gemm", {.start_ns = 90 * kMs, .end_ns = 95 * kMs, .device = 1})
                          .Build();
  const Object row = ManifestOf(trace, Window{0, 50 * kMs}, "1");
  EXPECT_EQ(IntCell(row, "device"), 1);
  EXPECT_NE(Section(row, "overlap").Find("error"), nullptr);
  EXPECT_EQ(TextCell(row, "suspected_bottleneck"),
            "NCCL Serialization (device 0): up to 30.00 ms of 40.00 ms (75.0 %)");
}

TEST(Manifest, WaitsOfUnknownTypesOrDevicesAreNotZero) {
  const auto with = [](bool types, bool device) {
    TraceBuilder builder;
    builder.Kernel("gemm", {.start_ns = 0, .end_ns = 100 * kMs})
        .Sync({.start_ns = 0, .end_ns = 50 * kMs, .context = 2});
    if (types) {
      builder.SyncTypes();
    }
    Trace trace = builder.Build();
    if (!device) {
      trace.lanes[Index(trace.syncs.lane[0])].device = std::nullopt;
    }
    return trace;
  };
  EXPECT_EQ(RealCell(Section(ManifestOf(with(true, true)), "sync"), "total_sync_wall_ms"), 50.0);
  EXPECT_TRUE(Section(ManifestOf(with(false, true)), "sync").empty());
  EXPECT_TRUE(RunOn(with(false, true), "sync_cost_analysis").abstention.has_value());
  EXPECT_TRUE(Section(ManifestOf(with(true, false)), "sync").empty());
  EXPECT_TRUE(
      RunOn(with(true, false), "sync_cost_analysis", {{"device", "0"}}).problem.has_value());
}

TEST(Manifest, MatrixKernelsWithoutTensorCoresFromATenthOn) {
  const auto notes = [](int64_t scalar) {
    const Trace trace = TraceBuilder()
                            .Kernel("ampere_sgemm_64x64", {.start_ns = 0, .end_ns = scalar})
                            .Kernel("softmax", {.start_ns = scalar, .end_ns = 1000})
                            .Build();
    const Object row = ManifestOf(trace);
    return *Cell(Section(row, "fingerprint"), "precision_notes").AsList();
  };
  EXPECT_TRUE(notes(99).empty());
  ASSERT_EQ(notes(100).size(), 1U);
  EXPECT_TRUE(notes(100)[0].AsText()->starts_with("10.0 % of the kernel time"));
}

TEST(Manifest, GpuOfTheDevice) {
  TraceBuilder builder;
  builder.Kernel("gemm", {.start_ns = 0, .end_ns = 9})
      .Kernel("gemm", {.start_ns = 0, .end_ns = 9, .device = 1})
      .GpuInfo(0, {.id = 4, .name = "NVIDIA A100"})
      .GpuInfo(1, {.id = 3, .name = "NVIDIA H100"});
  const Trace trace = builder.Build();
  EXPECT_EQ(TextCell(ManifestOf(trace), "gpu"), "NVIDIA A100");
  EXPECT_EQ(TextCell(ManifestOf(trace, std::nullopt, "1"), "gpu"), "NVIDIA H100");
  const Trace bare = TraceBuilder().Kernel("gemm", {.start_ns = 0, .end_ns = 9}).Build();
  EXPECT_EQ(TextCell(ManifestOf(bare), "gpu"), "unknown");
}

}  // namespace
}  // namespace nsys
