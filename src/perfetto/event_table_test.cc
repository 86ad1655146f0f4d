// SPDX-License-Identifier: MIT
#include "perfetto/event_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "base/parquet_file.h"
#include "parquet_reader.h"
#include "perfetto/event_parts.h"
#include "trace_builder.h"

namespace nsys::perfetto {
namespace {

using ::nsys::testing::ParquetCell;
using ::nsys::testing::ParquetReader;
using Cells = std::vector<ParquetCell>;

constexpr int32_t kMark = 34;

// Process 100 on device 0, with a track of each kind.
enum TrackPlace : uint32_t { kStream, kApi, kThread, kRange, kKernelRange };

Layout EmptyLayout() {
  Layout layout;
  layout.options.report = "r";
  layout.groups.push_back(
      {.global_pid = 0, .pid = 100, .device = 0, .name = "CUDA Device 0 / Source PID 100"});
  const auto add = [&](TrackKind kind) {
    layout.tracks.push_back(
        {.kind = kind, .source_tid = 101, .context = 1, .stream = 7, .name = {}});
  };
  add(TrackKind::kStream);
  add(TrackKind::kApi);
  add(TrackKind::kNvtxThread);
  add(TrackKind::kNvtxRange);
  add(TrackKind::kNvtxKernel);
  layout.copy_usage_begin = {0};
  return layout;
}

class EventTableTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "event_table_testXXXXXX";
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string Write(const Trace& trace, const Layout& layout, int threads = 1) {
    const std::string path = folder_ / (std::to_string(files_++) + ".parquet");
    auto sink = OpenPlainSink(path);
    EXPECT_TRUE(sink.ok());
    WriteOptions options;
    options.threads = threads;
    const auto rows = WriteEventTable(trace, layout, options, *sink.value());
    EXPECT_TRUE(rows.ok());
    EXPECT_TRUE(sink.value()->Finish().ok());
    EXPECT_TRUE(CheckParquetFooter(path, rows.value()).ok());
    return path;
  }

