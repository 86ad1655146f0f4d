// SPDX-License-Identifier: MIT
// What the skills about launches, host-to-device copies and communication kernels answer.
#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kMs = 1'000'000;

// ---- tensor_core_usage

TEST(TensorCoreUsage, TheTotalIsOverUnlistedKernelsToo) {
  const Trace trace = TraceBuilder()
                          .Kernel("ampere_sgemm_128x64", {.start_ns = 0, .end_ns = 3 * kMs})
                          .Kernel("nvjet_tst_96x64", {.start_ns = 0, .end_ns = kMs, .device = 1})
                          .Kernel("convert_kernel", {.start_ns = 0, .end_ns = 4 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "tensor_core_usage", {{"limit", "1"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(RealCell(answer.rows[0], "total_gpu_ms"), 3.0);
  EXPECT_EQ(RealCell(answer.rows[0], "tc_achieved_pct"), 0.0);
  EXPECT_TRUE(*Cell(answer.rows[0], "is_outlier").AsBool());
  EXPECT_NE(answer.notes[0].find("25.0 % of 4.00 ms"), std::string::npos) << answer.notes[0];
  EXPECT_NE(answer.notes[0].find("50.0 % of all kernel time"), std::string::npos);
}

TEST(TensorCoreUsage, NoEligibleKernelIsEmpty) {
  const Trace trace =
      TraceBuilder().Kernel("elementwise_kernel", {.start_ns = 0, .end_ns = 5}).Build();
  const Answer answer = RunOn(trace, "tensor_core_usage");
  EXPECT_TRUE(answer.rows.empty());
  EXPECT_TRUE(answer.notes.empty()) << "no percentage of nothing";
}

// ---- kernel_launch_overhead

TEST(KernelLaunchOverhead, GraphLaunchesAreARowApart) {
  TraceBuilder builder;
  builder.Call("cudaGraphLaunch", {.start_ns = 0, .end_ns = 20'000, .correlation = 1});
  for (int64_t i = 0; i < 50; ++i) {
    builder.Kernel("node", {.start_ns = 30'000 + i, .end_ns = 30'001 + i, .correlation = 1});
  }
  const Answer answer = RunOn(builder.Build(), "kernel_launch_overhead", {{"min_launches", "1"}});
  EXPECT_TRUE(answer.rows.empty());
  ASSERT_EQ(answer.about.size(), 1U);
  EXPECT_EQ(IntCell(answer.about[0], "launch_count"), 1);
  EXPECT_EQ(RealCell(answer.about[0], "total_api_ms"), 0.02);
  EXPECT_EQ(IntCell(answer.about[0], "kernel_count"), 50);
}

TEST(KernelLaunchOverhead, LimitsBelowOneAreOne) {
  TraceBuilder builder;
  for (int64_t id = 1; id <= 2; ++id) {
    builder.Call("cudaLaunchKernel", {.start_ns = 0, .end_ns = 10 * id, .correlation = id})
        .Kernel("k" + std::to_string(id), {.start_ns = 5, .end_ns = 9, .correlation = id});
  }
  const Answer answer =
      RunOn(builder.Build(), "kernel_launch_overhead", {{"min_launches", "0"}, {"limit", "0"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(TextCell(answer.rows[0], "kernel_name"), "k2") << "the most API time";
  EXPECT_EQ(IntCell(answer.rows[0], "queue_count"), 0);
  EXPECT_EQ(RealCell(answer.rows[0], "avg_queue_us"), 0.0);
}

TEST(KernelLaunchOverhead, AbstainsWithoutProcesses) {
  Trace trace = TraceBuilder()
                    .Call("cudaLaunchKernel", {.start_ns = 0, .end_ns = 5, .correlation = 1})
                    .Kernel("k", {.start_ns = 5, .end_ns = 9, .correlation = 1})
                    .Build();
  trace.schema.tables = {{.name = "CUPTI_ACTIVITY_KIND_KERNEL",
                          .columns = {{"start", "INTEGER", false}, {"end", "INTEGER", false}}}};
  const Answer answer = RunOn(trace, "kernel_launch_overhead");
  ASSERT_TRUE(answer.abstention.has_value());
  EXPECT_EQ(ToJson(Cell(answer.abstention->details, "missing_columns"), JsonLayout::kOneLine),
            R"({"CUPTI_ACTIVITY_KIND_KERNEL": ["globalPid"]})");
}

// ---- kernel_launch_pattern

TEST(KernelLaunchPattern, EqualStreamNumbersStayApart) {
  const Trace trace =
      TraceBuilder()
          .Kernel("k", {.start_ns = 0, .end_ns = kMs, .device = 1})
          .Kernel("k", {.start_ns = 3 * kMs, .end_ns = 4 * kMs, .device = 1})
          .Kernel("k", {.start_ns = kMs, .end_ns = 3 * kMs, .device = 0})
          .Kernel("k", {.start_ns = kMs, .end_ns = 3 * kMs, .device = 0, .pid = 200})
          .Build();
  const Answer answer = RunOn(trace, "kernel_launch_pattern");
  ASSERT_EQ(answer.rows.size(), 3U) << "three processes and devices use stream 7";
  EXPECT_EQ(IntCell(answer.rows[0], "deviceId"), 1) << "most kernels first";
  EXPECT_EQ(RealCell(answer.rows[0], "max_gap_ms"), 2.0);
  EXPECT_EQ(RealCell(answer.rows[0], "occupancy_pct"), 50.0);
  EXPECT_EQ(IntCell(answer.rows[0], "sync_stalls"), 1);
  EXPECT_EQ(IntCell(answer.rows[1], "pid"), 100);
  EXPECT_TRUE(Cell(answer.rows[1], "avg_gap_us").is_null());
}

TEST(KernelLaunchPattern, OverlapMakesNoGap) {
  const Trace trace = TraceBuilder()
                          .Kernel("long", {.start_ns = 0, .end_ns = 10 * kMs})
                          .Kernel("short", {.start_ns = kMs, .end_ns = 2 * kMs})
                          .Kernel("next", {.start_ns = 9 * kMs, .end_ns = 12 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "kernel_launch_pattern");
  EXPECT_EQ(RealCell(answer.rows[0], "max_gap_ms"), 0.0);
  EXPECT_EQ(RealCell(answer.rows[0], "occupancy_pct"), 100.0);
  EXPECT_EQ(RealCell(answer.rows[0], "total_kernel_ms"), 14.0);
  EXPECT_EQ(IntCell(answer.rows[0], "sync_stalls"), 0);
}

TEST(KernelLaunchPattern, WholeGraphsKeepAStreamBusy) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 10 * kMs, .end_ns = 11 * kMs})
                          .Graph({.start_ns = 5 * kMs, .end_ns = 19 * kMs})
                          .Kernel("k", {.start_ns = 20 * kMs, .end_ns = 21 * kMs})
                          .Build();
  const Object row = RunOn(trace, "kernel_launch_pattern").rows.at(0);
  EXPECT_EQ(RealCell(row, "span_ms"), 11.0) << "of the kernels";
  EXPECT_EQ(RealCell(row, "max_gap_ms"), 1.0);
  EXPECT_EQ(IntCell(row, "max_gap_start_ns"), 19 * kMs);
  EXPECT_EQ(RealCell(row, "occupancy_pct"), 90.9);
}

TEST(KernelLaunchPattern, ASpanOfZeroHasNoRate) {
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 5, .end_ns = 5}).Build();
  const Answer answer = RunOn(trace, "kernel_launch_pattern");
  EXPECT_TRUE(Cell(answer.rows[0], "dispatch_rate_per_ms").is_null());
  EXPECT_TRUE(Cell(answer.rows[0], "occupancy_pct").is_null());
  EXPECT_EQ(RealCell(answer.rows[0], "max_gap_ms"), 0.0);
}

TEST(KernelLaunchPattern, AgreesWithPaintedTime) {
  std::mt19937 random(3);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 500; ++round) {
    TraceBuilder builder;
    std::vector<uint8_t> busy(60, 0);
    for (int64_t i = number(9); i >= 0; --i) {
      const int64_t start = number(40);
      const int64_t end = start + 1 + number(12);
      builder.Kernel("k", {.start_ns = start * kMs, .end_ns = end * kMs});
      std::fill(busy.begin() + start, busy.begin() + end, uint8_t{1});
    }
    const auto first = std::find(busy.begin(), busy.end(), 1);
    const auto last = std::find(busy.rbegin(), busy.rend(), 1).base();
    int64_t longest = 0;
    int64_t stalls = 0;
    int64_t idle = 0;
    for (auto at = first; at != last; ++at) {
      idle = *at != 0 ? 0 : idle + 1;
      longest = std::max(longest, idle);
      stalls += idle == 2 ? 1 : 0;  // longer than 1 ms
    }
    const Object row = RunOn(builder.Build(), "kernel_launch_pattern").rows.at(0);
    ASSERT_EQ(RealCell(row, "max_gap_ms"), static_cast<double>(longest));
    ASSERT_EQ(IntCell(row, "sync_stalls"), stalls);
    ASSERT_EQ(IntCell(row, "span_ns"), (last - first) * kMs);
    const double pct =
        100.0 * static_cast<double>(std::count(first, last, 1)) / static_cast<double>(last - first);
    ASSERT_NEAR(RealCell(row, "occupancy_pct"), pct, 0.05 + 1e-9);
  }
}

// ---- h2d_distribution

TEST(H2dDistribution, ThePatternIsAboutTheRows) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = 0, .end_ns = 10'000 * kMs});
  for (int64_t second = 0; second < 4; ++second) {
    builder.Copy({.start_ns = second * 1000 * kMs,
                  .end_ns = second * 1000 * kMs + 1000,
                  .bytes = second == 3 ? 400'000 : 100'000});
  }
  const Answer answer = RunOn(builder.Build(), "h2d_distribution");
  ASSERT_EQ(answer.rows.size(), 4U);
  EXPECT_EQ(RealCell(answer.rows[3], "avg_gbps"), 400.0);
  ASSERT_EQ(answer.about.size(), 1U);
  EXPECT_EQ(TextCell(answer.about[0], "type"), "spike");
  EXPECT_EQ(ToJson(Cell(answer.about[0], "spike_seconds"), JsonLayout::kOneLine), "[3]");
  EXPECT_EQ(IntCell(answer.about[0], "gpu_id"), 0);
}

TEST(H2dDistribution, NoCopiesHaveNoPattern) {
  const Trace trace =
      TraceBuilder().Copy({.start_ns = 0, .end_ns = 5, .bytes = 5, .kind = 2}).Build();
  const Answer answer = RunOn(trace, "h2d_distribution");
  EXPECT_TRUE(answer.rows.empty());
  EXPECT_TRUE(answer.about.empty());
}

// ---- nccl_anomaly

TEST(NcclAnomaly, MeansAreOfOneDeviceAndOperation) {
  TraceBuilder builder;
  for (int64_t i = 0; i < 9; ++i) {
    builder.Kernel("ncclDevKernel_SendRecv", {.start_ns = i * 100, .end_ns = i * 100 + 10})
        .Kernel("ncclDevKernel_AllReduce_Sum",
                {.start_ns = i * 1000, .end_ns = i * 1000 + 90, .device = 1});
  }
  builder.Kernel("ncclDevKernel_SendRecv", {.start_ns = 5000, .end_ns = 5080});
  const Answer answer = RunOn(builder.Build(), "nccl_anomaly");
  ASSERT_EQ(answer.rows.size(), 1U) << "90 ns are usual on the other device";
  EXPECT_EQ(TextCell(answer.rows[0], "op_type"), "sendrecv");
  EXPECT_EQ(IntCell(answer.rows[0], "dur_ns"), 80);
  EXPECT_EQ(RealCell(answer.rows[0], "ratio_to_avg"), 4.7) << "80 / (170 / 10)";
  EXPECT_EQ(IntCell(answer.rows[0], "total_count"), 10);
  EXPECT_EQ(IntCell(answer.rows[0], "deviceId"), 0);
}

TEST(NcclAnomaly, TheThresholdIsStrictAndExact) {
  TraceBuilder builder;
  builder
      .Kernel("nccldevkernel_x", {.start_ns = 0, .end_ns = 30})  // mean 20
      .Kernel("nccldevkernel_x", {.start_ns = 100, .end_ns = 110});
  const Trace trace = builder.Build();
  EXPECT_EQ(RunOn(trace, "nccl_anomaly", {{"threshold", "1.5"}}).rows.size(), 0U);
  EXPECT_EQ(RunOn(trace, "nccl_anomaly", {{"threshold", "1.49"}}).rows.size(), 1U);
}

TEST(NcclAnomaly, TooFewOperationsAreNoAllClear) {
  const Trace trace =
      TraceBuilder()
          .Kernel("vllm::cross_device_reduce_1stage<half>", {.start_ns = 0, .end_ns = 1000})
          .Kernel("vllm::cross_device_reduce_1stage<half>", {.start_ns = 2000, .end_ns = 2001})
          .Kernel("reduce_kernel", {.start_ns = 0, .end_ns = 9000})
          .Build();
  const Answer answer = RunOn(trace, "nccl_anomaly");
  EXPECT_TRUE(answer.rows.empty());
  ASSERT_EQ(answer.notes.size(), 2U);
  EXPECT_NE(answer.notes[1].find("custom_allreduce on device 0 (2)"), std::string::npos);
}

TEST(NcclAnomaly, AThresholdOfZeroIsRefused) {
  const Skill* skill = FindSkill("nccl_anomaly");
  for (const char* value : {"0", "-1", "nan", "inf"}) {
    const std::vector<GivenParam> given = {{"threshold", value}};
    EXPECT_FALSE(BindParams(*skill, given).ok()) << value;
  }
}

// ---- kernel_overlap_matrix

// The pair (a, b) of a matrix.
const Object& Pair(const Answer& answer, std::string_view a, std::string_view b) {
  for (const Object& row : answer.rows) {
    if (TextCell(row, "category_a") == a && TextCell(row, "category_b") == b) {
      return row;
    }
  }
  ADD_FAILURE() << "no pair " << a << ", " << b;
  return answer.rows.front();
}

TEST(KernelOverlapMatrix, PairsAreIntersectionsOfUnions) {
  const Trace trace =
      TraceBuilder()
          .Kernel("gemm", {.start_ns = 0, .end_ns = 100})
          .Kernel("gemm", {.start_ns = 50, .end_ns = 150, .stream = 8})
          .Kernel("ncclDevKernel_AllReduce", {.start_ns = 100, .end_ns = 200, .stream = 9})
          .Kernel("ncclDevKernel_AllGather", {.start_ns = 120, .end_ns = 180, .stream = 10})
          .Copy({.start_ns = 140, .end_ns = 150, .bytes = 1, .kind = 10, .stream = 11})
          .Copy({.start_ns = 0, .end_ns = 900, .bytes = 1, .device = 1})
          .Build();
  const Answer answer = RunOn(trace, "kernel_overlap_matrix");
  ASSERT_EQ(answer.rows.size(), 10U);
  EXPECT_EQ(IntCell(Pair(answer, "compute", "compute"), "overlap_ns"), 150);
  EXPECT_TRUE(Cell(Pair(answer, "compute", "compute"), "pct_of_a").is_null());
  const Object& hidden = Pair(answer, "compute", "nccl_allreduce");
  EXPECT_EQ(IntCell(hidden, "overlap_ns"), 50);
  EXPECT_EQ(RealCell(hidden, "pct_of_a"), 33.3);
  EXPECT_EQ(RealCell(hidden, "pct_of_b"), 50.0);
  EXPECT_EQ(IntCell(Pair(answer, "compute", "memcpy_p2p"), "overlap_ns"), 10);
  EXPECT_NE(answer.notes[0].find("100 ns, all operations together, 50 ns of it (50.0 %)"),
            std::string::npos)
      << answer.notes[0];
}

TEST(KernelOverlapMatrix, CopiesAloneAreShown) {
  Trace trace = TraceBuilder().Copy({.start_ns = 0, .end_ns = 900, .bytes = 1}).Build();
  trace.schema.resolved[static_cast<size_t>(TableId::kKernel)] = "CUPTI_ACTIVITY_KIND_KERNEL";
  const Answer answer = RunOn(trace, "kernel_overlap_matrix");
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(TextCell(answer.rows[0], "category_a"), "memcpy_h2d");
  EXPECT_NE(answer.notes[0].find("No kernel ran"), std::string::npos);
}

TEST(KernelOverlapMatrix, NothingInTheWindowIsAProblem) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 0, .end_ns = 5})
                          .Kernel("k", {.start_ns = 90, .end_ns = 95})
                          .Build();
  const Answer answer = RunOn(trace, "kernel_overlap_matrix", {}, Window{10, 80});
  ASSERT_TRUE(answer.problem.has_value());
  EXPECT_EQ(TextCell(*answer.problem, "error"), "no kernels found");
  EXPECT_EQ(IntCell(*answer.problem, "device"), 0);
}

