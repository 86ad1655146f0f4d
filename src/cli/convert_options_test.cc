// SPDX-License-Identifier: MIT
#include "cli/convert_options.h"

#include <limits>

#include <gtest/gtest.h>

#include "cli/command_line.h"
#include "cli/convert_summary.h"
#include "cli/progress.h"

namespace nsys {
namespace {

using perfetto::ApiScope;
using perfetto::GraphFlows;
using perfetto::KernelNaming;
using perfetto::NvtxScope;

ConvertRequest Parse(std::vector<std::string> words) {
  words.insert(words.begin(), "convert");
  auto request = ParseCommandLine(words);
  EXPECT_TRUE(request.ok()) << (request.ok() ? "" : request.error().message);
  const auto* convert = request.ok() ? std::get_if<ConvertRequest>(&request.value()) : nullptr;
  return convert != nullptr ? *convert : ConvertRequest{};
}

Error ParseError(std::vector<std::string> words) {
  words.insert(words.begin(), "convert");
  auto request = ParseCommandLine(words);
  EXPECT_FALSE(request.ok());
  return request.ok() ? Error{} : request.error();
}

TEST(ConvertOptions, Defaults) {
  const ConvertRequest request = Parse({"a.nsys-rep"});
  EXPECT_EQ(request.inputs, std::vector<std::string>{"a.nsys-rep"});
  EXPECT_TRUE(request.json && request.parquet && request.pftrace && request.UsesFolder());
  EXPECT_EQ(request.options.nvtx_scope, NvtxScope::kProcess);
  EXPECT_EQ(request.options.kernel_naming, KernelNaming::kShort);
  EXPECT_EQ(request.options.api_scope, ApiScope::kLinked);
  EXPECT_EQ(request.options.graph_flows, GraphFlows::kAll);
  EXPECT_EQ(request.options.max_regions, 64);
  EXPECT_FALSE(request.options.trim.has_value());
  EXPECT_FALSE(request.options.extras.memset || request.options.extras.overhead);
  EXPECT_FALSE(request.json_summary || request.wait || request.fail_fast || request.keep_going);
}

TEST(ConvertOptions, EveryChoice) {
  const ConvertRequest request = Parse({"--nvtx-scope",
                                        "thread",
                                        "--kernel-name",
                                        "demangled",
                                        "--api",
                                        "sync-wide",
                                        "a.sqlite",
                                        "--graph-flows",
                                        "first",
                                        "--max-regions",
                                        "0",
                                        "--trim",
                                        "1.5",
                                        "inf",
                                        "--host-tracks",
                                        "--strict-clocks",
                                        "b.sqlite",
                                        "--with",
                                        "memset,osrt",
                                        "--with",
                                        "metrics",
                                        "--threads",
                                        "3",
                                        "--reader",
                                        "sqlite",
                                        "--nsys",
                                        "/n",
                                        "--wait",
                                        "--fail-fast",
                                        "--keep-going",
                                        "--summary",
                                        "json",
                                        "-o",
                                        "out",
                                        "--parquet-dir",
                                        "c"});
  EXPECT_EQ(request.inputs, (std::vector<std::string>{"a.sqlite", "b.sqlite", "c"}));
  EXPECT_EQ(request.folder, "out");
  EXPECT_EQ(request.options.nvtx_scope, NvtxScope::kThread);
  EXPECT_EQ(request.options.kernel_naming, KernelNaming::kDemangled);
  EXPECT_EQ(request.options.api_scope, ApiScope::kSyncWide);
  EXPECT_EQ(request.options.graph_flows, GraphFlows::kFirst);
  EXPECT_EQ(request.options.max_regions, 0);
  ASSERT_TRUE(request.options.trim.has_value());
  EXPECT_EQ(request.options.trim->begin_ns, 1'500'000'000);
  EXPECT_EQ(request.options.trim->end_ns, std::numeric_limits<int64_t>::max());
  EXPECT_TRUE(request.options.host_tracks && request.options.strict_clocks);
  const perfetto::Extras& extras = request.options.extras;
  EXPECT_TRUE(extras.memset && extras.osrt && extras.metrics);
  EXPECT_FALSE(extras.sync || extras.graph || extras.memory || extras.overhead);
  EXPECT_EQ(request.threads, 3);
  EXPECT_EQ(request.reader, SqliteReader::kSqlite);
  EXPECT_EQ(request.nsys, "/n");
  EXPECT_TRUE(request.wait && request.fail_fast && request.keep_going && request.json_summary);
}

TEST(ConvertOptions, AllExtras) {
  const perfetto::Extras extras = Parse({"a", "--with", "all"}).options.extras;
  EXPECT_TRUE(extras.memset && extras.sync && extras.graph && extras.osrt && extras.memory &&
              extras.metrics && extras.overhead);
}

TEST(ConvertOptions, NamedFilesMakeNoFolder) {
  const ConvertRequest named = Parse({"a", "--output-json", "x.json"});
  EXPECT_FALSE(named.UsesFolder());
  EXPECT_EQ(named.output_json, "x.json");
  const ConvertRequest both = Parse({"a", "--output-json", "x.json", "--format", "parquet"});
  EXPECT_TRUE(both.parquet);
  EXPECT_FALSE(both.json || both.pftrace);
  const ConvertRequest folder = Parse({"a", "--output-json", "x.json", "-o", "out"});
  EXPECT_TRUE(folder.json && folder.parquet && folder.pftrace);
}

TEST(ConvertOptions, ErrorsNameTheWord) {
  EXPECT_EQ(ParseError({}).code, ErrorCode::kUsage);
  EXPECT_EQ(ParseError({"a", "--with", "memsets"}).hint, "did you mean 'memset'?");
  EXPECT_EQ(ParseError({"a", "--with", "sync,"}).message.find("''") == std::string::npos, false);
  EXPECT_EQ(ParseError({"a", "--format", "jsn"}).hint, "did you mean 'json'?");
  EXPECT_EQ(ParseError({"a", "--api", "sync"}).hint, "did you mean 'sync-wide'?");
  EXPECT_EQ(ParseError({"a", "--max-regions", "x"}).message,
            "--max-regions takes a whole number of at least 0, not 'x'");
  EXPECT_EQ(ParseError({"a", "--trim", "3", "2"}).code, ErrorCode::kTrimOutOfRange);
  EXPECT_EQ(ParseError({"a", "b", "--output-json", "x"}).message,
            "--output-json names one thing, but there are 2 inputs");
  EXPECT_EQ(ParseError({"a", "b", "--report", "x"}).code, ErrorCode::kUsage);
  EXPECT_EQ(ParseError({"a", "--report", ""}).message, "--report takes a name, not ''");
}

TEST(ConvertOptions, ItsFormatsAreNoAnswerToErrors) {
  EXPECT_FALSE(WantsJsonErrors({"convert", "a", "--format", "json"}));
  EXPECT_TRUE(WantsJsonErrors({"convert", "a", "--summary", "json"}));
  EXPECT_TRUE(WantsJsonErrors({"convert", "a", "--summary=json"}));
  EXPECT_TRUE(WantsJsonErrors({"sql", "a", "--format", "json"}));
  EXPECT_TRUE(WantsJsonErrors({"sql", "a", "--format=jsonl"}));
  EXPECT_FALSE(WantsJsonErrors({"sql", "a", "--format", "csv"}));
}

TEST(ConvertSummary, OneLineInAFixedOrder) {
  Conversion conversion;
  conversion.report = "a b\t%\xC3\xA9";
  conversion.counts.kernels = 2;
  conversion.counts.linked_kernels = 1;
  conversion.counts.h2d = 3;
  conversion.counts.skewed_links = 4;
  conversion.json_events = 32;
  conversion.anchor_ns = -5;
  EXPECT_EQ(SummaryLine(conversion).substr(0, 340),
            std::string("report=a%20b%09%25\xC3\xA9 kernels=2 cuda_api=0 cuda_sync_api=0 "
                        "launch_dependencies=1 core_launch_dependencies=1 memcpy=0 h2d=3 d2h=0 "
                        "d2d=0 memcpy_launch_dependencies=0 pcie_usage_launch_dependencies=0 "
                        "nvtx=0 nvtx_timestamp_repaired=0 nvtx_kernel=0 stream_overlap_lanes=0 "
                        "projected_nvtx_overlap_lanes=0 stream_dependencies=0 json_events=32 "
                        "parquet_rows=0 anchor_ns=-5 alignment_anchor=first_trace_event "
                        "memcpy_other=0 skewed_links=4")
                .substr(0, 340));
  conversion.anchored = true;
  EXPECT_NE(SummaryLine(conversion).find(" alignment_anchor=critical_path_batch_0 "),
            std::string::npos);
}

TEST(Progress, Text) {
  EXPECT_EQ(ProgressText("reading", "rows", 1234, 0, 2.0), "reading: 1,234 rows, 2.0 s");
  EXPECT_EQ(ProgressText("writing JSON", "events", 500, 1000, 2.0),
            "writing JSON: 50 %, 250 events/s, 2 s left");
  EXPECT_EQ(ProgressText("writing JSON", "events", 1100, 1000, 2.0),
            "writing JSON: 99 %, 550 events/s, 0 s left");
}

}  // namespace
}  // namespace nsys
