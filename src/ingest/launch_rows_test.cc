// SPDX-License-Identifier: MIT
#include "ingest/launch_rows.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>
#include <string>

#include <fmt/format.h>

#include "ingest/ingest_test_util.h"
#include "ingest/load.h"
#include "ingest/sqlite_pages.h"
#include "trace/kernel_class.h"
#include "trace/launches.h"
#include "trace/nvtx_stacks.h"

namespace nsys {
namespace {

using namespace ingest_test;

constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();
constexpr int64_t kMost = std::numeric_limits<int64_t>::max();

TEST(IdSet, HoldsWhatWasPutInAndNothingElse) {
  std::mt19937_64 random(3);
  const std::vector<std::vector<int64_t>> all = {
      {}, {0}, {-5, 7, 7, 100}, {kLeast, kMost}, {kMost}, {kLeast}, {1, 1'000'000'000'000}};
  for (const std::vector<int64_t>& ids : all) {
    const IdSet set(ids);
    for (const int64_t id : {kLeast, kLeast + 1, int64_t{-5}, int64_t{0}, int64_t{7}, int64_t{63},
                             int64_t{64}, int64_t{100}, int64_t{1'000'000'000'000}, kMost}) {
      EXPECT_EQ(set.Has(id), std::find(ids.begin(), ids.end(), id) != ids.end()) << id;
    }
  }
  std::vector<int64_t> ids;
  for (int i = 0; i < 500; ++i) {
    ids.push_back(static_cast<int64_t>(random() % 3000) - 1000);
  }
  const IdSet set(ids);
  for (int64_t id = -1100; id < 2100; ++id) {
    EXPECT_EQ(set.Has(id), std::find(ids.begin(), ids.end(), id) != ids.end()) << id;
  }
}

TEST(TimeTable, FindsWhatASearchOfAllFinds) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> times;
    const size_t count = 1 + random() % 40;
    const int64_t spread = int64_t{1} << (random() % 61);
    for (size_t i = 0; i < count; ++i) {
      times.push_back(static_cast<int64_t>(random() % static_cast<uint64_t>(spread)) - spread / 2);
    }
    std::sort(times.begin(), times.end());
    const TimeTable table(times);
    for (int query = 0; query < 60; ++query) {
      const auto near = [&] {
        return times[random() % count] + static_cast<int64_t>(random() % 5) - 2;
      };
      const int64_t a = near();
      const int64_t b = near();
      const bool any = std::any_of(times.begin(), times.end(), [&](int64_t time) {
        return time >= std::min(a, b) && time <= std::max(a, b);
      });
      EXPECT_EQ(table.AnyWithin(std::min(a, b), std::max(a, b)), any) << round;
    }
  }
}

// Kernels, calls and ranges that nest, cross, repeat and lack parts of themselves.
std::string RandomSql(uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&](uint64_t end) { return static_cast<int64_t>(random() % end); };
  std::string sql =
      "CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);"
      "INSERT INTO StringIds VALUES (1,'gemm'),(2,'ncclDevKernel_AllReduce'),(3,'layer'),"
      "(4,'ncclAllReduce'),(5,'cudaLaunchKernel');"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER,"
      " contextId INTEGER, streamId INTEGER, globalPid INTEGER, correlationId INTEGER,"
      " shortName INTEGER, demangledName INTEGER);"
      "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER,"
      " correlationId INTEGER, nameId INTEGER);"
      "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
      " textId INTEGER, globalTid INTEGER, domainId INTEGER);";
  const int64_t pid = 281474993487872;
  const int contexts = below(2) == 0 ? 1 : 2;
  for (int i = 0; i < 60; ++i) {
    const int64_t at = below(2000);
    sql += fmt::format(
        "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES ({0},{0}+{1},0,{2},7,{3},{4},{5},{5});", at,
        below(50), 1 + below(contexts), pid, below(50), 1 + below(2));
  }
  for (int i = 0; i < 150; ++i) {
    const int64_t at = below(2000);
    const std::string thread = below(20) == 0 ? "NULL" : std::to_string(pid + 1 + below(3));
    sql += fmt::format("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES ({0},{0}+{1},{2},{3},5);",
                       at, below(20), thread, below(90));
  }
  for (int i = 0; i < 400; ++i) {
    const int64_t at = below(2000);
    const std::string end = below(30) == 0 ? "NULL" : std::to_string(at + below(200) - 5);
    const bool in_row = below(2) == 0;
    sql += fmt::format("INSERT INTO NVTX_EVENTS VALUES ({},{},{},{},{},{},{});", at, end,
                       below(8) == 0 ? 60 : 59,
                       in_row ? fmt::format("'op {}'", below(30)) : std::string("NULL"),
                       in_row ? std::string("NULL") : std::to_string(3 + below(2)),
                       below(30) == 0 ? "NULL" : std::to_string(pid + 1 + below(4)), below(2));
  }
  return sql;
}

Trace Load(const std::string& path, const Reads& reads, SqliteReader reader, int threads) {
  const auto source = OpenSqliteAs(path, reader, threads);
  EXPECT_TRUE(source.ok());
  auto trace = LoadTrace(*source.value(), reads, {.threads = threads, .progress = {}});
  EXPECT_TRUE(trace.ok());
  return std::move(trace).value();
}

const ColumnSet kOfKernels = {Column::kTime, Column::kLane, Column::kCorrelation, Column::kName};
const ColumnSet kOfCalls = {Column::kTime, Column::kThread, Column::kCorrelation};
const ColumnSet kOfRanges = {Column::kTime, Column::kThread, Column::kName, Column::kKind};

