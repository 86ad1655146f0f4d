// SPDX-License-Identifier: MIT
// region_mfu, arithmetic_intensity, theoretical_flops and speedup_estimator on traces small enough
// to check by hand.
#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMs = 1'000'000;

std::string CodeOf(const Answer& answer) {
  if (!answer.problem) {
    return "no problem";
  }
  const Object* error = Cell(*answer.problem, "error").AsObject();
  return error == nullptr ? TextCell(*answer.problem, "error") : TextCell(*error, "code");
}

std::string MessageOf(const Answer& answer) {
  return TextCell(*Cell(answer.problem.value(), "error").AsObject(), "message");
}

// A range of 10 ms on the host whose thread launches two kernels of 4 ms, which run later and
// overlap by 1 ms; another thread and another process launch kernels with the same ids meanwhile.
Trace OneRegion() {
  return TraceBuilder()
      .Range("step, op_id = 7", {.start_ns = 0, .end_ns = 10 * kMs})
      .Range("step, op_id = 8", {.start_ns = 20 * kMs, .end_ns = 21 * kMs})
      .Range("stepping", {.start_ns = 30 * kMs, .end_ns = 31 * kMs})
      .Call("cudaLaunchKernel", {.start_ns = 1 * kMs, .end_ns = 2 * kMs, .correlation = 1})
      .Call("cudaLaunchKernel", {.start_ns = 3 * kMs, .end_ns = 4 * kMs, .correlation = 2})
      .Call("cudaLaunchKernel", {.start_ns = 9 * kMs, .end_ns = 11 * kMs, .correlation = 3})
      .Call("cudaLaunchKernel",
            {.start_ns = 5 * kMs, .end_ns = 6 * kMs, .correlation = 4, .tid = 101})
      .Call("cudaLaunchKernel",
            {.start_ns = 1 * kMs, .end_ns = 2 * kMs, .correlation = 1, .pid = 200, .tid = 200})
      .Kernel("gemm", {.start_ns = 12 * kMs, .end_ns = 16 * kMs, .correlation = 1})
      .Kernel("gemm", {.start_ns = 15 * kMs, .end_ns = 19 * kMs, .stream = 8, .correlation = 2})
      .Kernel("late", {.start_ns = 40 * kMs, .end_ns = 41 * kMs, .correlation = 3})
      .Kernel("other_thread", {.start_ns = 41 * kMs, .end_ns = 42 * kMs, .correlation = 4})
      .Kernel("other_process",
              {.start_ns = 12 * kMs, .end_ns = 90 * kMs, .correlation = 1, .pid = 200})
      .Build();
}

TEST(RegionMfu, CountsWhatTheRangesOwnThreadLaunched) {
  const Answer answer =
      RunOn(OneRegion(), "region_mfu",
            {{"name", "step"}, {"theoretical_flops", "7e11"}, {"peak_tflops", "200"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  const Object& row = answer.rows[0];
  EXPECT_EQ(TextCell(row, "matched_text"), "step, op_id = 7");
  EXPECT_EQ(IntCell(row, "kernel_count"), 2);
  EXPECT_EQ(IntCell(row, "wall_ns"), 10 * kMs);
  EXPECT_EQ(IntCell(row, "gpu_kernel_sum_ns"), 8 * kMs);
  EXPECT_EQ(IntCell(row, "gpu_kernel_union_ns"), 7 * kMs);
  EXPECT_EQ(RealCell(row, "achieved_tflops_wall"), 70.0);
  EXPECT_EQ(RealCell(row, "achieved_tflops_kernel_sum"), 87.5);
  EXPECT_EQ(RealCell(row, "achieved_tflops_kernel_union"), 100.0);
  EXPECT_EQ(RealCell(row, "mfu_pct_wall"), 35.0);
  EXPECT_EQ(RealCell(row, "mfu_pct_kernel_sum"), 43.75);
  EXPECT_EQ(RealCell(row, "mfu_pct_kernel_union"), 50.0);
  EXPECT_EQ(RealCell(row, "headroom_ms"), 3.5);
}

TEST(RegionMfu, MatchesNamesLiterally) {
  const Trace trace = OneRegion();
  const auto run = [&](std::vector<GivenParam> given) {
    given.insert(given.end(), {{"theoretical_flops", "1e9"}, {"peak_tflops", "200"}});
    return RunOn(trace, "region_mfu", given);
  };
  EXPECT_EQ(CodeOf(run({{"name", "st_p"}})), "NVTX_NOT_FOUND");
  EXPECT_EQ(CodeOf(run({{"name", "Step"}})), "NVTX_NOT_FOUND");
  EXPECT_EQ(CodeOf(run({{"name", "tep"}, {"match_mode", "startswith"}})), "NVTX_NOT_FOUND");
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"match_mode", "regex"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeOf(run({{"name", ""}})), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"source", "cpu"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"occurrence_index", "0"}})), "INVALID_ARGUMENT");
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"occurrence_index", "4"}})),
            "NVTX_OCCURRENCE_OUT_OF_RANGE");
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"occurrence_index", "2"}})), "NO_KERNELS_IN_REGION");
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"device_id", "5"}})), "no kernels found");
  // Without its running id, an exact name means the label; "stepping" is another.
  const Answer exact = run({{"name", "step"}, {"match_mode", "exact"}});
  ASSERT_EQ(exact.rows.size(), 1U);
  EXPECT_EQ(TextCell(exact.rows[0], "matched_text"), "step, op_id = 7");
  EXPECT_THAT(exact.notes[0], HasSubstr("running ids"));
  EXPECT_EQ(CodeOf(run({{"name", "step"}, {"match_mode", "exact"}, {"occurrence_index", "3"}})),
            "NVTX_OCCURRENCE_OUT_OF_RANGE");
}

