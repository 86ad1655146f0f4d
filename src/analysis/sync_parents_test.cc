// SPDX-License-Identifier: MIT
#include "analysis/sync_parents.h"

#include <map>
#include <random>

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

std::vector<SyncParent> Find(const Trace& trace, const std::vector<std::string>& patterns,
                             const std::optional<Window>& window = std::nullopt) {
  Views views(trace);
  return FindSyncParents(views, window, patterns);
}

TEST(HoldsWord, WholeWordsOnly) {
  EXPECT_TRUE(HoldsWord("aten::item, op_id = 3", "item"));
  EXPECT_TRUE(HoldsWord("Item", "item"));
  EXPECT_TRUE(HoldsWord("aten::_local_scalar_dense", "_local_scalar_dense"));
  EXPECT_TRUE(HoldsWord("itemize, then item", "item"));
  EXPECT_TRUE(HoldsWord("cudaStreamSynchronize", "cudastreamsynchronize"));
  EXPECT_TRUE(HoldsWord("cudaStreamSynchronize_v3020", "cudastreamsynchronize"));
  EXPECT_TRUE(HoldsWord("cudaStreamSynchronize_ptsz_v7000", "cudastreamsynchronize"));
  EXPECT_TRUE(HoldsWord("aten::item", "::item")) << "a colon may touch anything";
  EXPECT_FALSE(HoldsWord("itemize", "item"));
  EXPECT_FALSE(HoldsWord("get_item", "item"));
  EXPECT_FALSE(HoldsWord("items", "item"));
  EXPECT_FALSE(HoldsWord("item_valid", "item")) << "_v without a number is no version";
  EXPECT_FALSE(HoldsWord("localXscalarXdense", "_local_scalar_dense")) << "no wildcards";
  EXPECT_FALSE(HoldsWord("", "item"));
}

TEST(SyncParents, NestedWaitsCountOnce) {
  const Trace trace =
      TraceBuilder()
          .Range("aten::is_nonzero, op_id = 1", {.start_ns = 0, .end_ns = 1000})
          .Range("aten::item, op_id = 2", {.start_ns = 10, .end_ns = 990})
          .Range("aten::_local_scalar_dense, op_id = 3", {.start_ns = 20, .end_ns = 980})
          .Range("aten::is_nonzero, op_id = 4", {.start_ns = 2000, .end_ns = 2100})
          .Range("aten::item, op_id = 5", {.start_ns = 2000, .end_ns = 2050})
          .Range("aten::item, op_id = 6", {.start_ns = 3000, .end_ns = 3050, .tid = 101})
          .Build();
  const auto parents = Find(trace, {"item", "_local_scalar_dense"});
  ASSERT_EQ(parents.size(), 2U);
  EXPECT_EQ(parents[0].text, "aten::is_nonzero");
  EXPECT_EQ(parents[0].syncs, 2);
  EXPECT_EQ(parents[0].ranges, 2);
  EXPECT_EQ(parents[0].sync_ns, 980 + 50);
  EXPECT_EQ(parents[0].top_child, "aten::item");
  EXPECT_EQ(parents[1].text, "aten::item, op_id = 2") << "one text: as it is";
  EXPECT_EQ(parents[1].sync_ns, 960);
}

TEST(SyncParents, RangesOfJustTheWaitsIntervalAreNoParents) {
  const Trace trace = TraceBuilder()
                          .Range("outer", {.start_ns = 0, .end_ns = 100})
                          .Range("same", {.start_ns = 10, .end_ns = 20})
                          .Range("item", {.start_ns = 10, .end_ns = 20})
                          .Range("item", {.start_ns = 10, .end_ns = 20, .domain = 1})
                          .Build();
  const auto parents = Find(trace, {"item"});
  ASSERT_EQ(parents.size(), 1U);
  EXPECT_EQ(parents[0].text, "outer");
  EXPECT_EQ(parents[0].syncs, 1);
}

TEST(SyncParents, CrossingWaitsShareTheirTime) {
  const Trace trace = TraceBuilder()
                          .Range("outer", {.start_ns = 0, .end_ns = 100})
                          .Range("item", {.start_ns = 10, .end_ns = 50, .type = kNvtxStartEnd})
                          .Range("item", {.start_ns = 30, .end_ns = 70, .type = kNvtxStartEnd})
                          .Build();
  const auto parents = Find(trace, {"item"});
  ASSERT_EQ(parents.size(), 1U);
  EXPECT_EQ(parents[0].syncs, 2);
  EXPECT_EQ(parents[0].sync_ns, 60) << "never more than the parent lasts";
}

TEST(SyncParents, AgreeWithPlainSearch) {
  std::mt19937 random(5);
  const auto number = [&](uint32_t below) { return static_cast<int64_t>(random() % below); };
  for (int round = 0; round < 1000; ++round) {
    TraceBuilder builder;
    for (int64_t i = number(14); i >= 0; --i) {
      const int64_t start = number(30);
      builder.Range(number(3) == 0 ? "item" : "p" + std::to_string(number(3)),
                    {.start_ns = start,
                     .end_ns = start + number(20),
                     .tid = 100 + number(2),
                     .domain = number(2),
                     .type = number(2) == 0 ? kNvtxPushPop : kNvtxStartEnd});
    }
    const Trace trace = builder.Build();
    const NvtxTable& nvtx = trace.nvtx;
    const auto thread = [&](uint32_t row) {
      return trace.nvtx_lanes[Index(nvtx.lane[row])].thread;
    };
    const auto within = [&](uint32_t inner, uint32_t outer) {
      return thread(inner) == thread(outer) && nvtx.start_ns[outer] <= nvtx.start_ns[inner] &&
             nvtx.end_ns[inner] <= nvtx.end_ns[outer];
    };
    std::map<std::string, std::pair<int64_t, int64_t>> wanted;
    for (uint32_t parent = 0; parent < nvtx.size(); ++parent) {
      std::vector<uint32_t> children;
      for (uint32_t child = 0; child < nvtx.size(); ++child) {
        if (trace.Text(nvtx.text[child]) == "item" && nvtx.duration_ns(child) > 0 &&
            within(child, parent) && !(nvtx.span(child) == nvtx.span(parent))) {
          children.push_back(child);
        }
      }
      std::vector<Span> spans;
      int64_t outermost = 0;
      for (const uint32_t child : children) {
        const bool nested = std::any_of(children.begin(), children.end(), [&](uint32_t other) {
          return within(child, other) && (!(nvtx.span(child) == nvtx.span(other)) || other < child);
        });
        outermost += nested ? 0 : 1;
        spans.push_back(nvtx.span(child));
      }
      if (outermost > 0) {
        auto& sums = wanted[std::string(trace.Text(nvtx.text[parent]))];
        sums.first += outermost;
        sums.second += Length(Union(spans));
      }
    }
    std::map<std::string, std::pair<int64_t, int64_t>> got;
    for (const SyncParent& parent : Find(trace, {"item"})) {
      got[parent.text] = {parent.syncs, parent.sync_ns};
    }
    ASSERT_EQ(got, wanted) << "round " << round;
  }
}

}  // namespace
}  // namespace nsys