Reads ReadsOf(RowKind rows, Focus focus) {
  Reads reads = {{TableId::kKernel, kOfKernels},
                 {TableId::kRuntime, kOfCalls, rows},
                 {TableId::kNvtx, kOfRanges, rows}};
  reads.Narrow(std::move(focus));
  return reads;
}

// What the launches of the kernels in focus say: kernel, time of the call, texts around it.
std::multiset<std::string> PathsOf(const Trace& trace, const Focus& focus) {
  CommunicationClasses classes(trace.strings);
  const std::vector<uint32_t> links = LinkLaunches(trace, trace.kernels);
  std::multiset<std::string> paths;
  for (uint32_t kernel = 0; kernel < links.size(); ++kernel) {
    const bool outside = focus.window && (trace.kernels.end_ns[kernel] < focus.window->begin_ns ||
                                          trace.kernels.start_ns[kernel] > focus.window->end_ns);
    if (outside || (focus.communication_only &&
                    !classes.IsCommunication(trace.kernels.name_to_classify(kernel)))) {
      continue;
    }
    std::string path = "no call";
    if (links[kernel] != kNoCall) {
      path = std::to_string(trace.calls.start_ns[links[kernel]]);
      const RangePaths found = EnclosingRanges(trace, std::span(&links[kernel], 1));
      for (const uint32_t range : found.Path(0)) {
        path +=
            fmt::format(" > {} {}", trace.Text(trace.nvtx.text[range]), trace.nvtx.start_ns[range]);
      }
    }
    paths.insert(fmt::format("{} {}", kernel, path));
  }
  return paths;
}

std::map<int32_t, int> TypesOf(const Trace& trace) {
  std::map<int32_t, int> types;
  for (const int32_t type : trace.nvtx.event_type) {
    types[type] += type == kNvtxPushPop && types[type] > 0 ? 0 : 1;
  }
  return types;
}

TEST(LaunchRows, WhatIsLeftOutChangesNoPath) {
  const Focus kAll[] = {{},
                        {.communication_only = true},
                        {.window = Span{400, 900}},
                        {.communication_only = true, .window = Span{1900, 5000}}};
  size_t least = 1000;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    const TempFolder folder;
    const std::string path = folder / "x.sqlite";
    MakeSqlite(path, RandomSql(seed));
    const Trace whole = Load(path, ReadsOf(RowKind::kEvery, {}), SqliteReader::kPages, 1);
    for (const Focus& focus : kAll) {
      for (const int threads : {1, 3}) {
        const Trace part =
            Load(path, ReadsOf(RowKind::kLaunches, focus), SqliteReader::kPages, threads);
        EXPECT_EQ(PathsOf(part, focus), PathsOf(whole, focus)) << seed;
        EXPECT_EQ(TypesOf(part), TypesOf(whole)) << seed;
        EXPECT_EQ(part.warnings, whole.warnings) << seed;
        EXPECT_EQ(part.rows_left_out, whole.rows_left_out) << seed;
        least = std::min(least, part.nvtx.size());
      }
    }
    const Trace by_sqlite = Load(path, ReadsOf(RowKind::kLaunches, {}), SqliteReader::kSqlite, 1);
    EXPECT_EQ(PathsOf(by_sqlite, {}), PathsOf(whole, {})) << seed;
  }
  EXPECT_LT(least, 200U) << "most of 400 ranges hold no launch of communication in the window";
}

TEST(LaunchRows, TextsOfTheFocusAreKept) {
  for (uint64_t seed = 0; seed < 10; ++seed) {
    const TempFolder folder;
    const std::string path = folder / "x.sqlite";
    MakeSqlite(path, RandomSql(seed));
    const auto wanted = [](std::string_view text) {
      return text.starts_with("op 1") || text == "layer";
    };
    Reads reads = {{TableId::kNvtx, kOfRanges, RowKind::kTexts}};
    reads.Narrow({.text = wanted});
    const Trace part = Load(path, reads, SqliteReader::kPages, 1);
    const Trace whole = Load(path, {{TableId::kNvtx, kOfRanges}}, SqliteReader::kPages, 1);
    const auto texts = [&](const Trace& trace) {
      std::multiset<std::string> found;
      for (size_t row = 0; row < trace.nvtx.size(); ++row) {
        if (wanted(trace.Text(trace.nvtx.text[row]))) {
          found.insert(
              fmt::format("{} {}", trace.Text(trace.nvtx.text[row]), trace.nvtx.start_ns[row]));
        }
      }
      return found;
    };
    EXPECT_EQ(texts(part), texts(whole)) << seed;
    EXPECT_EQ(part.rows_left_out, whole.rows_left_out) << seed;
    EXPECT_LT(part.nvtx.size(), whole.nvtx.size()) << seed;
  }
}

// No kernels, no calls: nobody waits for them.
TEST(LaunchRows, TablesThatAreNotThereAreNotWaitedFor) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path,
             "CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT,"
             " globalTid INTEGER);"
             "INSERT INTO NVTX_EVENTS VALUES (1,5,59,'a',7),(2,4,59,'b',7),(3,9,60,'c',7);");
  for (const int threads : {1, 2}) {
    const Trace trace = Load(path, ReadsOf(RowKind::kLaunches, {}), SqliteReader::kPages, threads);
    EXPECT_EQ(trace.nvtx.size(), 2U) << "one push-pop range, so that they are known to be there";
  }
}

}  // namespace
}  // namespace nsys