TEST(KernelOverlapMatrix, AgreesWithPaintedTime) {
  std::mt19937 random(8);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  const std::vector<std::string> names = {"gemm", "ncclDevKernel_AllReduce", "ncclKernel_Reduce"};
  const std::vector<std::string> categories = {"compute", "nccl_allreduce", "nccl_reduce"};
  for (int round = 0; round < 300; ++round) {
    TraceBuilder builder;
    std::map<std::string, std::vector<uint8_t>> painted;
    for (int64_t i = number(10); i >= 0; --i) {
      const int64_t start = number(50);
      const int64_t end = start + number(20);
      const auto kind = static_cast<size_t>(number(4));
      kind < 3
          ? builder.Kernel(names[kind], {.start_ns = start, .end_ns = end, .stream = number(3)})
          : builder.Copy({.start_ns = start, .end_ns = end, .kind = 99});
      auto& paint = painted[kind < 3 ? categories[kind] : "memcpy_99"];
      paint.resize(80, 0);
      std::fill(paint.begin() + start, paint.begin() + end, uint8_t{1});
    }
    builder.Kernel("elsewhere", {.start_ns = 0, .end_ns = 60, .device = 1});
    const Answer answer = RunOn(builder.Build(), "kernel_overlap_matrix", {{"device", "0"}});
    if (answer.problem) {  // copies alone, and the device has no kernel
      ASSERT_TRUE(painted.size() == 1 && painted.contains("memcpy_99"));
      continue;
    }
    ASSERT_EQ(answer.rows.size(), painted.size() * (painted.size() + 1) / 2);
    for (const auto& [a, of_a] : painted) {
      for (const auto& [b, of_b] : painted) {
        if (a > b) {
          continue;
        }
        int64_t both = 0;
        for (size_t t = 0; t < of_a.size(); ++t) {
          both += of_a[t] != 0 && of_b[t] != 0 ? 1 : 0;
        }
        ASSERT_EQ(IntCell(Pair(answer, a, b), "overlap_ns"), both) << a << " " << b;
      }
    }
  }
}

// ---- all of them

TEST(KernelSkills, AbstainWithoutTheirTables) {
  const Trace trace = TraceBuilder().Range("r", {.start_ns = 0, .end_ns = 1}).Build();
  for (const char* name : {"tensor_core_usage", "kernel_launch_overhead", "kernel_launch_pattern",
                           "h2d_distribution", "nccl_anomaly", "kernel_overlap_matrix"}) {
    const Answer answer = RunOn(trace, name);
    ASSERT_TRUE(answer.abstention.has_value()) << name;
    EXPECT_NE(answer.abstention->details.Find("missing_tables"), nullptr) << name;
  }
}

}  // namespace
}  // namespace nsys
