// SPDX-License-Identifier: MIT
#include "analysis/gpu_peaks.h"

#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "analysis/mfu.h"

namespace nsys {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kGib = int64_t{1} << 30;

Gpu Named(const char* name, int64_t gib = 0, int64_t gbps = 0) {
  Gpu gpu{.name = name};
  if (gib > 0) {
    gpu.memory_bytes = gib * kGib * 99 / 100;  // the driver keeps a part
  }
  if (gbps > 0) {
    gpu.bytes_per_second = gbps * 1'000'000'000;
  }
  return gpu;
}

std::optional<double> Fp16(const Gpu& gpu) { return PeakOf(&gpu, DataType::kFp16).tflops; }
std::optional<double> Gbps(const Gpu& gpu) { return MatchGpu(gpu).Agreed(&GpuSpec::memory_gbps); }

TEST(GpuPeaks, FindsWholeWordsLongestFirst) {
  EXPECT_EQ(Fp16(Named("NVIDIA H100 80GB HBM3")), 989);
  EXPECT_EQ(Fp16(Named("NVIDIA H100 PCIe")), 756);
  EXPECT_EQ(Fp16(Named("NVIDIA H100 NVL")), 835);
  EXPECT_EQ(Fp16(Named("NVIDIA H200")), 989);
  EXPECT_EQ(Fp16(Named("NVIDIA H200 NVL")), 835);
  EXPECT_EQ(Fp16(Named("NVIDIA GB200")), 2500);
  EXPECT_EQ(Fp16(Named("Tesla T4")), 65);
  EXPECT_EQ(Fp16(Named("NVIDIA A10G")), 70);
  EXPECT_EQ(Fp16(Named("NVIDIA L40S")), 362);
  EXPECT_EQ(Fp16(Named("NVIDIA GeForce RTX 4070 Ti SUPER")), 88.2);
  EXPECT_EQ(Fp16(Named("NVIDIA GeForce RTX 4070 Ti")), 80.2);
  EXPECT_EQ(Fp16(Named("NVIDIA GeForce RTX 4070 SUPER")), 71);
  EXPECT_EQ(Fp16(Named("NVIDIA RTX 6000 Ada Generation")), 364);
}

TEST(GpuPeaks, PartsOfWordsAndSmallerPartsAreUnknown) {
  for (const char* name :
       {"NVIDIA T400", "NVIDIA RTX A2000", "Quadro RTX 4000", "NVIDIA RTX 4000 SFF Ada Generation",
        "NVIDIA GeForce RTX 4090 Laptop GPU", "NVIDIA GeForce RTX 4090 D",
        "NVIDIA GeForce RTX 2080 with Max-Q Design", "NVIDIA A100-SXM4-40GB MIG 1g.5gb", "",
        "NVIDIA Graphics Device"}) {
    EXPECT_EQ(Fp16(Named(name)), std::nullopt) << name;
  }
  EXPECT_EQ(PeakOf(nullptr, DataType::kFp16).tflops, std::nullopt);
}

TEST(GpuPeaks, VariantsAreDecidedByTheCaptureOrNotAtAll) {
  EXPECT_EQ(Fp16(Named("NVIDIA H100")), std::nullopt);
  const Gpu bare = Named("NVIDIA H100");
  EXPECT_THAT(PeakOf(&bare, DataType::kFp16).words, HasSubstr("H100 PCIe 756"));
  EXPECT_EQ(Fp16(Named("NVIDIA H100", 80)), std::nullopt) << "SXM and PCIe have 80 GB";
  EXPECT_EQ(Fp16(Named("NVIDIA H100", 94)), 835);
  EXPECT_EQ(Fp16(Named("NVIDIA H100", 80, 3352)), 989);
  EXPECT_EQ(Fp16(Named("NVIDIA H100", 80, 2039)), 756);
  EXPECT_EQ(Fp16(Named("NVIDIA H100", 64)), std::nullopt) << "no variant that the table knows";
  EXPECT_EQ(Fp16(Named("Tesla V100")), std::nullopt);
  EXPECT_EQ(Fp16(Named("Tesla V100-SXM2-16GB")), 125);
  EXPECT_EQ(Fp16(Named("Tesla V100S-PCIE-32GB")), 130);
}

TEST(GpuPeaks, FiguresThatVariantsShareNeedNoDecision) {
  EXPECT_EQ(Fp16(Named("NVIDIA A100")), 312);
  EXPECT_EQ(Gbps(Named("NVIDIA A100")), std::nullopt);
  EXPECT_EQ(Gbps(Named("NVIDIA A100", 40)), 1555);
  EXPECT_EQ(Gbps(Named("NVIDIA A100-SXM4-80GB")), 2039);
  EXPECT_EQ(Gbps(Named("NVIDIA A100 80GB PCIe")), 1935);
  EXPECT_EQ(Fp16(Named("NVIDIA GeForce RTX 3080", 10, 760)), 59.5);
  EXPECT_EQ(Gbps(Named("NVIDIA GeForce RTX 3080", 12)), 912);
  EXPECT_EQ(Gbps(Named("NVIDIA GeForce RTX 4090", 48)), 1008) << "one row: nothing to decide";
}

TEST(GpuPeaks, TheChipCountsOnlyWithoutAName) {
  Gpu gpu{.chip = "GA100"};
  EXPECT_EQ(Fp16(gpu), std::nullopt) << "A100 or A30";
  gpu.memory_bytes = 80 * kGib * 99 / 100;
  EXPECT_EQ(Fp16(gpu), 312);
  gpu.memory_bytes = 24 * kGib * 99 / 100;
  EXPECT_EQ(Fp16(gpu), 165);
  EXPECT_EQ(Fp16({.chip = "GA102"}), std::nullopt) << "does not hold A10";
  EXPECT_EQ(Fp16({.chip = "AD102"}), std::nullopt);
  gpu.name = "NVIDIA T400";
  EXPECT_EQ(Fp16(gpu), std::nullopt);
}

TEST(GpuPeaks, TellNvlinkOfAFamily) {
  const auto nvlink = [](const char* name) {
    return MatchGpu(Named(name)).Agreed(&GpuSpec::nvlink_gbps);
  };
  EXPECT_EQ(nvlink("NVIDIA B200"), 1800);
  EXPECT_EQ(nvlink("NVIDIA GB200"), 1800);
  EXPECT_EQ(nvlink("NVIDIA H100 80GB HBM3"), 900);
  EXPECT_EQ(nvlink("NVIDIA H200"), 900);
  EXPECT_EQ(nvlink("NVIDIA H800"), 400);
  EXPECT_EQ(nvlink("NVIDIA A100-SXM4-40GB"), 600);
  EXPECT_EQ(nvlink("Tesla V100-SXM2-32GB"), 300);
  EXPECT_EQ(nvlink("Tesla V100-PCIE-16GB"), std::nullopt);
  EXPECT_EQ(nvlink("NVIDIA L4"), std::nullopt);
}

TEST(GpuPeaks, RowsAreSound) {
  std::set<std::string_view> products;
  for (const GpuSpec& row : GpuSpecs()) {
    EXPECT_TRUE(products.insert(row.product).second) << row.product << " stands twice";
    EXPECT_FALSE(row.source.empty()) << row.product;
    EXPECT_GT(row.fp16, 0) << row.product;
    EXPECT_GT(row.memory_gbps, 0) << row.product;
    // Narrower types are never slower; a card of half that rate would be a misread column.
    EXPECT_LE(row.tf32, row.fp16 * 0.6) << row.product;
    EXPECT_TRUE(row.fp8 == 0 || row.fp8 >= row.fp16 * 1.99) << row.product;
    EXPECT_TRUE(row.int8 == 0 || row.int8 >= row.fp16 * 1.99) << row.product;
    EXPECT_TRUE(row.fp16_accumulate == 0 || std::abs(row.fp16_accumulate / row.fp16 - 2) < 0.02)
        << row.product;
    const Gpu named = Named(std::string(row.product).c_str(), static_cast<int64_t>(row.memory_gib));
    const GpuMatch own = MatchGpu(named);
    EXPECT_TRUE(own.AgreedPeak(DataType::kFp16).has_value()) << row.product;
  }
}

TEST(GpuPeaks, ReadsDataTypes) {
  EXPECT_EQ(ParseDataType("BF16"), DataType::kFp16);
  EXPECT_EQ(ParseDataType("int8"), DataType::kInt8);
  EXPECT_EQ(ParseDataType("fp4"), std::nullopt);
  const Gpu h100 = Named("NVIDIA H100 PCIe");
  EXPECT_EQ(PeakOf(&h100, DataType::kFp8).tflops, 1513);
  EXPECT_EQ(PeakOf(&h100, DataType::kFp64).tflops, 51);
  const Gpu a10 = Named("NVIDIA A10");
  EXPECT_EQ(PeakOf(&a10, DataType::kFp8).tflops, std::nullopt) << "has none";
}

TEST(Rate, ReachesItsPeakAndNoMore) {
  EXPECT_EQ(RateOf(989e9, 1'000'000, 989).mfu_pct, 100.0);
  EXPECT_TRUE(RateOf(989e9, 1'000'000, 989).possible());
  EXPECT_FALSE(RateOf(989e12, 1'000'000, 989).possible());
  const GpuPeak peak{.tflops = 989, .words = "given"};
  const std::string text = ImpossibleRateText(989e12, 1'000'000, "GPU time", 989, peak);
  EXPECT_THAT(text, HasSubstr("9.89e+14 FLOPs in 1.00 ms"));
  EXPECT_THAT(text, HasSubstr("100000 % of the peak of 989"));
}

TEST(GpuPeaks, NvlinkByProduct) {
  const auto nvlink = [](const char* name) {
    return MatchGpu({.name = name}).Agreed(&GpuSpec::nvlink_gbps);
  };
  EXPECT_EQ(nvlink("NVIDIA H100 80GB HBM3"), 900);
  EXPECT_EQ(nvlink("NVIDIA GB200"), 1800);
  EXPECT_EQ(nvlink("NVIDIA A100-SXM4-40GB"), 600);
  EXPECT_EQ(nvlink("Tesla V100-SXM2-32GB"), 300);
  EXPECT_FALSE(nvlink("Tesla V100-PCIE-16GB"));
  EXPECT_FALSE(nvlink("NVIDIA L4"));
}

}  // namespace
}  // namespace nsys
