// SPDX-License-Identifier: MIT
// The projection of ranges and the regions of kernels against a join of everything with everything.
#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <tuple>
#include <vector>

#include "layout_test_util.h"

namespace nsys::perfetto {
namespace {

using Shown = std::tuple<uint32_t, int64_t, int64_t, int64_t>;  // row, device, start, end

std::vector<Shown> ProjectionsOf(const Layout& layout) {
  std::vector<Shown> all;
  for (const Projected& projected : layout.projections) {
    all.emplace_back(projected.row, layout.groups[layout.tracks[projected.track].group].device,
                     projected.start_ns, projected.end_ns);
  }
  return all;
}

TEST(ProjectionTest, LaunchesAtTheBordersOfARangeAreOutside) {
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
                          .Kernel("k", {.start_ns = 1200, .end_ns = 1300, .correlation = 2})
                          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
                          .Call("launch", {.start_ns = 530, .end_ns = 600, .correlation = 2})
                          .Range("ends at the second", {.start_ns = 499, .end_ns = 530})
                          .Range("starts at the first", {.start_ns = 500, .end_ns = 531})
                          .Range("empty", {.start_ns = 530, .end_ns = 530})
                          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(ProjectionsOf(layout), (std::vector<Shown>{{0, 0, 1000, 1100}, {1, 0, 1200, 1300}}));
  EXPECT_EQ(RegionsOf(trace, layout, 0), (std::vector<std::string>{"ends at the second"}));
  EXPECT_EQ(RegionsOf(trace, layout, 1), (std::vector<std::string>{"starts at the first"}));
  EXPECT_EQ(layout.counts.projected_ranges, 2);
}

TEST(ProjectionTest, EveryCallWithTheKeyCounts) {
  // Kernel 9000 is linked to the call at 8000, yet the range around the call at 500 has it too.
  const Trace trace = TraceBuilder()
                          .Kernel("k", {.start_ns = 9000, .end_ns = 9100, .correlation = 1})
                          .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
                          .Call("launch", {.start_ns = 8000, .end_ns = 8020, .correlation = 1})
                          .Range("first", {.start_ns = 490, .end_ns = 530})
                          .Range("second", {.start_ns = 7990, .end_ns = 8030})
                          .Build();
  const Layout layout = LayoutOf(trace);
  EXPECT_EQ(layout.kernel_call[0], 1U);
  EXPECT_EQ(ProjectionsOf(layout), (std::vector<Shown>{{0, 0, 9000, 9100}, {1, 0, 9000, 9100}}));
  EXPECT_EQ(RegionsOf(trace, layout, 0), (std::vector<std::string>{"first", "second"}));
}

TEST(ProjectionTest, OtherThreadsOfTheProcessCountUnlessToldOtherwise) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
      .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1, .tid = 1})
      .Range("loader", {.start_ns = 400, .end_ns = 900, .tid = 2})
      .Range("step", {.start_ns = 450, .end_ns = 600, .tid = 1});
  const Trace trace = builder.Build();
  EXPECT_EQ(RegionsOf(trace, LayoutOf(trace), 0), (std::vector<std::string>{"loader", "step"}));
  const Layout strict = LayoutOf(trace, {.nvtx_scope = NvtxScope::kThread});
  EXPECT_EQ(RegionsOf(trace, strict, 0), (std::vector<std::string>{"step"}));
  EXPECT_EQ(ProjectionsOf(strict), (std::vector<Shown>{{1, 0, 1000, 1100}}));
}

TEST(ProjectionTest, RegionNamesComeOnceInOrderOfRangesAndAreCut) {
  TraceBuilder builder;
  builder.Kernel("k", {.start_ns = 1000, .end_ns = 1100, .correlation = 1})
      .Call("launch", {.start_ns = 500, .end_ns = 520, .correlation = 1})
      .Range("outer", {.start_ns = 400, .end_ns = 900})
      .Range("inner", {.start_ns = 400, .end_ns = 700})
      .Range("outer", {.start_ns = 401, .end_ns = 690})
      .NamelessRange({.start_ns = 402, .end_ns = 680});
  const Trace trace = builder.Build();
  EXPECT_EQ(RegionsOf(trace, LayoutOf(trace), 0),
            (std::vector<std::string>{"inner", "outer", "?"}));
  EXPECT_EQ(RegionsOf(trace, LayoutOf(trace, {.max_regions = 1}), 0),
            (std::vector<std::string>{"inner", "+2"}));
}

TEST(ProjectionTest, DeepStacksCostNoListPerKernel) {
  TraceBuilder builder;
  for (int i = 0; i < 200; ++i) {
    builder.Kernel("k", {.start_ns = 100000 + i, .end_ns = 100001 + i, .correlation = i})
        .Call("launch", {.start_ns = 5000 + i, .end_ns = 5001 + i, .correlation = i});
  }
  for (int i = 0; i < 300; ++i) {
    builder.Range("level " + std::to_string(i), {.start_ns = i, .end_ns = 90000 - i});
  }
  const Trace trace = builder.Build();
  const Layout layout = LayoutOf(trace);
  ASSERT_EQ(layout.region_sets.size(), 1U);
  EXPECT_EQ(layout.region_sets[0].count, 64U);
  EXPECT_EQ(layout.region_sets[0].cut, 236U);
}

// What a random trace is made of, kept beside it for the join.
struct RandomTrace {
  std::vector<KernelSpec> kernels;
  std::vector<CallSpec> calls;
  std::vector<RangeSpec> ranges;
};

