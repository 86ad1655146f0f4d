// SPDX-License-Identifier: MIT
// Skills about NVTX ranges: what they answer, and what they refuse to answer.
#include <gtest/gtest.h>

#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kMs = 1'000'000;

// Two iterations on device 0; the second is launched before the first has ended on the GPU, and the
// autograd thread launches too.
Trace TwoIterations() {
  return TraceBuilder()
      .Range("sample_0 step 0", {.start_ns = 0, .end_ns = 10 * kMs})
      .Range("sample_0 step 1", {.start_ns = 10 * kMs, .end_ns = 20 * kMs})
      .Call("launch", {.start_ns = kMs, .end_ns = kMs + 10, .correlation = 1})
      .Call("launch", {.start_ns = 2 * kMs, .end_ns = 2 * kMs + 10, .correlation = 2})
      .Call("launch", {.start_ns = 3 * kMs, .end_ns = 3 * kMs + 10, .correlation = 3, .tid = 101})
      .Call("launch", {.start_ns = 11 * kMs, .end_ns = 11 * kMs + 10, .correlation = 4})
      .Kernel("gemm", {.start_ns = 2 * kMs, .end_ns = 6 * kMs, .correlation = 1})
      .Kernel("gemm", {.start_ns = 6 * kMs, .end_ns = 10 * kMs, .correlation = 2})
      .Kernel("ncclDevKernel_x",
              {.start_ns = 12 * kMs, .end_ns = 18 * kMs, .stream = 9, .correlation = 3})
      .Kernel("softmax", {.start_ns = 13 * kMs, .end_ns = 15 * kMs, .correlation = 4})
      .Build();
}

