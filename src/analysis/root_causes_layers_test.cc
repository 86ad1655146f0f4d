// SPDX-License-Identifier: MIT
// Causes among the layers of a model, and among NCCL's communicators.
#include "root_cause_test_util.h"

namespace nsys {
namespace {

constexpr char kNcclHotspot[] = "Layer NCCL Hotspot";
constexpr char kImbalance[] = "Pipeline Imbalance";
constexpr char kOutlier[] = "Layer Outlier";
constexpr char kCommunicator[] = "Inefficient NCCL Communicator";

struct LayerWork {
  std::string name;
  int64_t compute_ns = 0;
  int64_t communication_ns = 0;
};

// Each layer is a range around the launches of its kernels, which run one after the other.
Trace Layers(const std::vector<LayerWork>& layers) {
  TraceBuilder builder;
  int64_t host = 0;
  int64_t gpu = kMs;
  int64_t id = 0;
  for (const LayerWork& layer : layers) {
    builder.Range(layer.name, {.start_ns = host, .end_ns = host + 100});
    for (const bool compute : {true, false}) {
      const int64_t length = compute ? layer.compute_ns : layer.communication_ns;
      host += 20;
      if (length > 0) {
        builder.Call("cudaLaunchKernel",
                     {.start_ns = host, .end_ns = host + 5, .correlation = ++id});
        builder.Kernel(compute ? "gemm" : "ncclDevKernel_AllReduce",
                       {.start_ns = gpu, .end_ns = gpu + length, .correlation = id});
        gpu += length;
      }
    }
    host += 100;
  }
  return builder.Build();
}

TEST(LayerCommunication, MoreThanFortyPercentOfAllLayers) {
  const auto with = [](int64_t first) {
    return Layers(
        {{"layer_0", kMs, first}, {"layer_1", kMs, 30 * kMs}, {"layer_2", kMs, 70 * kMs - first}});
  };
  EXPECT_FALSE(Fires(with(40 * kMs), kNcclHotspot));
  const RootCause cause = FindOne(with(40 * kMs + 1), kNcclHotspot);
  EXPECT_EQ(cause.magnitude_ns, 40 * kMs + 1);
  EXPECT_EQ(cause.where, "layer_0");
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_FALSE(cause.place.has_value());
  EXPECT_TRUE(cause.claim.empty());
}

TEST(LayerBalance, ThreeTimesTheLightest) {
  const auto with = [](int64_t heaviest, int64_t lightest) {
    return Layers({{"layer_0", lightest}, {"layer_1", 2 * kMs}, {"layer_2", heaviest}});
  };
  const RootCause cause = FindOne(with(3 * kMs, kMs), kImbalance);
  EXPECT_EQ(cause.magnitude_ns, 2 * kMs);
  EXPECT_EQ(cause.where, "layer_2");
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_FALSE(Fires(with(3 * kMs - 1, kMs), kImbalance));
  EXPECT_FALSE(Fires(with(5 * kMs, 10 * kUs), kImbalance)) << "too little to count as a layer";
  EXPECT_TRUE(Fires(with(5 * kMs, 10 * kUs + 1), kImbalance));
  // Communication is no compute.
  EXPECT_FALSE(Fires(Layers({{"layer_0", kMs, 9 * kMs}, {"layer_1", kMs}}), kImbalance));
}

std::vector<LayerWork> WithHeavyLayers(int64_t heavy) {
  std::vector<LayerWork> layers;
  for (int64_t i = 0; i < 40; ++i) {
    const int64_t ns = i < heavy ? (50 + i) * kMs : 20 * kMs;
    layers.push_back({"layer_" + std::to_string(i), ns});
  }
  return layers;
}

TEST(LayerOutliers, AtMostFiveThenOneForTheRest) {
  const std::vector<RootCause> five = FindAll(Layers(WithHeavyLayers(5)), kOutlier);
  ASSERT_EQ(five.size(), 5U);
  EXPECT_EQ(five[0].magnitude_ns, 54 * kMs) << "heaviest first";
  EXPECT_EQ(five[0].where, "layer_4");
  EXPECT_EQ(five[4].magnitude_ns, 50 * kMs);
  EXPECT_EQ(five[4].severity, Severity::kWarning);
  const std::vector<RootCause> seven = FindAll(Layers(WithHeavyLayers(7)), kOutlier);
  ASSERT_EQ(seven.size(), 6U);
  EXPECT_EQ(seven[0].magnitude_ns, 56 * kMs);
  EXPECT_EQ(seven[5].magnitude_ns, 50 * kMs + 51 * kMs);
  EXPECT_EQ(seven[5].severity, Severity::kInfo);
  EXPECT_EQ(seven[5].evidence, "2 more layers stand out, 101.00 ms together");
  EXPECT_TRUE(FindAll(Layers({{"layer_0", kMs}, {"layer_1", 9 * kMs}}), kOutlier).empty())
      << "two layers tell nothing about each other";
}

TEST(Layers, OnlyWhereRangesAreLayers) {
  const Trace operations = Layers({{"aten::mm", 90 * kMs, 90 * kMs},
                                   {"aten::add", kMs, kMs},
                                   {"aten::mul", kMs, kMs},
                                   {"aten::sum", kMs, kMs}});
  for (const char* pattern : {kNcclHotspot, kImbalance, kOutlier}) {
    EXPECT_FALSE(Fires(operations, pattern)) << pattern;
  }
}

// ---- communicators

std::string Word(uint64_t value) {
  std::string word;
  for (size_t i = 0; i < 8; ++i) {
    word += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return word;
}

PayloadField Field(int64_t type, std::string name, int64_t offset) {
  return {.index = 0,
          .flags = 0,
          .type = type,
          .name = std::move(name),
          .array_or_union = 0,
          .offset = offset};
}

// Calls of NCCL on an H100 (900 GB/s), each with a communicator, bytes and time of its kernel.
struct Call {
  uint64_t communicator;
  uint64_t bytes;
  int64_t kernel_ns;
};
Trace Communicators(const std::vector<Call>& calls, const std::string& gpu) {
  TraceBuilder builder;
  builder.GpuNamed(gpu);
  builder.Schema(
      {.domain = 1,
       .id = 2,
       .name = "",
       .type = 1,
       .bytes = 16,
       .fields = {Field(18, "NCCL communicator ID", 0), Field(22, "Message size [bytes]", 8)}});
  int64_t at = 0;
  for (const Call& call : calls) {
    const std::string body = Word(call.communicator) + Word(call.bytes);
    builder.Range("ncclAllReduce",
                  {.start_ns = at,
                   .end_ns = at + 100,
                   .domain = 1,
                   .payload = Word(1) + Word(2) + Word(body.size()) + Word(32) + body});
    builder.Call("cudaLaunchKernelExC",
                 {.start_ns = at + 10, .end_ns = at + 20, .correlation = at + 1});
    builder.Kernel(
        "ncclDevKernel_AllReduce",
        {.start_ns = at + 50, .end_ns = at + 50 + call.kernel_ns, .correlation = at + 1});
    at += 10 * kUs;
  }
  return builder.Build();
}

constexpr char kH100[] = "NVIDIA H100 80GB HBM3";

TEST(Communicators, LessThanAFifthOfThePeak) {
  const RootCause cause = FindOne(Communicators({{0x10, 179'999, 1000}}, kH100), kCommunicator);
  EXPECT_EQ(cause.magnitude_ns, 1000);
  EXPECT_EQ(cause.where, "device 0, communicator 0x0000000000000010");
  EXPECT_TRUE(cause.claim.empty());
  EXPECT_EQ(cause.severity, Severity::kWarning);
  EXPECT_FALSE(Fires(Communicators({{0x10, 180'000, 1000}}, kH100), kCommunicator));
  EXPECT_FALSE(Fires(Communicators({{0x10, 9'999, 999}}, kH100), kCommunicator)) << "below 1 us";
  EXPECT_FALSE(Fires(Communicators({{0x10, 1'000, 1000}}, "Some GPU"), kCommunicator))
      << "no peak is known";
}

TEST(Communicators, TheLeastEfficientIsNamed) {
  const Trace trace =
      Communicators({{0x10, 90'000, 1000}, {0x20, 9'000, 1000}, {0x30, 900'000, 1000}}, kH100);
  const RootCause cause = FindOne(trace, kCommunicator);
  EXPECT_EQ(cause.where, "device 0, communicator 0x0000000000000020");
  EXPECT_NE(cause.evidence.find("9.00 GB/s, 1.0 %"), std::string::npos) << cause.evidence;
}

}  // namespace
}  // namespace nsys
