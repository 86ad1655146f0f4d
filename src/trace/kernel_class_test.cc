// SPDX-License-Identifier: MIT
#include "trace/kernel_class.h"

#include <gtest/gtest.h>

#include "trace/trace.h"

namespace nsys {
namespace {

TEST(KernelClass, NamesCommunication) {
  EXPECT_EQ(CommunicationOperation("ncclDevKernel_AllReduce_Sum_f32_RING_LL"), "allreduce");
  EXPECT_EQ(CommunicationOperation("ncclKernel_AllGather_RING_LL_Sum_int8_t"), "allgather");
  EXPECT_EQ(CommunicationOperation("ncclDevKernel_ReduceScatter_Sum_bf16"), "reducescatter")
      << "before reduce";
  EXPECT_EQ(CommunicationOperation("ncclDevKernel_SendRecv(args)"), "sendrecv");
  EXPECT_EQ(CommunicationOperation("ncclDevKernel_Reduce_Sum"), "reduce");
  EXPECT_EQ(CommunicationOperation("nccldevkernel_x"), "other");
  EXPECT_EQ(CommunicationOperation("void vllm::cross_device_reduce_1stage<half, 2>(...)"),
            "custom_allreduce");
  EXPECT_EQ(CommunicationOperation("deep_ep::internode::dispatch<true>"), "custom_alltoall");
  EXPECT_EQ(CommunicationOperation("reduce_kernel"), std::nullopt) << "a reduction is compute";
  EXPECT_EQ(CommunicationOperation(""), std::nullopt);
}

TEST(KernelClass, TellsTensorCoresFromScalarCores) {
  const auto eligible_only = [](const char* name) {
    const TensorCoreUse use = TensorCoreClass(name);
    return use.eligible && !use.active;
  };
  const auto neither = [](const char* name) {
    const TensorCoreUse use = TensorCoreClass(name);
    return !use.eligible && !use.active;
  };
  EXPECT_TRUE(eligible_only(
      "sm80_xmma_gemm_f32f32_f32f32_f32_tn_n_tilesize128x64x8_stage3_warpsize2x2x1_ffma_aligna4"));
  EXPECT_TRUE(eligible_only("cutlass_80_simt_sgemm_128x128_8x5_nn_align1"));
  EXPECT_TRUE(eligible_only("volta_sgemm_64x64_nn"));
  EXPECT_TRUE(eligible_only("flash::flash_fwd_splitkv_combine_kernel"));
  EXPECT_TRUE(TensorCoreClass("nvjet_hsh_128x256_64x4_1x2_h_bz_coopA_NNT").active);
  EXPECT_TRUE(TensorCoreClass("void flash::flash_fwd_kernel<Traits>(Params)").active);
  EXPECT_TRUE(TensorCoreClass("ampere_h16816gemm_128x64_ldg8_stages_64x3_tn").active);
  EXPECT_TRUE(TensorCoreClass("volta_h884gemm_64x128").active);
  EXPECT_TRUE(TensorCoreClass("cutlass_80_tensorop_bf16_s16816gemm").active);
  EXPECT_TRUE(neither("convert_to_half_kernel"));
  EXPECT_TRUE(neither("nonlinear_activation"));
  EXPECT_TRUE(neither("bilinear_upsample"));
  EXPECT_TRUE(neither("hash_18840")) << "digits on both sides";
  EXPECT_TRUE(neither("reduce_kernel"));
}

TEST(KernelClass, RemembersPerName) {
  StringPool strings;
  const StringId nccl = strings.Intern("ncclDevKernel_AllGather");
  const StringId plain = strings.Intern("gemm");
  CommunicationClasses classes(strings);
  EXPECT_EQ(classes.Operation(nccl), "allgather");
  EXPECT_FALSE(classes.IsCommunication(plain));
  EXPECT_FALSE(classes.IsCommunication(StringId::kNone));
  EXPECT_EQ(classes.Operation(nccl), "allgather");
}

TEST(StringPool, InternsEqualTextsOnce) {
  StringPool pool;
  const StringId empty = pool.Intern("");
  for (int i = 0; i < 5000; ++i) {
    pool.Intern("name " + std::to_string(i));
  }
  EXPECT_EQ(pool.size(), 5001U);
  EXPECT_EQ(pool.Intern(""), empty);
  EXPECT_EQ(pool.Get(pool.Intern("name 4321")), "name 4321");
  EXPECT_EQ(pool.size(), 5001U);
  const std::string big(3 << 20, 'x');
  EXPECT_EQ(pool.Get(pool.Intern(big)), big);
  EXPECT_NE(pool.Intern(std::string("a\0b", 3)), pool.Intern("a"));
}

}  // namespace
}  // namespace nsys
