// SPDX-License-Identifier: MIT
// Every section of the manifest gives what the skill of its subject gives, on random traces, for
// each device, with and without a window.
#include <map>
#include <random>
#include <set>

#include "base/number.h"
#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr int64_t kUs = 1'000;
constexpr int64_t kMs = 1'000'000;

class RandomTrace {
 public:
  explicit RandomTrace(uint32_t seed) : random_(seed) {}

  int64_t Number(uint32_t below) { return static_cast<int64_t>(random_() % below); }
  std::optional<Window> RandomWindow() {
    switch (Number(4)) {
      case 0:
        return std::nullopt;
      case 1:
        return Window{Number(30'000) * kUs};
      default:
        const int64_t begin = Number(30'000) * kUs;
        return Window{begin, begin + (1 + Number(50'000)) * kUs};
    }
  }

  Trace Make() {
    TraceBuilder builder;
    builder.SyncTypes();
    for (int64_t step = 0; step < 4; ++step) {
      for (const int64_t device : {0, 1}) {
        AddStep(builder, step * 15 * kMs, device);
      }
    }
    builder.Overhead(Number(60'000) * kUs, 60 * kMs + Number(20'000) * kUs);
    return builder.Build();
  }

 private:
  void AddStep(TraceBuilder& builder, int64_t begin, int64_t device) {
    const int64_t pid = 100 + device;
    builder.Range(Number(4) == 0 ? "warm-up" : "sample_0 step",
                  {.start_ns = begin, .end_ns = begin + 14 * kMs, .pid = pid, .tid = pid});
    for (int64_t i = Number(8); i >= 0; --i) {
      AddLaunch(builder, begin + Number(13'000) * kUs, device);
    }
    const int64_t at = begin + Number(12'000) * kUs;
    builder.Sync({.start_ns = at,
                  .end_ns = at + Number(3'000) * kUs,
                  .type = static_cast<int32_t>(1 + Number(4)),
                  .pid = pid,
                  .device = 0});
    const GpuWork work = RandomWork(begin, device);
    builder.Copy({.start_ns = work.start,
                  .end_ns = work.end,
                  .bytes = 5,
                  .stream = 21,
                  .device = device,
                  .pid = pid});
    const GpuWork graph = RandomWork(begin, device);
    builder.Graph(
        {.start_ns = graph.start, .end_ns = graph.end, .stream = 7, .device = device, .pid = pid});
  }

  struct GpuWork {
    int64_t start = 0;
    int64_t end = 0;
  };
  GpuWork RandomWork(int64_t begin, int64_t) {
    const int64_t start = begin + Number(14'000) * kUs;
    return {start, start + Number(3'000) * kUs};
  }

  void AddLaunch(TraceBuilder& builder, int64_t at, int64_t device) {
    static constexpr const char* kNames[] = {"gemm", "softmax", "ncclDevKernel_AllReduce",
                                             "ncclDevKernel_AllGather", "ncclDevKernel_SendRecv"};
    const int64_t pid = 100 + device;
    const int64_t start = at + Number(3'000) * kUs;
    const std::string name = kNames[Number(5)];
    if (name.starts_with("nccl") && Number(2) == 0) {
      builder.Range("ncclBroadcast",
                    {.start_ns = at - 10, .end_ns = at + 50, .pid = pid, .tid = pid, .domain = 1});
    }
    builder.Call(
        "cudaLaunchKernel",
        {.start_ns = at, .end_ns = at + 5, .correlation = ++correlation_, .pid = pid, .tid = pid});
    builder.Kernel(name, {.start_ns = start,
                          .end_ns = start + Number(4'000) * kUs,
                          .stream = 7 + Number(3),
                          .device = device,
                          .correlation = correlation_,
                          .pid = pid});
  }

  std::mt19937 random_;
  int64_t correlation_ = 0;
};

// The manifest of one device and window, beside the answers of other skills.
class Sections {
 public:
  Sections(const Trace& trace, int64_t device, const std::optional<Window>& window)
      : trace_(trace), device_(device), window_(window) {
    const Answer answer = Other("profile_health_manifest", true);
    row_ = answer.rows.at(0);
  }

  const Object& Section(std::string_view key) const { return *Cell(row_, key).AsObject(); }
  const Object& row() const { return row_; }
  Answer Other(std::string_view skill, bool of_device) const {
    std::vector<GivenParam> given;
    if (of_device) {
      given.push_back({"device", std::to_string(device_)});
    }
    return RunOn(trace_, skill, given, window_);
  }

  // Whether the device has kernels in the window.
  bool CheckOverlap() const {
    const Answer answer = Other("overlap_breakdown", true);
    if (answer.problem) {
      EXPECT_EQ(ToJson(Section("overlap"), JsonLayout::kOneLine),
                ToJson(*answer.problem, JsonLayout::kOneLine));
      return false;
    }
    for (const char* key : {"compute_only_ms", "nccl_only_ms", "idle_ms", "overlap_pct"}) {
      EXPECT_EQ(RealCell(Section("overlap"), key), RealCell(answer.rows.at(0), key)) << key;
    }
    return true;
  }

  void CheckCommunication() const {
    std::set<int64_t> streams;
    std::map<std::string, int64_t> by_type;
    int64_t kernels = 0;
    int64_t total = 0;
    for (const Object& row : Other("nccl_breakdown", true).rows) {
      streams.insert(IntCell(row, "stream_id"));
      kernels += IntCell(row, "count");
      total += IntCell(row, "total_ns");
      by_type[TextCell(row, "type")] += IntCell(row, "total_ns");
    }
    const Object& nccl = Section("nccl");
    EXPECT_EQ(IntCell(nccl, "streams"), std::ssize(streams));
    EXPECT_EQ(IntCell(nccl, "collectives"), kernels);
    if (kernels == 0) {
      return;
    }
    EXPECT_EQ(RealCell(nccl, "total_nccl_ms"), NsToMs(total, 1));
    const int64_t most = by_type.at(TextCell(nccl, "dominant_type"));
    for (const auto& [type, ns] : by_type) {
      EXPECT_LE(ns, most) << type;
    }
    if (total > 0) {
      EXPECT_EQ(RealCell(nccl, "dominant_pct"), Percent(most, total, 1).value());
    }
  }

  void CheckIdle() const {
    const Answer gaps = Other("gpu_idle_gaps", true);
    const Object* summary = nullptr;
    for (const auto* rows : {&gaps.about_before, &gaps.about}) {
      for (const Object& row : *rows) {
        summary = row.Find("_summary") != nullptr ? &row : summary;
      }
    }
    ASSERT_NE(summary, nullptr);
    const Object& idle = Section("idle");
    EXPECT_EQ(IntCell(idle, "gap_count"), IntCell(*summary, "gap_count"));
    EXPECT_EQ(RealCell(idle, "total_idle_ms"), RealCell(*summary, "total_idle_ms"));
    if (!Cell(idle, "idle_pct").is_null()) {
      EXPECT_EQ(RealCell(idle, "idle_pct"), RealCell(*summary, "pct_of_profile"));
    }
    int found = 0;
    for (const Object& row : Other("pipeline_bubble_metrics", false).rows) {
      if (IntCell(row, "deviceId") == device_) {
        EXPECT_EQ(RealCell(idle, "device_idle_ms"), RealCell(row, "bubble_ms"));
        EXPECT_NEAR(RealCell(idle, "device_idle_pct"), RealCell(row, "bubble_pct"), 0.0551);
        ++found;
      }
    }
    EXPECT_LE(found, 1);
  }

  void CheckWaits() const {
    const Answer answer = Other("sync_cost_analysis", true);
    if (answer.rows.empty()) {
      EXPECT_TRUE(Section("sync").empty());
      return;
    }
    EXPECT_EQ(ToJson(Section("sync"), JsonLayout::kOneLine),
              ToJson(answer.rows[0], JsonLayout::kOneLine));
  }

  void CheckIterations() const {
    std::vector<int64_t> lengths;
    for (const Object& row : Other("iteration_timing", true).rows) {
      if (*Cell(row, "is_real_iteration").AsBool() && !*Cell(row, "heuristic").AsBool()) {
        lengths.push_back(IntCell(row, "gpu_end_ns") - IntCell(row, "gpu_start_ns"));
      }
    }
    const Object& nvtx = Section("nvtx");
    if (lengths.empty()) {
      EXPECT_EQ(nvtx.Find("iteration_count"), nullptr);
      return;
    }
    EXPECT_EQ(IntCell(nvtx, "iteration_count"), std::ssize(lengths));
    if (lengths.size() > 1) {
      lengths.erase(lengths.begin());
    }
    std::sort(lengths.begin(), lengths.end());
    EXPECT_EQ(RealCell(nvtx, "median_iter_ms"), NsToMs(lengths[lengths.size() / 2], 1));
    EXPECT_EQ(RealCell(nvtx, "slowest_iter_ms"), NsToMs(lengths.back(), 1));
  }

  void CheckCauses() const {
    const Answer answer = Other("root_cause_matcher", true);
    std::vector<Object> causes = answer.rows;
    if (causes.size() == 1 && TextCell(causes[0], "pattern") == "No Known Anti-Patterns Detected") {
      causes.clear();
    }
    EXPECT_EQ(IntCell(row_, "root_cause_count"), std::ssize(causes));
    const List& listed = *Cell(row_, "root_causes").AsList();
    ASSERT_EQ(listed.size(), std::min<size_t>(causes.size(), 5));
    for (size_t i = 0; i < listed.size(); ++i) {
      const Object& cause = *listed[i].AsObject();
      EXPECT_EQ(TextCell(cause, "pattern"), TextCell(causes[i], "pattern"));
      EXPECT_EQ(TextCell(cause, "severity"), TextCell(causes[i], "severity"));
      EXPECT_EQ(RealCell(cause, "recoverable_ms"), RealCell(causes[i], "recoverable_ms"));
    }
  }

  // By plain sums over the kernels of the device that lie inside the window.
  void CheckKernels() const {
    std::map<std::string, std::pair<int64_t, int64_t>> by_name;
    int64_t total = 0;
    const KernelTable& kernels = trace_.kernels;
    for (size_t row = 0; row < kernels.size(); ++row) {
      if (trace_.DeviceOf(kernels, row) == device_ &&
          Contains(window_, kernels.start_ns[row], kernels.end_ns[row])) {
        auto& [count, ns] = by_name[std::string(trace_.Text(kernels.name[row]))];
        ++count;
        ns += kernels.duration_ns(row);
        total += kernels.duration_ns(row);
      }
    }
    EXPECT_EQ(RealCell(row_, "total_kernel_ms"), NsToMs(total, 1));
    const List& top = *Cell(row_, "top_kernels").AsList();
    EXPECT_EQ(top.size(), std::min<size_t>(by_name.size(), 5));
    int64_t before = total;
    for (const Value& value : top) {
      const auto& [count, ns] = by_name.at(TextCell(*value.AsObject(), "kernel_name"));
      EXPECT_EQ(RealCell(*value.AsObject(), "total_ms"), NsToMs(ns, 2));
      EXPECT_EQ(IntCell(*value.AsObject(), "count"), count);
      EXPECT_LE(ns, before);
      before = ns;
    }
  }

  void CheckRanges() const {
    std::map<std::string, std::pair<int64_t, int64_t>> by_label;
    const NvtxTable& nvtx = trace_.nvtx;
    for (size_t row = 0; row < nvtx.size(); ++row) {
      if (Contains(window_, nvtx.start_ns[row], nvtx.end_ns[row])) {
        auto& [count, ns] = by_label[std::string(trace_.Text(nvtx.text[row]))];
        ++count;
        ns += nvtx.duration_ns(row);
      }
    }
    const List& top = *Cell(Section("nvtx"), "top_regions").AsList();
    ASSERT_EQ(top.size(), by_label.size());
    for (const Value& value : top) {
      const auto& [count, ns] = by_label.at(TextCell(*value.AsObject(), "name"));
      EXPECT_EQ(RealCell(*value.AsObject(), "total_ms"), NsToMs(ns, 1));
      EXPECT_EQ(IntCell(*value.AsObject(), "count"), count);
    }
  }

  void CheckQuality() const {
    const Object& quality = Section("data_quality");
    EXPECT_LE(RealCell(quality, "profiler_overhead_ms"), RealCell(row_, "profile_span_ms"));
    if (!Cell(quality, "overhead_pct").is_null()) {
      EXPECT_GE(RealCell(quality, "overhead_pct"), 0);
      EXPECT_LE(RealCell(quality, "overhead_pct_raw"), 100.0);
    }
  }

 private:
  const Trace& trace_;
  int64_t device_;
  std::optional<Window> window_;
  Object row_;
};

TEST(ManifestSections, AreTheAnswersOfOtherSkills) {
  RandomTrace random(5);
  int with_kernels = 0;
  for (int round = 0; round < 150; ++round) {
    const Trace trace = random.Make();
    const std::optional<Window> window = random.RandomWindow();
    for (const int64_t device : {0, 1}) {
      SCOPED_TRACE(testing::Message() << "round " << round << ", device " << device);
      const Sections sections(trace, device, window);
      if (sections.CheckOverlap()) {
        sections.CheckIdle();
        ++with_kernels;
      }
      sections.CheckCommunication();
      sections.CheckWaits();
      sections.CheckIterations();
      sections.CheckCauses();
      sections.CheckKernels();
      sections.CheckRanges();
      sections.CheckQuality();
      ASSERT_FALSE(testing::Test::HasFailure()) << ToJson(sections.row(), JsonLayout::kOneLine);
    }
  }
  EXPECT_GT(with_kernels, 200);
}

}  // namespace
}  // namespace nsys