TEST(RegionMfu, LongerOfTwoRangesThatStartTogetherComesFirst) {
  const Trace trace = TraceBuilder()
                          .Range("x inner", {.start_ns = 0, .end_ns = 5})
                          .Range("x outer", {.start_ns = 0, .end_ns = 9})
                          .Call("cudaLaunchKernel", {.start_ns = 1, .end_ns = 2, .correlation = 1})
                          .Kernel("k", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                          .Build();
  const Answer answer =
      RunOn(trace, "region_mfu", {{"name", "x"}, {"theoretical_flops", "1"}, {"peak_tflops", "1"}});
  EXPECT_EQ(TextCell(answer.rows[0], "matched_text"), "x outer");
}

TEST(RegionMfu, KernelsOfANameOnSeveralDevices) {
  const Trace trace = TraceBuilder()
                          .Kernel("gemm_a", {.start_ns = 0, .end_ns = 10 * kMs})
                          .Kernel("gemm_b", {.start_ns = 5 * kMs, .end_ns = 15 * kMs, .device = 1})
                          .Kernel("relu", {.start_ns = 0, .end_ns = 90 * kMs})
                          .Kernel("gemm_c", {.start_ns = 30 * kMs, .end_ns = 30 * kMs})
                          .Build();
  const Answer answer = RunOn(trace, "region_mfu",
                              {{"name", "gemm"},
                               {"source", "kernel"},
                               {"theoretical_flops", "3e12"},
                               {"peak_tflops", "100"},
                               {"num_gpus", "2"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  const Object& row = answer.rows[0];
  EXPECT_EQ(TextCell(row, "matched_text"), "gemm_a");
  EXPECT_TRUE(Cell(row, "occurrence_index").is_null());
  EXPECT_EQ(IntCell(row, "gpu_kernel_union_ns"), 15 * kMs) << "of both devices together";
  EXPECT_EQ(RealCell(row, "effective_peak_tflops"), 200.0);
  EXPECT_EQ(RealCell(row, "mfu_pct_kernel_union"), 100.0);
  EXPECT_EQ(RealCell(row, "mfu_pct_kernel_sum"), 75.0);
  const List& devices = *Cell(row, "per_device").AsList();
  ASSERT_EQ(devices.size(), 2U);
  EXPECT_EQ(IntCell(*devices[1].AsObject(), "device_id"), 1);
  EXPECT_EQ(IntCell(*devices[1].AsObject(), "gpu_kernel_union_ns"), 10 * kMs);
}

TEST(RegionMfu, RefusesMoreThanThePeak) {
  // 1 ms of GPU time with 989e12 FLOPs against 989 TFLOP/s.
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = kMs}).Build();
  const auto run = [&](const char* flops) {
    return RunOn(trace, "region_mfu",
                 {{"name", "k"},
                  {"source", "kernel"},
                  {"theoretical_flops", flops},
                  {"peak_tflops", "989"}});
  };
  const Answer answer = run("989e12");
  EXPECT_EQ(CodeOf(answer), "MFU_OUT_OF_RANGE");
  EXPECT_EQ(RealCell(*answer.problem, "implied_mfu_pct_kernel_union"), 100'000.0);
  EXPECT_EQ(answer.problem->Find("mfu_pct_kernel_union"), nullptr);
  EXPECT_THAT(MessageOf(answer), HasSubstr("9.89e+14 FLOPs in 1.00 ms"));
  EXPECT_EQ(RealCell(run("989e9").rows.at(0), "mfu_pct_wall"), 100.0) << "the peak itself may be";
  EXPECT_EQ(CodeOf(run("1e300")), "MFU_OUT_OF_RANGE");
}

TEST(RegionMfu, SaysWhenTheRangeEndedBeforeItsKernels) {
  const Trace trace = TraceBuilder()
                          .Range("async", {.start_ns = 0, .end_ns = 1000})
                          .Call("cudaLaunchKernel", {.start_ns = 1, .end_ns = 2, .correlation = 1})
                          .Kernel("k", {.start_ns = 10, .end_ns = 10 + kMs, .correlation = 1})
                          .Build();
  const Answer answer =
      RunOn(trace, "region_mfu",
            {{"name", "async"}, {"theoretical_flops", "5e11"}, {"peak_tflops", "1000"}});
  EXPECT_EQ(CodeOf(answer), "MFU_OUT_OF_RANGE");
  EXPECT_THAT(MessageOf(answer), HasSubstr("by that it is 50.00 %"));
}

Trace OnGpu(const char* name, std::optional<const char*> second = std::nullopt) {
  Trace trace = TraceBuilder()
                    .Kernel("k", {.start_ns = 0, .end_ns = kMs})
                    .Kernel("k", {.start_ns = 0, .end_ns = kMs, .device = 1})
                    .Build();
  trace.gpus = {{.id = 4, .name = name, .chip = "GA102"},
                {.id = 5, .name = second.value_or(name), .chip = "GA102"}};
  trace.cuda_devices = {{.ordinal = 0, .gpu = 4}, {.ordinal = 1, .gpu = 5}};
  return trace;
}

TEST(RegionMfu, LooksUpTheGpusThatTheKernelsRanOn) {
  const std::vector<GivenParam> given = {
      {"name", "k"}, {"source", "kernel"}, {"theoretical_flops", "1e9"}};
  const Answer answer = RunOn(OnGpu("NVIDIA A40"), "region_mfu", given);
  EXPECT_EQ(RealCell(answer.rows.at(0), "peak_tflops_per_gpu"), 149.7);
  EXPECT_EQ(CodeOf(RunOn(OnGpu("NVIDIA A40", "NVIDIA A10"), "region_mfu", given)),
            "GPU_PEAK_UNKNOWN");
  const Answer unknown = RunOn(OnGpu("NVIDIA T400"), "region_mfu", given);
  EXPECT_EQ(CodeOf(unknown), "GPU_PEAK_UNKNOWN");
  EXPECT_THAT(MessageOf(unknown), HasSubstr("-p peak_tflops="));
  std::vector<GivenParam> tf32 = given;
  tf32.emplace_back("precision", "tf32");
  EXPECT_EQ(
      RealCell(RunOn(OnGpu("NVIDIA A40"), "region_mfu", tf32).rows.at(0), "peak_tflops_per_gpu"),
      74.8);
}

TEST(RegionMfu, AbstainsWithoutRangesOrCalls) {
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = kMs}).Build();
  const Answer answer = RunOn(trace, "region_mfu", {{"name", "k"}, {"theoretical_flops", "1"}});
  ASSERT_TRUE(answer.abstention.has_value());
  EXPECT_EQ(*Cell(answer.abstention->details, "missing_tables").AsList()->front().AsText(),
            "NVTX_EVENTS");
}

TEST(RegionMfu, AgreesWithPaintedTime) {
  std::mt19937 random(11);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 500; ++round) {
    TraceBuilder builder;
    std::vector<uint8_t> busy(200, 0);
    int64_t count = 0;
    int64_t sum = 0;
    builder.Range("r", {.start_ns = 20, .end_ns = 60});
    for (int64_t id = 0; id <= number(12); ++id) {
      const int64_t call = number(80);
      const int64_t length = number(6);
      const int64_t start = 100 + number(60);
      const int64_t end = start + number(30);
      const int64_t tid = 100 + number(2);
      const int64_t pid = number(4) == 0 ? 200 : 100;
      builder.Call(
          "cudaLaunchKernel",
          {.start_ns = call, .end_ns = call + length, .correlation = id, .pid = pid, .tid = tid});
      builder.Kernel("k", {.start_ns = start,
                           .end_ns = end,
                           .stream = number(3),
                           .device = number(2),
                           .correlation = id,
                           .pid = pid});
      if (pid == 100 && tid == 100 && call >= 20 && call + length <= 60 && end > start) {
        ++count;
        sum += end - start;
        std::fill(busy.begin() + start, busy.begin() + end, uint8_t{1});
      }
    }
    const Answer answer = RunOn(builder.Build(), "region_mfu",
                                {{"name", "r"}, {"theoretical_flops", "1"}, {"peak_tflops", "1"}});
    if (count == 0) {
      EXPECT_EQ(CodeOf(answer), "NO_KERNELS_IN_REGION");
      continue;
    }
    ASSERT_EQ(answer.rows.size(), 1U);
    EXPECT_EQ(IntCell(answer.rows[0], "kernel_count"), count);
    EXPECT_EQ(IntCell(answer.rows[0], "gpu_kernel_sum_ns"), sum);
    EXPECT_EQ(IntCell(answer.rows[0], "gpu_kernel_union_ns"),
              std::count(busy.begin(), busy.end(), 1));
  }
}

