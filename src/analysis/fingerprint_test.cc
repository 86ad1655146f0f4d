// SPDX-License-Identifier: MIT
// What a capture may be called, and on what evidence.
#include "analysis/fingerprint.h"

#include <gtest/gtest.h>

#include "trace_builder.h"

namespace nsys {
namespace {

Fingerprint Of(const Trace& trace) {
  Views views(trace);
  return FingerprintOf(views);
}

Fingerprint OfKernel(const std::string& name) {
  return Of(TraceBuilder().Kernel(name, {.start_ns = 0, .end_ns = 10}).Build());
}

Fingerprint OfRange(const std::string& text) {
  return Of(TraceBuilder()
                .Kernel("gemm", {.start_ns = 0, .end_ns = 10})
                .Range(text, {.start_ns = 0, .end_ns = 10})
                .Build());
}

TEST(Framework, ByKernelsAndRanges) {
  EXPECT_EQ(OfKernel("void vllm::paged_attention_v2_kernel<float>").framework, "vLLM");
  EXPECT_EQ(OfKernel("void at::native::elementwise_kernel<4>").framework, "PyTorch");
  EXPECT_EQ(OfKernel("void f<c10::Half>(c10::Half*)").framework, "PyTorch");
  EXPECT_EQ(OfRange("aten::mm, op_id = 3").framework, "PyTorch");
  EXPECT_EQ(OfRange("Megatron forward").framework, "Megatron-LM");
  EXPECT_EQ(OfRange("RadixAttention.forward").framework, "SGLang");
  EXPECT_EQ(OfRange("DeepSpeedEngine.step").framework, "DeepSpeed");
  EXPECT_EQ(OfRange("DeepSpeedEngine.step").evidence,
            "'deepspeed' in the range DeepSpeedEngine.step");
  EXPECT_EQ(OfKernel("void at::native::x").evidence, "'at::' in the kernel void at::native::x");
}

TEST(Framework, WordsWithinOtherWordsAreNoEvidence) {
  for (const char* name :
       {"void fmt::format::kernel()", "float::cast", "softmax_warp_forward", "backward", "gemm"}) {
    EXPECT_EQ(OfKernel(name).framework, "Generic CUDA") << name;
    EXPECT_EQ(OfKernel(name).evidence, "") << name;
  }
  // A number of channels is no namespace.
  EXPECT_EQ(OfKernel("conv_fprop_n8_c1024_k3").framework, "Generic CUDA");
}

TEST(Framework, EnginesComeBeforeWhatTheyAreBuiltOn) {
  const Trace trace = TraceBuilder()
                          .Kernel("void at::native::x", {.start_ns = 0, .end_ns = 10})
                          .Range("vllm.step", {.start_ns = 0, .end_ns = 10})
                          .Build();
  EXPECT_EQ(Of(trace).framework, "vLLM");
}

TEST(Framework, TheFirstNameInByteOrderIsTheEvidence) {
  const Trace trace = TraceBuilder()
                          .Kernel("void at::native::b", {.start_ns = 0, .end_ns = 10})
                          .Kernel("void at::native::a", {.start_ns = 10, .end_ns = 20})
                          .Build();
  EXPECT_EQ(Of(trace).evidence, "'at::' in the kernel void at::native::a");
}

TEST(Framework, StringsThatNothingRefersToAreNoEvidence) {
  Trace trace = TraceBuilder().Kernel("gemm", {.start_ns = 0, .end_ns = 10}).Build();
  trace.strings.Intern("/opt/deepspeed/zero_stage_3.json");
  trace.strings.Intern("nccl");
  trace.nics.push_back({.name = "mlx5_0", .vendor = 5555});
  const Fingerprint fingerprint = Of(trace);
  EXPECT_EQ(fingerprint.framework, "Generic CUDA");
  EXPECT_EQ(fingerprint.evidence, "");
  EXPECT_FALSE(fingerprint.distributed);
  EXPECT_FALSE(fingerprint.multi_node) << "one device, no communication";
}

TEST(Distributed, ByDevicesCommunicationOrSchemas) {
  EXPECT_FALSE(OfKernel("gemm").distributed);
  EXPECT_TRUE(OfKernel("ncclDevKernel_AllReduce").distributed);
  EXPECT_TRUE(Of(TraceBuilder()
                     .Kernel("gemm", {.start_ns = 0, .end_ns = 10})
                     .Kernel("gemm", {.start_ns = 0, .end_ns = 10, .device = 1})
                     .Build())
                  .distributed);
  EXPECT_FALSE(Of(TraceBuilder()
                      .Kernel("gemm", {.start_ns = 0, .end_ns = 10})
                      .Copy({.start_ns = 0, .end_ns = 10, .device = 1})
                      .Build())
                   .distributed)
      << "no kernel on the second";
  EXPECT_TRUE(Of(TraceBuilder().Kernel("gemm", {.start_ns = 0, .end_ns = 10}).Schema({}).Build())
                  .distributed);
}

TEST(MultiNode, DistributedWithAnRdmaCard) {
  const auto with = [](const std::string& kernel, std::vector<Nic> nics) {
    Trace trace = TraceBuilder().Kernel(kernel, {.start_ns = 0, .end_ns = 10}).Build();
    trace.nics = std::move(nics);
    return Of(trace);
  };
  constexpr char kNccl[] = "ncclDevKernel_AllReduce";
  EXPECT_TRUE(with(kNccl, {{.name = "mlx5_0", .vendor = std::nullopt}}).multi_node);
  EXPECT_TRUE(with(kNccl, {{.name = "ib0", .vendor = 5555}}).multi_node);
  EXPECT_TRUE(with(kNccl, {{.name = "cxi0", .vendor = std::nullopt}}).multi_node);
  EXPECT_FALSE(with(kNccl, {{.name = "eth0", .vendor = 4203}}).multi_node);
  EXPECT_FALSE(with(kNccl, {{.name = "eth0", .vendor = std::nullopt}}).multi_node);
  EXPECT_FALSE(with(kNccl, {}).multi_node);
  EXPECT_FALSE(with("gemm", {{.name = "mlx5_0", .vendor = 5555}}).multi_node);
  EXPECT_EQ(with("gemm", {{.name = "eth0", .vendor = 1},
                          {.name = "mlx5_0", .vendor = 5555},
                          {.name = "mlx5_1", .vendor = 5555}})
                .nic_summary,
            "mlx5_0, mlx5_1");
}

}  // namespace
}  // namespace nsys