  std::filesystem::path folder_;
  int files_ = 0;
};

// A call that launches a kernel, a copy without a call, and NVTX of every kind.
Trace SmallTrace() {
  return TraceBuilder()
      .Call("cudaLaunchKernel", {.start_ns = 1000, .end_ns = 1500, .correlation = 9, .tid = 101})
      .Kernel("gemm", {.start_ns = 2001, .end_ns = 2500, .correlation = 9})
      .Copy({.start_ns = 3000, .end_ns = 3100, .bytes = 64, .kind = 2, .correlation = 4})
      .Range("step", {.start_ns = 900, .end_ns = 1600, .tid = 101})
      .Range("here", {.start_ns = 950, .end_ns = 950, .tid = 101, .type = kMark})
      .Range("phase", {.start_ns = 960, .end_ns = 4000, .tid = 101, .type = kNvtxStartEnd})
      .Build();
}

Layout SmallLayout() {
  Layout layout = EmptyLayout();
  layout.origin_ns = 900;
  layout.anchor_ns = 1900;
  layout.kernel_call = {0};
  layout.kernel_stream_track = {kStream};
  layout.kernel_core_track = {kStream};
  layout.kernel_sequence = {1};
  layout.kernel_regions = {kNone};
  layout.copy_call = {kNoCall};
  layout.copy_stream_track = {kStream};
  layout.copy_usage_begin = {0, 0};
  layout.device_sets = {{0}};
  layout.copy_devices = {0};
  layout.call_slices = {{0, kApi}};
  layout.range_slices = {{0, kThread}, {1, kThread}, {2, kRange}};
  layout.projections = {{.row = 0, .track = kKernelRange, .start_ns = 2001, .end_ns = 2500},
                        {.row = 2, .track = kKernelRange, .start_ns = 2001, .end_ns = 2500}};
  return layout;
}

TEST_F(EventTableTest, EveryKindOfRow) {
  const ParquetReader file(Write(SmallTrace(), SmallLayout()));
  const ParquetCell null;
  EXPECT_EQ(file["report"].cells, Cells(8, "r"));
  EXPECT_EQ(file["event_type"].cells,
            (Cells{"cuda_api", "cuda_kernel", "cuda_memcpy_d2h", "nvtx", "nvtx_kernel", "nvtx_mark",
                   "nvtx_range", "nvtx_kernel"}));
  EXPECT_EQ(file["cat"].cells, (Cells{"cuda_api", "cuda", "cuda_memcpy", "nvtx", "nvtx-kernel",
                                      "nvtx", "nvtx", "nvtx-kernel"}));
  EXPECT_EQ(file["name"].cells, (Cells{"cudaLaunchKernel", "gemm", "CUDA Memcpy D2H", "step",
                                       "step", "here", "phase", "phase"}));
  EXPECT_EQ(file["ph"].cells, Cells(8, "X"));
  EXPECT_EQ(file["ts_us"].cells, (Cells{0.1, 1.101, 2.1, 0.0, 1.101, 0.05, 0.06, 1.101}));
  EXPECT_EQ(file["dur_us"].cells, (Cells{0.5, 0.499, 0.1, 0.7, 0.499, 0.0, 3.04, 0.499}));
  EXPECT_EQ(file["aligned_ts_us"].cells,
            (Cells{-0.9, 0.101, 1.1, -1.0, 0.101, -0.95, -0.94, 0.101}));
  EXPECT_EQ(file["pid"].cells, Cells(8, "CUDA Device 0 / Source PID 100"));
  EXPECT_EQ(file["tid"].cells,
            (Cells{"CUDA API Thread 101", "Context 1 / Stream 7", "Context 1 / Stream 7",
                   "NVTX Thread 101", "NVTX Kernel Thread 101", "NVTX Thread 101",
                   "NVTX Range Thread 101", "NVTX Kernel Thread 101"}));
  EXPECT_EQ(file["event_id"].cells, (Cells{"r:cuda_api:100:101:9:0", "r:cuda:100:0:1:7:1",
                                           "r:cuda_memcpy:0:1:7:0", null, null, null, null, null}));
  EXPECT_EQ(file["launch_event_id"].cells,
            (Cells{null, "r:cuda_api:100:101:9:0", null, null, null, null, null, null}));
}

TEST_F(EventTableTest, NumbersOfEveryKindOfRow) {
  const ParquetReader file(Write(SmallTrace(), SmallLayout()));
  const ParquetCell null;
  const auto numbers = [&](const std::vector<int64_t>& values) {
    Cells cells;
    for (const int64_t value : values) {
      cells.push_back(value < 0 ? null : ParquetCell(value));
    }
    return cells;
  };
  EXPECT_EQ(file["stream_id"].cells, numbers({-1, 7, 7, -1, -1, -1, -1, -1}));
  EXPECT_EQ(file["correlation_id"].cells, numbers({9, 9, 4, -1, -1, -1, -1, -1}));
  EXPECT_EQ(file["stream_sequence"].cells, numbers({-1, 1, -1, -1, -1, -1, -1, -1}));
  EXPECT_EQ(file["depends_on_event_id"].cells, Cells(8));
  EXPECT_EQ(file["dependency_type"].cells, Cells(8));
  EXPECT_EQ(file["start_ns"].cells, numbers({1000, 2001, 3000, 900, 2001, 950, 960, 2001}));
  EXPECT_EQ(file["end_ns"].cells, numbers({1500, 2500, 3100, 1600, 2500, 950, 4000, 2500}));
  EXPECT_EQ(file["device_id"].cells, numbers({0, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(file["source_pid"].cells, numbers(std::vector<int64_t>(8, 100)));
  EXPECT_EQ(file["source_tid"].cells, numbers({101, -1, -1, 101, 101, 101, 101, 101}));
  EXPECT_EQ(file["context_id"].cells, numbers({-1, 1, 1, -1, -1, -1, -1, -1}));
  EXPECT_THAT(std::get<std::string>(file["args_json"].cells[0]),
              ::testing::AllOf(::testing::StartsWith("{\"correlationId\":9,"),
                               ::testing::EndsWith("\"eventId\":\"r:cuda_api:100:101:9:0\"}")));
}

TEST_F(EventTableTest, ReportIsEscapedInArgsOnly) {
  Layout layout = SmallLayout();
  layout.options.report = "a \"b\"\n";
  const ParquetReader file(Write(SmallTrace(), layout));
  EXPECT_EQ(file["report"].cells[0], ParquetCell("a \"b\"\n"));
  EXPECT_EQ(file["event_id"].cells[1], ParquetCell("a \"b\"\n:cuda:100:0:1:7:1"));
  EXPECT_EQ(file["launch_event_id"].cells[1], file["event_id"].cells[0]);
  EXPECT_THAT(std::get<std::string>(file["args_json"].cells[1]),
              ::testing::HasSubstr("\"eventId\":\"a \\\"b\\\"\\n:cuda:100"));
}

TEST_F(EventTableTest, RowsThatAreNotDrawnAreLeftOut) {
  Layout layout = SmallLayout();
  layout.kernel_stream_track = {kNone};
  layout.copy_stream_track = {kNone};
  layout.range_slices.clear();
  layout.projections.clear();
  const ParquetReader file(Write(SmallTrace(), layout));
  EXPECT_EQ(file["event_type"].cells, Cells{"cuda_api"});
  EXPECT_EQ(file.row_groups(), 1U);
}

TEST_F(EventTableTest, WithoutCorrelationThereIsNone) {
  const Trace trace = TraceBuilder().Kernel("k", {.start_ns = 0, .end_ns = 1}).Build();
  Layout layout = SmallLayout();
  layout.kernel_call = {kNoCall};
  layout.copy_call.clear();
  layout.copy_stream_track.clear();
  layout.call_slices.clear();
  layout.range_slices.clear();
  layout.projections.clear();
  const ParquetReader file(Write(trace, layout));
  EXPECT_EQ(file["correlation_id"].cells, Cells(1));
  EXPECT_EQ(file["launch_event_id"].cells, Cells(1));
}

// More rows than a row group holds: some of the first row group, the rest by the threads.
TEST_F(EventTableTest, ManyRowsAndAnyNumberOfThreads) {
  constexpr int64_t kRanges = 70'000;
  TraceBuilder builder;
  Layout layout = EmptyLayout();
  for (int64_t i = 0; i < kRanges; ++i) {
    builder.Range("range " + std::to_string(i % 40'000), {.start_ns = i, .end_ns = i + 5});
    layout.range_slices.push_back({static_cast<uint32_t>(i), kThread});
  }
  const Trace trace = builder.Build();
  const std::string alone = Write(trace, layout);
  const std::string shared = Write(trace, layout, 4);
  const auto bytes = [](const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_TRUE(bytes(alone) == bytes(shared));
  const ParquetReader file(alone);
  EXPECT_GT(file.row_groups(), 1U);
  ASSERT_EQ(file.rows(), kRanges);
  for (int64_t i = 0; i < kRanges; ++i) {
    const auto row = static_cast<size_t>(i);
    ASSERT_EQ(file["start_ns"].cells[row], ParquetCell(i));
    ASSERT_EQ(file["name"].cells[row], ParquetCell("range " + std::to_string(i % 40'000)));
  }
}

TEST_F(EventTableTest, NothingDrawnGivesNoRowGroup) {
  const ParquetReader file(Write(TraceBuilder().Build(), EmptyLayout()));
  EXPECT_EQ(file.rows(), 0);
  EXPECT_EQ(file.row_groups(), 0U);
  EXPECT_EQ(file.columns().size(), 24U);
}

TEST_F(EventTableTest, DependencyTableIsEmpty) {
  const std::string path = folder_ / "d.parquet";
  auto sink = OpenPlainSink(path);
  ASSERT_TRUE(sink.ok());
  ASSERT_TRUE(WriteDependencyTable(*sink.value()).ok());
  ASSERT_TRUE(sink.value()->Finish().ok());
  EXPECT_TRUE(CheckParquetFooter(path, 0).ok());
  const ParquetReader file(path);
  std::vector<std::string> names;
  for (const auto& column : file.columns()) {
    names.push_back(column.name);
    EXPECT_EQ(column.schema[3].number, 0) << column.name;  // required
  }
  EXPECT_THAT(names, ::testing::ElementsAre(
                         "report", "stream_id", "stream_sequence", "predecessor_event_id",
                         "predecessor_kernel", "predecessor_ts_us", "predecessor_dur_us",
                         "successor_event_id", "successor_kernel", "successor_ts_us",
                         "successor_dur_us", "gap_us", "dependency_type"));
}

TEST(EventParts, EveryRowOnceInOrder) {
  Layout layout;
  layout.call_slices.resize(5);
  layout.kernel_stream_track = {0, kNone, 0, 0, kNone};
  layout.copy_stream_track = {kNone};
  layout.range_slices = {{0, 0}, {0, 1}, {3, 0}};
  layout.projections = {{.row = 0}, {.row = 2}, {.row = 3}};
  struct Expected {
    EventSection section;
    size_t rows, begin, end, projected_begin, projected_end;
    bool operator==(const Expected&) const = default;
  };
  std::vector<Expected> parts;
  for (const EventPart& part : CutIntoParts(layout, 2)) {
    parts.push_back(
        {part.section, part.rows, part.begin, part.end, part.projected_begin, part.projected_end});
  }
  EXPECT_EQ(parts, (std::vector<Expected>{{EventSection::kCalls, 2, 0, 2, 0, 0},
                                          {EventSection::kCalls, 2, 2, 4, 0, 0},
                                          {EventSection::kCalls, 1, 4, 5, 0, 0},
                                          {EventSection::kKernels, 2, 0, 3, 0, 0},
                                          {EventSection::kKernels, 1, 3, 5, 0, 0},
                                          {EventSection::kNvtx, 2, 0, 2, 0, 0},
                                          {EventSection::kNvtx, 2, 2, 2, 0, 2},
                                          {EventSection::kNvtx, 2, 2, 3, 2, 3}}));
}

}  // namespace
}  // namespace nsys::perfetto