TEST(ArithmeticIntensity, CutsToTheWindowAndTheDevice) {
  const Answer answer =
      RunOn(OnGpu("NVIDIA A10"), "arithmetic_intensity",
            {{"theoretical_flops", "1.25e10"}, {"bytes_moved", "1e8"}}, Window{0, kMs / 2});
  ASSERT_EQ(answer.rows.size(), 1U);
  const Object& row = answer.rows[0];
  EXPECT_EQ(RealCell(row, "peak_fp16_tflops"), 125.0);
  EXPECT_EQ(RealCell(row, "hbm_bw_gbps"), 600.0);
  EXPECT_EQ(RealCell(row, "ridge_point_flop_per_byte"), 208.3);
  EXPECT_EQ(IntCell(row, "kernel_count"), 1);
  EXPECT_EQ(IntCell(row, "kernel_union_ns"), kMs / 2);
  EXPECT_EQ(RealCell(row, "achieved_tflops"), 25.0);
  EXPECT_EQ(RealCell(row, "mfu_pct"), 20.0);
  EXPECT_EQ(RealCell(row, "arithmetic_intensity"), 125.0);
  EXPECT_EQ(TextCell(row, "classification"), "Memory-bound (AI=125.0 < Ridge=208.3)");
}

TEST(ArithmeticIntensity, BoundsBelongToTheUpperClass) {
  const auto severity = [&](const char* flops) {
    const Answer answer = RunOn(OnGpu("?"), "arithmetic_intensity",
                                {{"theoretical_flops", flops}, {"peak_tflops", "100"}});
    return TextCell(answer.rows.at(0), "severity");
  };
  EXPECT_EQ(severity("5e10"), "info");
  EXPECT_EQ(severity("4.99e10"), "warning");
  EXPECT_EQ(severity("5e9"), "warning");
  EXPECT_EQ(severity("4.9e9"), "critical");
}

