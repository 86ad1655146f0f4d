// SPDX-License-Identifier: MIT
#include "analysis/regions.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kUs = 1'000;

// Two calls of one operation and one of another, below a step; times in us.
TraceBuilder TwoOperations() {
  TraceBuilder builder;
  builder.Range("step", {.start_ns = 0, .end_ns = 100 * kUs})
      .Range("aten::mm, op_id = 1", {.start_ns = 10 * kUs, .end_ns = 20 * kUs})
      .Range("aten::mm, op_id = 2", {.start_ns = 30 * kUs, .end_ns = 40 * kUs})
      .Range("aten::add, op_id = 3", {.start_ns = 50 * kUs, .end_ns = 60 * kUs});
  int64_t id = 0;
  for (const int64_t start : {12, 32, 52, 200}) {
    ++id;
    builder
        .Call("cudaLaunchKernel",
              {.start_ns = start * kUs, .end_ns = (start + 2) * kUs, .correlation = id})
        .Kernel(id == 3 ? "ncclDevKernel_x" : "gemm", {.start_ns = (300 + 10 * id) * kUs,
                                                       .end_ns = (300 + 10 * id + id) * kUs,
                                                       .correlation = id});
  }
  builder.Kernel("early", {.start_ns = 0, .end_ns = kUs, .correlation = 77});
  return builder;
}

TEST(Regions, AddUpByNormalLabel) {
  const Trace trace = TwoOperations().Build();
  Views views(trace);
  const RegionBreakdown& found = BreakDownRegions(views, {.find_layers = false});
  ASSERT_EQ(found.regions.size(), 2U);
  EXPECT_EQ(found.Path(found.regions[0]), "step > aten::add, op_id = 3") << "one text: as it is";
  EXPECT_EQ(found.regions[0].total_ns, 3 * kUs);
  EXPECT_EQ(found.regions[0].communication_ns, 3 * kUs);
  EXPECT_EQ(found.Path(found.regions[1]), "step > aten::mm") << "two texts: what they share";
  EXPECT_EQ(found.regions[1].kernels, 2);
  EXPECT_EQ(found.regions[1].total_ns, 3 * kUs) << "equal totals: by path";
  EXPECT_EQ(found.regions[1].longest_ns, 2 * kUs);
  EXPECT_EQ(found.regions[1].tensor_eligible_ns, 3 * kUs);
  EXPECT_EQ(found.attribution->outside, 1U);
  EXPECT_EQ(found.attribution->without_call, 1U);
  EXPECT_EQ(found.attributed_ns, 6 * kUs);
  EXPECT_EQ(found.all_ns, 11 * kUs);
}

TEST(Regions, RawTextsStayApart) {
  const Trace trace = TwoOperations().Build();
  Views views(trace);
  const RegionBreakdown& found =
      BreakDownRegions(views, {.labels = LabelKind::kRaw, .find_layers = false});
  ASSERT_EQ(found.regions.size(), 3U);
  EXPECT_EQ(found.Name(found.regions[1]), "aten::mm, op_id = 2");
  EXPECT_EQ(found.Name(found.regions[2]), "aten::mm, op_id = 1");
}

TEST(Regions, IdsMakeNoLayers) {
  const Trace trace = TwoOperations().Build();
  Views views(trace);
  for (const LabelKind labels : {LabelKind::kNormal, LabelKind::kRaw}) {
    const RegionBreakdown& found = BreakDownRegions(views, {.labels = labels});
    ASSERT_TRUE(found.detection.has_value());
    EXPECT_EQ(found.detection->method, "fallback_top_level");
    EXPECT_EQ(found.detection->depths, (std::vector<uint32_t>{1}));
  }
}

TEST(Regions, OnlyOnePathDepth) {
  const Trace trace = TwoOperations().Build();
  Views views(trace);
  EXPECT_TRUE(BreakDownRegions(views, {.depth = 0}).regions.empty());
  EXPECT_EQ(BreakDownRegions(views, {.depth = 1}).regions.size(), 2U);
}

TEST(Layers, LabelsWithANumberOfTheirOwn) {
  for (const char* label : {"layer_0", "Block[1]", "encoder.layers.2", "layer_0_bwd", "a.3.mlp",
                            "FSDP::pre_forward (blocks.10._module)", "layer_3_step_7"}) {
    EXPECT_TRUE(IsNumberedLabel(label)) << label;
  }
  for (const char* label : {"", "forward", "conv2d", "layer_0x", "aten::_to_copy", "iteration_12",
                            "train_step_3", "Batch[4]", "sample_0 step 4", "(blocks.10)"}) {
    EXPECT_FALSE(IsNumberedLabel(label)) << label;
  }
}

