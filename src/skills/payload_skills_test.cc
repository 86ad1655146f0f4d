// SPDX-License-Identifier: MIT
// What NCCL's payloads tell: communicators, sizes, peers; and the operation of a kernel that is
// named after another.
#include <gtest/gtest.h>

#include "analysis/nccl_communicators.h"
#include "skill_test_util.h"
#include "trace_builder.h"

namespace nsys {
namespace {

constexpr uint64_t kWorld = 0xCAFEBABE00000001;  // above int64_t
constexpr uint64_t kPair = 0x10;
constexpr char kKernel[] = "ncclDevKernel_SendRecv";

std::string Word(uint64_t value, size_t bytes = 8) {
  std::string word;
  for (size_t i = 0; i < bytes; ++i) {
    word += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return word;
}

std::string Payload(uint64_t schema, const std::string& body, uint64_t domain = 1) {
  return Word(domain) + Word(schema) + Word(body.size()) + Word(32) + body;
}

std::string Init(uint64_t communicator, uint64_t ranks, uint64_t rank, uint64_t device) {
  return Payload(
      1, Word(communicator) + Word(ranks, 4) + Word(rank, 4) + Word(device, 4) + Word(0, 4));
}
std::string Sized(uint64_t communicator, uint64_t bytes) {
  return Payload(2, Word(communicator) + Word(bytes));
}
std::string Reduced(uint64_t communicator, uint64_t bytes, uint64_t operation) {
  return Payload(3, Word(communicator) + Word(bytes) + Word(operation, 4) + Word(0, 4));
}
std::string Peer(uint64_t communicator, uint64_t bytes, uint64_t peer) {
  return Payload(4, Word(communicator) + Word(bytes) + Word(peer, 4) + Word(0, 4));
}

PayloadField Field(int64_t type, std::string name, std::optional<int64_t> offset) {
  return {.index = 0,
          .flags = 0,
          .type = type,
          .name = std::move(name),
          .array_or_union = 0,
          .offset = offset};
}

TraceBuilder WithSchemas() {
  const PayloadField id = Field(18, "NCCL communicator ID", std::nullopt);
  const PayloadField size = Field(22, "Message size [bytes]", 8);
  const auto schema = [](int64_t number, int64_t bytes, std::vector<PayloadField> fields) {
    return PayloadSchema{.domain = 1,
                         .id = number,
                         .name = "",
                         .type = 1,
                         .bytes = bytes,
                         .fields = std::move(fields)};
  };
  TraceBuilder builder;
  builder.GpuNamed("NVIDIA H100 80GB HBM3").GpuNamed("NVIDIA H100 80GB HBM3");
  builder.Schema(schema(
      1, 24, {id, Field(5, "No. of ranks", 8), Field(5, "Rank", 12), Field(5, "CUDA device", 16)}));
  builder.Schema(schema(2, 16, {id, size}));
  builder.Schema(schema(3, 24, {id, size, Field(16777232, "Reduction operation", 16)}));
  builder.Schema(schema(4, 24, {id, size, Field(5, "Peer rank", 16)}));
  return builder;
}

// One NCCL call of a process and the kernel that it launches.
void AddCollective(TraceBuilder& builder, const std::string& text, const std::string& payload,
                   int64_t pid, int64_t at_ns, int64_t kernel_ns, int64_t device) {
  builder.Range(text, {.start_ns = at_ns,
                       .end_ns = at_ns + 100,
                       .pid = pid,
                       .tid = pid,
                       .domain = 1,
                       .payload = payload});
  builder.Call(
      "cudaLaunchKernelExC",
      {.start_ns = at_ns + 10, .end_ns = at_ns + 20, .correlation = at_ns, .pid = pid, .tid = pid});
  builder.Kernel(kKernel, {.start_ns = at_ns + 1000,
                           .end_ns = at_ns + 1000 + kernel_ns,
                           .stream = 20,
                           .device = device,
                           .correlation = at_ns,
                           .pid = pid});
}

// Two ranks of a world of two; correlation ids are the same in both processes.
TraceBuilder TwoRanks() {
  TraceBuilder builder = WithSchemas();
  for (const int64_t rank : {0, 1}) {
    const int64_t pid = 100 + rank;
    builder.Range("ncclCommInitRank", {.start_ns = 1,
                                       .end_ns = 2,
                                       .pid = pid,
                                       .tid = pid,
                                       .domain = 1,
                                       .payload = Init(kWorld, 2, static_cast<uint64_t>(rank),
                                                       static_cast<uint64_t>(rank))});
    AddCollective(builder, "ncclAllReduce", Reduced(kWorld, 1'000'000, 0), pid, 10'000, 2'000,
                  rank);
    AddCollective(builder, "ncclAllReduce", Reduced(kWorld, 3'000'000, 0), pid, 20'000, 6'000,
                  rank);
    AddCollective(builder, "ncclAllGather", Sized(kWorld, 500), pid, 30'000, 1'000, rank);
  }
  return builder;
}

TEST(NcclCommunicatorAnalysis, SumsByCommunicatorAndOperation) {
  const Answer answer = RunOn(TwoRanks().Build(), "nccl_communicator_analysis");
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_TRUE(answer.about.empty());
  const Object& row = answer.rows[0];
  ASSERT_NE(Cell(row, "communicator_id").AsBigInteger(), nullptr);
  EXPECT_EQ(Cell(row, "communicator_id").AsBigInteger()->digits, std::to_string(kWorld));
  EXPECT_EQ(ToJson(Cell(row, "communicator_id"), JsonLayout::kOneLine), "14627333964952502273");
  EXPECT_EQ(TextCell(row, "communicator_hex"), "0xcafebabe00000001");
  EXPECT_EQ(TextCell(row, "collective_type"), "allreduce");
  EXPECT_EQ(IntCell(row, "count"), 4);
  EXPECT_EQ(IntCell(row, "total_ns"), 16'000);
  EXPECT_EQ(RealCell(row, "avg_ms"), 0.004);
  EXPECT_EQ(IntCell(row, "total_bytes"), 8'000'000);
  EXPECT_EQ(RealCell(row, "avg_bytes"), 2e6);
  EXPECT_EQ(RealCell(row, "bandwidth_gbps"), 500);      // 8 MB / 16 us
  EXPECT_EQ(RealCell(row, "efficiency_pct"), 55.6);     // of 900
  EXPECT_EQ(RealCell(row, "bus_bandwidth_gbps"), 500);  // 2 (n - 1) / n = 1
  EXPECT_EQ(TextCell(row, "peak_source"), "H100 SXM NVLink");
  EXPECT_EQ(IntCell(row, "num_ranks"), 2);
  EXPECT_TRUE(Cell(row, "rank").is_null());  // both are here
  EXPECT_EQ(TextCell(row, "reduction_op"), "Sum");
  EXPECT_EQ(TextCell(row, "inferred_dimension"), "data_parallel_or_global");
  EXPECT_EQ(TextCell(row, "devices"), "0,1");
  EXPECT_EQ(IntCell(row, "stream_count"), 2);
  EXPECT_EQ(TextCell(answer.rows[1], "collective_type"), "allgather");
  EXPECT_EQ(IntCell(answer.rows[1], "total_bytes"), 1'000);
}

TEST(NcclCommunicatorAnalysis, OneDeviceAndAWindowOfTouchingKernels) {
  const Trace trace = TwoRanks().Build();
  const Answer answer =
      RunOn(trace, "nccl_communicator_analysis", {{"device", "1"}}, Window{12'000, 21'000});
  ASSERT_EQ(answer.rows.size(), 1U);  // the first ends in the window, the second starts at its end
  EXPECT_EQ(IntCell(answer.rows[0], "count"), 2);
  EXPECT_EQ(IntCell(answer.rows[0], "total_ns"), 8'000);
  EXPECT_EQ(TextCell(answer.rows[0], "device_scope"), "1");
  EXPECT_EQ(TextCell(answer.rows[0], "inferred_dimension"), "data_parallel_or_global");
  const Answer none = RunOn(trace, "nccl_communicator_analysis", {{"device", "7"}});
  EXPECT_TRUE(none.problem.has_value());
}

TEST(NcclCommunicatorAnalysis, AGroupCountsItsMessagesOnce) {
  TraceBuilder builder = WithSchemas();
  const auto range = [&](const std::string& text, int64_t start, int64_t end,
                         const std::string& payload) {
    builder.Range(text, {.start_ns = start, .end_ns = end, .domain = 1, .payload = payload});
  };
  range("ncclGroupStart", 0, 1, "");
  range("ncclSend", 2, 3, Peer(kPair, 1'000, 1));
  range("ncclRecv", 4, 5, Peer(kPair, 3'000, 1));
  range("ncclGroupEnd", 10, 50, "");
  builder.Call("c", {.start_ns = 20, .end_ns = 25, .correlation = 1});
  builder.Call("c", {.start_ns = 30, .end_ns = 35, .correlation = 2});
  builder.Kernel(kKernel, {.start_ns = 100, .end_ns = 200, .correlation = 1});
  builder.Kernel(kKernel, {.start_ns = 100, .end_ns = 400, .stream = 8, .correlation = 2});
  builder.Kernel(kKernel, {.start_ns = 900, .end_ns = 950, .correlation = 99});  // no launch call
  const Answer answer = RunOn(builder.Build(), "nccl_communicator_analysis");
  ASSERT_EQ(answer.rows.size(), 1U);
  EXPECT_EQ(TextCell(answer.rows[0], "collective_type"), "sendrecv");
  EXPECT_EQ(IntCell(answer.rows[0], "count"), 2);
  EXPECT_EQ(IntCell(answer.rows[0], "total_bytes"), 4'000);
  EXPECT_EQ(IntCell(answer.rows[0], "nccl_calls"), 2);
  EXPECT_EQ(RealCell(answer.rows[0], "bandwidth_gbps"), 10);
  EXPECT_EQ(TextCell(answer.rows[0], "inferred_dimension"), "single_rank_or_unknown");
  ASSERT_EQ(answer.about.size(), 1U);
  EXPECT_EQ(Cell(answer.about[0], "details").AsList()->size(), 1U);
}

TEST(NcclCommunicatorAnalysis, RefusesASharePastThePeakAndUnknownSizes) {
  TraceBuilder builder = WithSchemas();
  AddCollective(builder, "ncclAllReduce", Reduced(kWorld, 1'000'000'000, 0), 1, 10'000, 100, 0);
  AddCollective(builder, "ncclAllGather", Sized(kWorld, ~uint64_t{0}), 1, 20'000, 10, 0);
  const Answer answer = RunOn(builder.Build(), "nccl_communicator_analysis");
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_TRUE(Cell(answer.rows[0], "efficiency_pct").is_null());
  EXPECT_EQ(RealCell(answer.rows[0], "bandwidth_gbps"), 1e7);
  EXPECT_TRUE(Cell(answer.rows[1], "total_bytes").is_null());
  EXPECT_TRUE(Cell(answer.rows[1], "bandwidth_gbps").is_null());
}

TEST(NcclCommunicatorAnalysis, ScopeOfACommunicator) {
  EXPECT_EQ(InferredDimension(std::nullopt, 2, 0), "single_rank_or_unknown");
  EXPECT_EQ(InferredDimension(1, 2, 1), "single_rank_or_unknown");
  EXPECT_EQ(InferredDimension(2, 2, 2), "data_parallel_or_global");
  EXPECT_EQ(InferredDimension(2, 4, 4), "subgroup_parallelism(2)");
  EXPECT_EQ(InferredDimension(2, 2, 16), "subgroup_parallelism(2)");
  // One rank per file: 16 may be the world or not.
  EXPECT_EQ(InferredDimension(16, 1, 16), "unknown");
  EXPECT_EQ(InferredDimension(8, 1, 16), "subgroup_parallelism(8)");
}

TEST(NcclCommunicatorAnalysis, AbstainsWithoutPayloads) {
  TraceBuilder builder = WithSchemas();
  builder.Call("c", {.start_ns = 1, .end_ns = 2, .correlation = 1});
  builder.Range("ncclAllReduce", {.start_ns = 0, .end_ns = 5});
  builder.Kernel(kKernel, {.start_ns = 10, .end_ns = 20, .correlation = 1});
  const Trace trace = builder.Build();
  for (const char* skill : {"nccl_communicator_analysis", "nccl_payload_breakdown"}) {
    const Answer answer = RunOn(trace, skill);
    ASSERT_TRUE(answer.abstention) << skill;
    EXPECT_NE(answer.abstention->reason.find("--include-blobs=true"), std::string::npos);
    EXPECT_EQ(IntCell(answer.abstention->details, "binary_data_rows"), 0);
    EXPECT_EQ(IntCell(answer.abstention->details, "schemas_present"), 4);
  }
}

TEST(NcclCommunicatorAnalysis, AbstainsWhenNothingCanBeDecoded) {
  TraceBuilder builder = WithSchemas();
  AddCollective(builder, "ncclAllReduce", "garbage", 1, 10'000, 100, 0);
  EXPECT_TRUE(RunOn(builder.Build(), "nccl_communicator_analysis").abstention.has_value());
}

TEST(NcclPayloadBreakdown, CountsBySchema) {
  TraceBuilder builder = WithSchemas();
  const auto add = [&](const std::string& text, int64_t start, const std::string& payload) {
    builder.Range(text, {.start_ns = start, .end_ns = start + 5, .domain = 1, .payload = payload});
  };
  add("ncclCommInitRank", 0, Init(kWorld, 4, 0, 0));
  for (const int64_t i : {1, 2, 3}) {
    add("ncclSend", 10 * i, Peer(kWorld, static_cast<uint64_t>(100 * i), 1));
  }
  add("ncclRecv", 40, Peer(kPair, 400, 3));
  add("ncclSend", 50, "broken");
  add("ncclSend", 60, "");  // no payload: not an event of this question
  const Trace trace = builder.Build();
  const Answer answer = RunOn(trace, "nccl_payload_breakdown");
  ASSERT_EQ(answer.about_before.size(), 1U);
  const Object& summary = answer.about_before[0];
  EXPECT_EQ(IntCell(summary, "total_payload_events"), 5);
  EXPECT_EQ(IntCell(summary, "message_carrying_events"), 4);
  EXPECT_EQ(IntCell(summary, "skipped_events"), 1);
  EXPECT_EQ(IntCell(summary, "total_bytes_all"), 1'000);
  EXPECT_EQ(IntCell(summary, "total_distinct_communicators"), 2);
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(TextCell(answer.rows[0], "category"), "init");
  EXPECT_EQ(answer.rows[0].Find("msg_size_bytes_total"), nullptr);
  const Object& row = answer.rows[1];
  EXPECT_EQ(TextCell(row, "category"), "p2p");
  EXPECT_EQ(IntCell(row, "count"), 4);
  EXPECT_EQ(IntCell(row, "msg_size_bytes_p50"), 250);
  EXPECT_EQ(IntCell(row, "msg_size_bytes_p99"), 397);
  EXPECT_EQ(IntCell(row, "msg_size_bytes_max"), 400);
  EXPECT_EQ(RealCell(row, "peer_rank_uniformity"), 0.5);  // 3 and 1: mean 2, deviation 1
  EXPECT_EQ(IntCell(*Cell(row, "peer_rank_distribution").AsObject(), "3"), 1);
  const Answer part = RunOn(trace, "nccl_payload_breakdown", {}, Window{25, 30});
  EXPECT_EQ(IntCell(part.about_before[0], "total_payload_events"), 2);
}

TEST(NcclBreakdown, NvtxTellsTheOperationThatTheKernelRuns) {
  TraceBuilder builder;
  AddCollective(builder, "ncclAllReduce", "", 1, 10'000, 100, 0);
  AddCollective(builder, "my range", "", 1, 20'000, 50, 0);
  const Answer answer = RunOn(builder.Build(), "nccl_breakdown");
  ASSERT_EQ(answer.rows.size(), 2U);
  EXPECT_EQ(TextCell(answer.rows[0], "type"), "allreduce");
  EXPECT_EQ(TextCell(answer.rows[0], "type_source"), "nvtx");
  EXPECT_EQ(TextCell(answer.rows[1], "type"), "sendrecv");
  EXPECT_EQ(TextCell(answer.rows[1], "type_source"), "kernel name");
  TraceBuilder plain;
  plain.Kernel(kKernel, {.start_ns = 0, .end_ns = 5});
  EXPECT_EQ(TextCell(RunOn(plain.Build(), "nccl_breakdown").rows[0], "type_source"), "kernel name");
}

}  // namespace
}  // namespace nsys