TEST(ArithmeticIntensity, AbstainsWhereADenominatorIsUnknownOrImpossible) {
  const auto run = [&](const Trace& trace, std::vector<GivenParam> given) {
    return RunOn(trace, "arithmetic_intensity", given);
  };
  const Answer unknown = run(OnGpu("NVIDIA T400"), {{"theoretical_flops", "1e9"}});
  ASSERT_TRUE(unknown.abstention.has_value());
  EXPECT_EQ(TextCell(unknown.abstention->details, "gpu_name"), "NVIDIA T400");
  const Trace trace = OnGpu("NVIDIA A10");
  EXPECT_TRUE(
      run(trace, {{"theoretical_flops", "1e9"}, {"peak_tflops", "-1"}}).abstention.has_value());
  EXPECT_TRUE(run(trace, {{"theoretical_flops", "0"}}).abstention.has_value());
  const Answer above = run(trace, {{"theoretical_flops", "1.26e11"}});
  ASSERT_TRUE(above.abstention.has_value());
  EXPECT_EQ(RealCell(above.abstention->details, "implied_mfu_pct"), 100.8);
  EXPECT_EQ(CodeOf(run(trace, {{"theoretical_flops", "1"}, {"hbm_bw_gbps", "-3"}})),
            "INVALID_ARGUMENT");
  const Answer aside = run(trace, {{"theoretical_flops", "1e9"}, {"bytes_moved", "0"}});
  EXPECT_TRUE(Cell(aside.rows.at(0), "arithmetic_intensity").is_null());
  EXPECT_THAT(aside.notes[0], HasSubstr("left aside"));
}