// Layers with heads below them, and a reduction beside them, in several iterations.
TEST(Layers, StandBelowIterations) {
  TraceBuilder builder;
  int64_t id = 0;
  const auto launch = [&](int64_t at, int64_t ns) {
    ++id;
    builder.Call("launch", {.start_ns = at, .end_ns = at + 1, .correlation = id})
        .Kernel("k", {.start_ns = 1'000'000 + 1000 * id,
                      .end_ns = 1'000'000 + 1000 * id + ns,
                      .correlation = id});
  };
  for (int64_t i = 0; i < 4; ++i) {
    const int64_t t = 1000 * i;
    builder.Range("iteration_" + std::to_string(i), {.start_ns = t, .end_ns = t + 900});
    for (int64_t layer = 0; layer < 3; ++layer) {
      const int64_t begin = t + 100 + 100 * layer;
      builder.Range("layer_" + std::to_string(layer), {.start_ns = begin, .end_ns = begin + 90})
          .Range("attention", {.start_ns = begin + 10, .end_ns = begin + 40});
      launch(begin + 20, 10);
      launch(begin + 50, i == 3 && layer == 2 ? 90 : 20);
    }
    builder.Range("all_reduce", {.start_ns = t + 600, .end_ns = t + 700});
    launch(t + 650, 500);
  }
  const Trace trace = builder.Build();
  Views views(trace);
  const RegionBreakdown& found = BreakDownRegions(views, {});
  ASSERT_TRUE(found.detection.has_value());
  EXPECT_EQ(found.detection->grouping, "layer");
  EXPECT_EQ(found.detection->depth, 1U) << "iterations are numbered, but no layers";
  EXPECT_EQ(found.detection->names, (std::vector<std::string>{"layer_0", "layer_1", "layer_2"}));
  ASSERT_EQ(found.regions.size(), 16U);
  EXPECT_EQ(found.Path(found.regions[0]), "iteration_0 > all_reduce");
  EXPECT_FALSE(found.regions[0].is_layer);
  EXPECT_FALSE(found.regions[0].outlier) << "four reductions of one length";
  const Region& slow = found.regions[4];
  EXPECT_EQ(found.Name(slow), "iteration_3 > layer_2");
  EXPECT_TRUE(slow.is_layer);
  EXPECT_EQ(slow.total_ns, 100) << "what lies below is added";
  EXPECT_EQ(slow.kernels, 2);
  EXPECT_TRUE(slow.outlier) << "among layers";
  EXPECT_FALSE(found.regions[5].outlier);
}

// Random ranges of two threads and two domains, which may cross; paths and sums by plain search.
TEST(Regions, AgreeWithPlainSearch) {
  std::mt19937 random(11);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 300; ++round) {
    TraceBuilder builder;
    for (int64_t i = number(14); i >= 0; --i) {
      const int64_t start = number(60);
      builder.Range("r" + std::to_string(number(3)) + ", op_id = " + std::to_string(number(2)),
                    {.start_ns = start,
                     .end_ns = start + number(40),
                     .tid = 100 + number(2),
                     .domain = number(2),
                     .type = number(8) == 0 ? kNvtxStartEnd : kNvtxPushPop});
    }
    for (int64_t id = 1; id < 12; ++id) {
      const int64_t start = number(90);
      builder
          .Call("call", {.start_ns = start,
                         .end_ns = start + number(6),
                         .correlation = id,
                         .tid = 100 + number(2)})
          .Kernel("k" + std::to_string(number(3)),
                  {.start_ns = 200 + number(50), .end_ns = 300 + number(50), .correlation = id});
    }
    const Trace trace = builder.Build();
    Views views(trace);
    const RegionBreakdown& found =
        BreakDownRegions(views, {.labels = LabelKind::kRaw, .find_layers = false});
    std::map<std::string, int64_t> wanted;
    for (uint32_t kernel = 0; kernel < trace.kernels.size(); ++kernel) {
      const uint32_t call = views.KernelCalls()[kernel];
      const RangePaths paths = EnclosingRanges(trace, std::vector<uint32_t>{call});
      if (!paths.Path(0).empty()) {
        wanted[PathText(trace, paths.Path(0))] += trace.kernels.duration_ns(kernel);
      }
    }
    std::map<std::string, int64_t> got;
    for (const Region& region : found.regions) {
      got[found.Path(region)] += region.total_ns;
    }
    ASSERT_EQ(got, wanted) << "round " << round;
    std::map<std::string, int64_t> normal_wanted;
    for (const auto& [path, ns] : wanted) {
      normal_wanted[NormalLabel(path)] += ns;
    }
    std::map<std::string, int64_t> normal_got;
    const RegionBreakdown& normal = BreakDownRegions(views, {.find_layers = false});
    for (const Region& region : normal.regions) {
      normal_got[NormalLabel(normal.Path(region))] += region.total_ns;
    }
    ASSERT_EQ(normal_got, normal_wanted) << "round " << round;
    ASSERT_EQ(normal_got.size(), normal.regions.size()) << "one region per path";
  }
}

TEST(Regions, TopKernelsOfEachRegion) {
  const Trace trace = TwoOperations().Build();
  Views views(trace);
  const RegionBreakdown& found = BreakDownRegions(views, {.find_layers = false});
  const auto top = TopKernels(views, found, 10, 3);
  ASSERT_EQ(top.size(), 2U);
  ASSERT_EQ(top[1].size(), 1U);
  EXPECT_EQ(trace.Text(top[1][0].name), "gemm");
  EXPECT_EQ(top[1][0].kernels, 2);
  EXPECT_TRUE(TopKernels(views, found, 1, 0)[0].empty());
}

}  // namespace
}  // namespace nsys