template <typename Spec>
void SortSpecs(std::vector<Spec>& specs) {
  std::stable_sort(specs.begin(), specs.end(), [](const Spec& a, const Spec& b) {
    return std::tie(a.start_ns, a.end_ns) < std::tie(b.start_ns, b.end_ns);
  });
}

RandomTrace MakeRandom(std::mt19937& random) {
  RandomTrace made;
  const auto below = [&](int64_t limit) {
    return static_cast<int64_t>(random() % static_cast<uint64_t>(limit));
  };
  const auto pid = [&] { return 100 + below(2); };
  const int64_t calls = 1 + below(80);
  for (int64_t i = 0; i < calls; ++i) {
    const int64_t start = below(200);
    made.calls.push_back({.start_ns = start,
                          .end_ns = start + below(5),
                          .correlation = below(60),
                          .pid = pid(),
                          .tid = 1 + below(2)});
    const int64_t kernel = below(400);
    made.kernels.push_back({.start_ns = kernel,
                            .end_ns = kernel + below(30),
                            .device = below(2),
                            .correlation = below(70),
                            .pid = pid()});
    const int64_t range = below(200);
    made.ranges.push_back({.start_ns = range,
                           .end_ns = range + below(60),
                           .pid = pid(),
                           .tid = 1 + below(2),
                           .domain = below(8),
                           .type = below(5) == 0 ? kNvtxStartEnd : kNvtxPushPop});
  }
  SortSpecs(made.kernels);
  SortSpecs(made.calls);
  SortSpecs(made.ranges);
  return made;
}

Trace BuildRandom(const RandomTrace& made) {
  TraceBuilder builder;
  for (const KernelSpec& kernel : made.kernels) {
    builder.Kernel("k", kernel);
  }
  for (const CallSpec& call : made.calls) {
    builder.Call("launch", call);
  }
  for (const RangeSpec& range : made.ranges) {
    builder.Range("name " + std::to_string(range.domain), range);
  }
  return builder.Build();
}

// Whether the range covers a launch of the kernel.
bool CoversKernel(const RandomTrace& made, const RangeSpec& range, const KernelSpec& kernel,
                  NvtxScope scope) {
  return std::any_of(made.calls.begin(), made.calls.end(), [&](const CallSpec& call) {
    return call.pid == kernel.pid && call.correlation == kernel.correlation &&
           range.pid == call.pid && (scope == NvtxScope::kProcess || range.tid == call.tid) &&
           range.start_ns < call.start_ns && call.start_ns < range.end_ns;
  });
}

std::vector<Shown> JoinedProjections(const RandomTrace& made, NvtxScope scope) {
  std::vector<Shown> all;
  for (uint32_t row = 0; row < made.ranges.size(); ++row) {
    std::map<int64_t, Hull> hulls;
    for (const KernelSpec& kernel : made.kernels) {
      if (CoversKernel(made, made.ranges[row], kernel, scope)) {
        hulls[kernel.device].Add({kernel.start_ns, kernel.end_ns});
      }
    }
    for (const auto& [device, hull] : hulls) {
      all.emplace_back(row, device, hull.span()->begin_ns, hull.span()->end_ns);
    }
  }
  return all;
}

std::vector<std::string> JoinedRegions(const RandomTrace& made, const KernelSpec& kernel,
                                       NvtxScope scope, size_t most) {
  std::vector<std::string> names;
  std::set<std::string> known;
  for (const RangeSpec& range : made.ranges) {
    const std::string name = "name " + std::to_string(range.domain);
    if (CoversKernel(made, range, kernel, scope) && known.insert(name).second) {
      names.push_back(name);
    }
  }
  if (names.size() > most) {
    const size_t cut = names.size() - most;
    names.resize(most);
    names.push_back("+" + std::to_string(cut));
  }
  return names;
}

TEST(ProjectionTest, AgreesWithTheJoinOnRandomTraces) {
  std::mt19937 random(11);
  size_t projected = 0;
  for (int round = 0; round < 60; ++round) {
    const RandomTrace made = MakeRandom(random);
    const Trace trace = BuildRandom(made);
    for (const NvtxScope scope : {NvtxScope::kProcess, NvtxScope::kThread}) {
      const Layout layout = LayoutOf(trace, {.nvtx_scope = scope});
      const std::vector<Shown> expected = JoinedProjections(made, scope);
      ASSERT_EQ(ProjectionsOf(layout), expected);
      projected += expected.size();
      for (uint32_t kernel = 0; kernel < made.kernels.size(); ++kernel) {
        ASSERT_EQ(RegionsOf(trace, layout, kernel),
                  JoinedRegions(made, made.kernels[kernel], scope, 64));
      }
    }
  }
  EXPECT_GT(projected, 1000U);  // or the traces are too small to tell
}

// Captures in which every correlation id has one call, so that cut lists are exact.
TEST(ProjectionTest, CutListsAgreeWithTheJoin) {
  std::mt19937 random(13);
  for (int round = 0; round < 20; ++round) {
    RandomTrace made = MakeRandom(random);
    for (size_t i = 0; i < made.calls.size(); ++i) {
      made.calls[i].correlation = static_cast<int64_t>(i);
    }
    const Trace trace = BuildRandom(made);
    const Layout layout = LayoutOf(trace, {.max_regions = 3});
    for (uint32_t kernel = 0; kernel < made.kernels.size(); ++kernel) {
      ASSERT_EQ(RegionsOf(trace, layout, kernel),
                JoinedRegions(made, made.kernels[kernel], NvtxScope::kProcess, 3));
    }
  }
}

}  // namespace
}  // namespace nsys::perfetto