TEST(IterationDetail, OneSetOfKernels) {
  const Answer answer = RunOn(TwoIterations(), "iteration_detail", {{"iteration", "0"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  const Object& row = answer.rows[0];
  EXPECT_EQ(IntCell(row, "kernel_count"), 3);
  EXPECT_EQ(IntCell(row, "nccl_count"), 1);
  EXPECT_EQ(RealCell(row, "duration_ms"), 16.0);
  EXPECT_EQ(RealCell(row, "compute_ms"), 14.0);
  EXPECT_EQ(RealCell(row, "median_ms"), 9.0);
  EXPECT_EQ(TextCell(row, "vs_median"), "+77.8%");
  const List& top = *Cell(row, "top_kernels").AsList();
  ASSERT_EQ(top.size(), 2U) << "softmax ran meanwhile, but belongs to the next iteration";
  EXPECT_EQ(TextCell(*top[0].AsObject(), "name"), "gemm");
  EXPECT_EQ(RealCell(*top[0].AsObject(), "pct"), 57.1);
  EXPECT_EQ(RealCell(*top[1].AsObject(), "pct"), 42.9);
}

TEST(IterationDetail, SaysWhichIterationsThereAre) {
  const Answer beyond = RunOn(TwoIterations(), "iteration_detail", {{"iteration", "2"}});
  ASSERT_TRUE(beyond.problem.has_value());
  EXPECT_EQ(TextCell(*beyond.problem, "error"),
            "iteration 2 does not exist: device 0 has iterations 0 to 1");
  EXPECT_TRUE(RunOn(TwoIterations(), "iteration_detail", {{"iteration", "-1"}}).problem);
}

TEST(IterationDetail, AnnouncesTheHeuristic) {
  const Answer answer =
      RunOn(TwoIterations(), "iteration_detail", {{"iteration", "0"}, {"marker", "nowhere"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_TRUE(*Cell(answer.rows[0], "heuristic").AsBool());
  ASSERT_FALSE(answer.notes.empty());
  EXPECT_NE(answer.notes[0].find("'nowhere'"), std::string::npos);
}

TEST(IterationTiming, AnnouncesThatTheMarkerMatchedNothing) {
  const Answer answer = RunOn(TwoIterations(), "iteration_timing", {{"marker", "nowhere"}});
  ASSERT_FALSE(answer.notes.empty());
  EXPECT_NE(answer.notes[0].find("No NVTX range holds the marker 'nowhere'"), std::string::npos);
  EXPECT_TRUE(*Cell(answer.rows.at(0), "heuristic").AsBool());
}

Trace Annotated(int32_t type) {
  return TraceBuilder()
      .Range("forward", {.start_ns = 0, .end_ns = 100, .type = type})
      .Call("launch", {.start_ns = 10, .end_ns = 20, .correlation = 1})
      .Kernel("ncclDevKernel_x", {.start_ns = 50, .end_ns = 60, .correlation = 1})
      .Build();
}

TEST(AttributionSkills, AbstainWhereRangesCannotNest) {
  const Trace trace = Annotated(kNvtxStartEnd);
  for (const char* skill :
       {"nvtx_kernel_map", "nvtx_layer_breakdown", "nccl_compile_context_breakdown"}) {
    const Answer answer = RunOn(trace, skill);
    ASSERT_TRUE(answer.abstention.has_value()) << skill;
    EXPECT_EQ(TextCell(answer.abstention->details, "nvtx_event_types"), "60");
  }
  EXPECT_TRUE(
      RunOn(trace, "code_attribution_candidates", {{"start_ns", "0"}, {"end_ns", "9"}}).abstention);
  EXPECT_FALSE(RunOn(trace, "host_sync_parent_ranges").abstention);
}

TEST(LayerBreakdown, RefusesWhatMakesNoSense) {
  const Trace trace = Annotated(kNvtxPushPop);
  EXPECT_TRUE(RunOn(trace, "nvtx_layer_breakdown", {{"report", "bogus"}}).problem);
  EXPECT_TRUE(RunOn(trace, "nvtx_layer_breakdown", {{"depth", "-1"}}).problem);
  EXPECT_EQ(RunOn(trace, "nvtx_layer_breakdown", {{"report", ""}}).rows.size(), 1U);
  EXPECT_TRUE(RunOn(trace, "nvtx_layer_breakdown", {{"depth", "4000000000"}}).rows.empty());
  EXPECT_TRUE(RunOn(trace, "nvtx_layer_breakdown", {{"limit", "0"}}).rows.empty());
}

TEST(LayerBreakdown, CompactLeavesOutKernelsAndNames) {
  const Trace trace = Annotated(kNvtxPushPop);
  const Answer answer = RunOn(trace, "nvtx_layer_breakdown", {{"report", "compact"}});
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(answer.rows[0].Find("top_kernels"), nullptr);
  EXPECT_FALSE(*Cell(answer.rows[0], "kernels_included").AsBool());
  ASSERT_EQ(answer.about_before.size(), 1U);
  EXPECT_EQ(answer.about_before[0].Find("layer_names"), nullptr);
  EXPECT_EQ(IntCell(answer.about_before[0], "layer_names_total"), 0);
}

TEST(LayerBreakdown, CountsRangesThatCannotNest) {
  const Trace trace = TraceBuilder()
                          .Range("forward", {.start_ns = 0, .end_ns = 100})
                          .Range("phase", {.start_ns = 0, .end_ns = 100, .type = kNvtxStartEnd})
                          .Call("launch", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                          .Kernel("k", {.start_ns = 50, .end_ns = 60, .correlation = 1})
                          .Build();
  const Answer answer = RunOn(trace, "nvtx_layer_breakdown");
  EXPECT_EQ(TextCell(answer.rows.at(0), "nvtx_path"), "forward");
  EXPECT_EQ(std::count_if(answer.notes.begin(), answer.notes.end(),
                          [](const std::string& note) {
                            return note.starts_with("1 start-end range left out");
                          }),
            1);
}

TEST(KernelMap, FiltersByTheTextOfAnyRangeAround) {
  const Trace trace = TraceBuilder()
                          .Range("Forward 100%", {.start_ns = 0, .end_ns = 100})
                          .Range("layer_1", {.start_ns = 5, .end_ns = 50})
                          .Call("launch", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                          .Call("launch", {.start_ns = 60, .end_ns = 70, .correlation = 2})
                          .Kernel("a", {.start_ns = 200, .end_ns = 210, .correlation = 1})
                          .Kernel("b", {.start_ns = 220, .end_ns = 230, .correlation = 2})
                          .Build();
  const auto count = [&](const char* name) {
    return RunOn(trace, "nvtx_kernel_map", {{"name", name}}).rows.size();
  };
  EXPECT_EQ(count(""), 2U);
  EXPECT_EQ(count("forward"), 2U) << "an outer range counts";
  EXPECT_EQ(count("LAYER"), 1U);
  EXPECT_EQ(count("100%"), 2U);
  EXPECT_EQ(count("layer%1"), 0U) << "literal";
}

TEST(CallModes, ByTheInnermostRange) {
  TraceBuilder builder;
  builder.Range("Torch-Compiled Region", {.start_ns = 0, .end_ns = 1000});
  const std::vector<std::string> texts = {"c10d::allreduce_", "nccl:all_reduce",
                                          "## Call CompiledFxGraph abc ##", "my_step"};
  for (int64_t i = 0; i < 4; ++i) {
    builder.Range(texts[static_cast<size_t>(i)], {.start_ns = 100 * i + 10, .end_ns = 100 * i + 90})
        .Call("launch", {.start_ns = 100 * i + 20, .end_ns = 100 * i + 30, .correlation = i + 1})
        .Kernel("ncclDevKernel_x", {.start_ns = 5000 + 100 * i,
                                    .end_ns = 5000 + 100 * i + 10 * (i + 1),
                                    .correlation = i + 1});
  }
  builder.Call("launch", {.start_ns = 2000, .end_ns = 2010, .correlation = 9})
      .Kernel("ncclDevKernel_x", {.start_ns = 9000, .end_ns = 9100, .correlation = 9});
  const Answer answer = RunOn(builder.Build(), "nccl_compile_context_breakdown");
  ASSERT_EQ(answer.rows.size(), 3U);
  EXPECT_EQ(IntCell(answer.rows[0], "count"), 2);
  EXPECT_EQ(IntCell(answer.rows[0], "ns"), 30);
  EXPECT_EQ(IntCell(answer.rows[1], "ns"), 30);
  EXPECT_EQ(IntCell(answer.rows[2], "ns"), 40);
  EXPECT_EQ(RealCell(answer.rows[2], "ms_pct"), 40.0);
  EXPECT_EQ(IntCell(answer.about_before.at(0), "total_nccl_ns"), 100);
  EXPECT_EQ(IntCell(answer.about_before.at(0), "launched_outside_of_ranges"), 1);
}

TEST(CallModes, WithoutCommunicationAProblemRow) {
  const Trace trace = TraceBuilder()
                          .Range("forward", {.start_ns = 0, .end_ns = 100})
                          .Call("launch", {.start_ns = 10, .end_ns = 20, .correlation = 1})
                          .Kernel("gemm", {.start_ns = 50, .end_ns = 60, .correlation = 1})
                          .Build();
  EXPECT_TRUE(RunOn(trace, "nccl_compile_context_breakdown").problem);
}

TEST(CodeCandidates, ReadTheirParameters) {
  const Trace trace = Annotated(kNvtxPushPop);
  const auto run = [&](const std::vector<GivenParam>& more) {
    std::vector<GivenParam> given = {{"start_ns", "40"}, {"end_ns", "60"}};
    given.insert(given.end(), more.begin(), more.end());
    return RunOn(trace, "code_attribution_candidates", given);
  };
  const Answer all = run({});
  ASSERT_EQ(all.rows.size(), 1U);
  EXPECT_EQ(RealCell(all.rows[0], "confidence"), 0.9);
  const Object& evidence = *Cell(all.rows[0], "evidence").AsObject();
  EXPECT_EQ(IntCell(evidence, "nccl_kernel_count"), 1);
  EXPECT_TRUE(Cell(evidence, "selection_device_id").is_null());
  EXPECT_EQ(run({{"device", "0"}}).rows.size(), 1U);
  EXPECT_EQ(TextCell(*run({{"device", "7"}}).problem, "error"), "no kernels found");
  EXPECT_TRUE(run({{"device", "first"}}).problem);
  EXPECT_TRUE(run({{"min_overlap_pct", "100.5"}}).problem);
  EXPECT_TRUE(run({{"limit", "0"}}).rows.empty());
  EXPECT_TRUE(
      RunOn(trace, "code_attribution_candidates", {{"start_ns", "5"}, {"end_ns", "5"}}).problem);
}

TEST(HostSyncParents, NeedAPattern) {
  EXPECT_TRUE(
      RunOn(Annotated(kNvtxPushPop), "host_sync_parent_ranges", {{"patterns", " ,"}}).problem);
}

}  // namespace
}  // namespace nsys