TEST(TheoreticalFlops, AreExactBeyond64Bits) {
  const Answer answer = RunOn(Trace{}, "theoretical_flops",
                              {{"operation", " Full_Model "},
                               {"hidden_dim", "16384"},
                               {"seq_len", "1048576"},
                               {"num_layers", "126"},
                               {"ffn_dim", "53248"},
                               {"batch_size", "2048"},
                               {"multiplier", "4"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(Cell(answer.rows[0], "theoretical_flops").AsBigInteger()->digits,
            "80478532707576346312704");
  EXPECT_EQ(TextCell(answer.rows[0], "theoretical_flops_str"), "8.047853e+22");
}

TEST(TheoreticalFlops, LinearCountsNoLayers) {
  const Answer answer = RunOn(Trace{}, "theoretical_flops",
                              {{"operation", "linear"},
                               {"M", "3"},
                               {"N", "5"},
                               {"K", "7"},
                               {"batch_size", "11"},
                               {"multiplier", "3"},
                               {"num_layers", "9"}});
  EXPECT_EQ(IntCell(answer.rows.at(0), "theoretical_flops"), 6930);
  EXPECT_EQ(TextCell(answer.rows[0], "formula"), "2 * 3 * 5 * 7 * batch(11) * mul(3)");
}

TEST(TheoreticalFlops, RefusesSizesThatCannotBe) {
  const auto code = [](std::vector<GivenParam> given) {
    return CodeOf(RunOn(Trace{}, "theoretical_flops", given));
  };
  EXPECT_EQ(code({{"operation", "softmax"}}), "INVALID_ARGUMENT");
  EXPECT_EQ(code({{"operation", "mlp"}, {"hidden_dim", "8"}}), "INVALID_ARGUMENT");
  EXPECT_EQ(code({{"operation", "mlp"}, {"hidden_dim", "8"}, {"seq_len", "8"}, {"ffn_dim", "-5"}}),
            "INVALID_ARGUMENT");
  EXPECT_EQ(code({{"operation", "attention"},
                  {"hidden_dim", "9223372036854775807"},
                  {"seq_len", "9223372036854775807"}}),
            "INVALID_ARGUMENT")
      << "more than 128 bits";
}

std::vector<Object> Estimate(const std::vector<GivenParam>& given) {
  return RunOn(Trace{}, "speedup_estimator", given).rows;
}

TEST(SpeedupEstimator, SavesAtMostTheIteration) {
  const auto rows = Estimate({{"iteration_ms", "100"}, {"idle_ms", "25"}});
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(RealCell(rows[0], "new_iteration_ms"), 75.0);
  EXPECT_EQ(RealCell(rows[0], "speedup"), 1.333);
  const auto all = Estimate({{"iteration_ms", "100"}, {"idle_ms", "150"}});
  EXPECT_EQ(RealCell(all.at(0), "saved_ms"), 100.0);
  EXPECT_EQ(RealCell(all[0], "new_iteration_ms"), 0.0);
  EXPECT_TRUE(Cell(all[0], "speedup").is_null());
}

TEST(SpeedupEstimator, ProposesOnlyDegreesThatFit) {
  const auto degree = [](const char* tp, const char* billions) -> std::string {
    const auto rows = Estimate({{"iteration_ms", "500"},
                                {"nccl_ms", "120"},
                                {"overlap_pct", "100"},
                                {"tp_degree", tp},
                                {"model_params_b", billions}});
    return TextCell(rows.at(0), "optimization");
  };
  EXPECT_THAT(degree("8", "6.5"), HasSubstr("TP=1"));
  EXPECT_THAT(degree("8", "13"), HasSubstr("TP=4"));
  EXPECT_THAT(degree("8", "70"), HasSubstr("No clear")) << "175 GB each do not fit either";
  EXPECT_THAT(degree("3", "13"), HasSubstr("No clear")) << "half of 3 is 1, which does not fit";
  EXPECT_THAT(degree("8", "0"), HasSubstr("No clear")) << "of a model of unknown size";
}

TEST(SpeedupEstimator, RefusesTimesThatCannotBe) {
  for (const auto& [name, value] : std::vector<GivenParam>{{"idle_ms", "-1"},
                                                           {"overlap_pct", "101"},
                                                           {"overlap_pct", "-1"},
                                                           {"tp_degree", "0"},
                                                           {"gpu_memory_gb", "0"},
                                                           {"nccl_ms", "-0.5"}}) {
    const Answer answer =
        RunOn(Trace{}, "speedup_estimator", {{"iteration_ms", "100"}, {name, value}});
    ASSERT_TRUE(answer.problem.has_value()) << name;
    EXPECT_THAT(TextCell(*answer.problem, "error"), HasSubstr(name));
  }
  EXPECT_TRUE(RunOn(Trace{}, "speedup_estimator", {{"iteration_ms", "0"}}).problem.has_value());
}

}  // namespace
}  // namespace nsys
