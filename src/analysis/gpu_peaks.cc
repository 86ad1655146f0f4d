// SPDX-License-Identifier: MIT
#include "analysis/gpu_peaks.h"

#include <algorithm>
#include <array>

#include <fmt/core.h>

#include "base/number.h"
#include "base/text.h"

namespace nsys {
namespace {

// Sources. Professional Ada and Ampere cards state "Tensor performance" with sparsity: of FP8 for
// Ada (dense FP16 is a quarter of it), of FP16 for Ampere (a half).
constexpr std::string_view kReference = "reference table";
constexpr std::string_view kDgxB200 = "NVIDIA DGX B200 data sheet, per GPU";
constexpr std::string_view kHgx = "NVIDIA HGX data sheet (B100), per GPU";
constexpr std::string_view kNvl72 = "NVIDIA GB200 NVL72 data sheet, per GPU";
constexpr std::string_view kH100 = "NVIDIA H100 Tensor Core GPU data sheet";
constexpr std::string_view kH200 = "NVIDIA H200 Tensor Core GPU data sheet";
constexpr std::string_view kGh200 = "NVIDIA GH200 Grace Hopper Superchip data sheet";
constexpr std::string_view kH800 =
    "reference table; NVLink: DeepSeek-AI, Insights into DeepSeek-V3 (2025)";
constexpr std::string_view kA100 = "NVIDIA A100 Tensor Core GPU data sheet";
constexpr std::string_view kA800 = "reference table; NVLink: NVIDIA A800 announcement";
constexpr std::string_view kA800Active = "NVIDIA A800 40GB Active data sheet";
constexpr std::string_view kA30 = "NVIDIA A30 Tensor Core GPU data sheet";
constexpr std::string_view kA10 = "NVIDIA A10 Tensor Core GPU data sheet";
constexpr std::string_view kA10g = "NVIDIA A10G data sheet (AWS G5)";
constexpr std::string_view kA40 = "NVIDIA A40 data sheet";
constexpr std::string_view kA16 = "NVIDIA A16 data sheet, per GPU";
constexpr std::string_view kA2 = "NVIDIA A2 Tensor Core GPU data sheet";
constexpr std::string_view kL40s = "NVIDIA L40S data sheet";
constexpr std::string_view kL40 = "NVIDIA L40 data sheet";
constexpr std::string_view kL4 = "NVIDIA L4 Tensor Core GPU data sheet";
constexpr std::string_view kRtxAda = "NVIDIA RTX Ada Generation data sheet";
constexpr std::string_view kRtxA = "NVIDIA RTX A-series data sheet";
constexpr std::string_view kBlackwell = "NVIDIA RTX Blackwell GPU Architecture white paper";
constexpr std::string_view kAda = "NVIDIA Ada GPU Architecture white paper";
constexpr std::string_view kAdaRate =
    "NVIDIA GeForce product page (FP32); FP16 at the rate of the Ada white paper, 2 x FP32";
constexpr std::string_view kGa102 = "NVIDIA Ampere GA102 GPU Architecture white paper";
constexpr std::string_view kGa102Rate =
    "NVIDIA GeForce product page (FP32); FP16 at the rate of the GA102 white paper, 2 x FP32";
constexpr std::string_view kTuring = "NVIDIA Turing GPU Architecture white paper";
constexpr std::string_view kT4 = "NVIDIA T4 data sheet";
constexpr std::string_view kV100 = "NVIDIA V100 Tensor Core GPU data sheet";

// clang-format off
constexpr auto kSpecs = std::to_array<GpuSpec>({
    // product, names, chip,
    // GiB, FP64, FP32, TF32, FP16, FP8, INT8, fp16_accumulate, sparsity, GB/s, NVLink, source
    {"B200", "B200", "",
     0, 37, 75, 1125, 2250, 4500, 4500, 0, true, 8000, 1800, kDgxB200},
    {"B100", "B100", "",
     0, 30, 60, 875, 1750, 3500, 3500, 0, true, 8000, 1800, kHgx},
    {"GB200", "GB200", "",
     0, 40, 80, 1250, 2500, 5000, 5000, 0, true, 8000, 1800, kNvl72},
    {"H200 SXM", "H200 SXM|H200", "",
     141, 67, 67, 494.5, 989, 1979, 1979, 0, true, 4800, 900, kH200},
    {"H200 NVL", "H200 NVL", "",
     141, 60, 60, 417.5, 835, 1670, 1670, 0, true, 4800, 900, kH200},
    {"GH200 96GB", "GH200", "",
     96, 67, 67, 494.5, 989, 1979, 1979, 0, true, 4000, 900, kGh200},
    {"GH200 144GB", "GH200", "",
     144, 67, 67, 494.5, 989, 1979, 1979, 0, true, 4900, 900, kGh200},
    {"H100 SXM", "H100 SXM|H100 SXM5|H100 80GB HBM3|H100", "GH100",
     80, 67, 67, 494.5, 989, 1979, 1979, 0, true, 3350, 900, kH100},
    {"H100 PCIe", "H100 PCIe|H100", "GH100",
     80, 51, 51, 378, 756, 1513, 1513, 0, true, 2039, 600, kH100},
    {"H100 NVL", "H100 NVL|H100", "GH100",
     94, 60, 60, 417.5, 835, 1670, 1670, 0, true, 3900, 600, kH100},
    {"H800 SXM", "H800 SXM|H800 SXM5|H800", "GH100",
     80, 0, 0, 0, 989, 0, 0, 0, true, 3350, 400, kH800},
    {"A100 SXM 80GB", "A100 SXM4 80GB|A100 SXM 80GB|A100 80GB|A100 SXM4|A100", "GA100",
     80, 19.5, 19.5, 156, 312, 0, 624, 0, true, 2039, 600, kA100},
    {"A100 SXM 40GB", "A100 SXM4 40GB|A100 SXM 40GB|A100 40GB|A100 SXM4|A100", "GA100",
     40, 19.5, 19.5, 156, 312, 0, 624, 0, true, 1555, 600, kA100},
    {"A100 PCIe 80GB", "A100 80GB PCIe|A100 PCIe 80GB|A100 PCIe|A100", "GA100",
     80, 19.5, 19.5, 156, 312, 0, 624, 0, true, 1935, 600, kA100},
    {"A100 PCIe 40GB", "A100 PCIe 40GB|A100 40GB PCIe|A100 PCIe|A100", "GA100",
     40, 19.5, 19.5, 156, 312, 0, 624, 0, true, 1555, 600, kA100},
    {"A800 SXM 80GB", "A800 SXM4 80GB|A800", "GA100",
     80, 0, 0, 0, 312, 0, 0, 0, true, 2039, 400, kA800},
    {"A800 PCIe 80GB", "A800 80GB PCIe|A800 PCIe 80GB|A800", "GA100",
     80, 0, 0, 0, 312, 0, 0, 0, true, 1935, 400, kA800},
    {"A800 40GB Active", "A800 40GB|A800", "GA100",
     40, 9.7, 19.5, 0, 312, 0, 0, 0, true, 1555, 400, kA800Active},
    {"A30", "A30", "GA100",
     24, 10.3, 10.3, 82, 165, 0, 330, 0, true, 933, 200, kA30},
    {"A10", "A10", "",
     24, 0, 31.2, 62.5, 125, 0, 250, 0, true, 600, 0, kA10},
    {"A10G", "A10G", "",
     24, 0, 35, 35, 70, 0, 140, 0, true, 600, 0, kA10g},
    {"A40", "A40", "",
     48, 0, 37.4, 74.8, 149.7, 0, 299.3, 0, true, 696, 112.5, kA40},
    {"A16", "A16", "",
     16, 0, 4.5, 9, 17.9, 0, 35.9, 0, true, 200, 0, kA16},
    {"A2", "A2", "",
     16, 0, 4.5, 9, 18, 0, 36, 0, true, 200, 0, kA2},
    {"L40S", "L40S", "",
     48, 0, 91.6, 183, 362, 733, 733, 0, true, 864, 0, kL40s},
    {"L40", "L40", "",
     48, 0, 90.5, 90.5, 181, 362, 362, 0, true, 864, 0, kL40},
    {"L4", "L4", "",
     24, 0, 30.3, 60, 121, 242.5, 242.5, 0, true, 300, 0, kL4},
    {"T4", "T4", "",
     16, 0, 8.1, 0, 65, 0, 130, 0, false, 320, 0, kT4},
    {"V100 SXM2", "V100 SXM2|V100 SXM2 16GB|V100 SXM2 32GB|V100", "",
     0, 7.8, 15.7, 0, 125, 0, 0, 0, false, 900, 300, kV100},
    {"V100 PCIe", "V100 PCIe|V100 PCIe 16GB|V100 PCIe 32GB|V100", "",
     0, 7, 14, 0, 112, 0, 0, 0, false, 900, 0, kV100},
    {"V100S PCIe", "V100S PCIe|V100S", "",
     32, 8.2, 16.4, 0, 130, 0, 0, 0, false, 1134, 0, kV100},
    {"RTX 6000 Ada", "RTX 6000 Ada", "",
     48, 0, 91.1, 0, 364, 728.5, 0, 0, true, 960, 0, kRtxAda},
    {"RTX 5880 Ada", "RTX 5880 Ada", "",
     48, 0, 69.3, 0, 277, 554.2, 0, 0, true, 960, 0, kRtxAda},
    {"RTX 5000 Ada", "RTX 5000 Ada", "",
     32, 0, 65.3, 0, 261, 522.2, 0, 0, true, 576, 0, kRtxAda},
    {"RTX 4500 Ada", "RTX 4500 Ada", "",
     24, 0, 39.6, 0, 158.5, 317, 0, 0, true, 432, 0, kRtxAda},
    {"RTX 4000 Ada", "RTX 4000 Ada", "",
     20, 0, 26.7, 0, 106.9, 213.8, 0, 0, true, 360, 0, kRtxAda},
    {"RTX A6000", "RTX A6000", "",
     48, 0, 38.7, 77.4, 154.8, 0, 309.7, 0, true, 768, 112.5, kRtxA},
    {"RTX A5500", "RTX A5500", "",
     24, 0, 34.1, 0, 136.4, 0, 0, 0, true, 768, 112.5, kRtxA},
    {"RTX A5000", "RTX A5000", "",
     24, 0, 27.8, 0, 111.1, 0, 0, 0, true, 768, 112.5, kRtxA},
    {"RTX A4500", "RTX A4500", "",
     20, 0, 23.7, 0, 94.6, 0, 0, 0, true, 640, 112.5, kRtxA},
    {"RTX A4000", "RTX A4000", "",
     16, 0, 19.2, 0, 76.7, 0, 0, 0, true, 448, 0, kRtxA},
    {"RTX 5090", "RTX 5090", "",
     32, 0, 104.8, 104.8, 209.5, 419, 838, 419, true, 1792, 0, kBlackwell},
    {"RTX 5080", "RTX 5080", "",
     16, 0, 56.3, 56.3, 112.6, 225.1, 450.2, 225.1, true, 960, 0, kBlackwell},
    {"RTX 5070 Ti", "RTX 5070 Ti", "",
     16, 0, 43.9, 43.9, 87.9, 175.8, 351.5, 175.8, true, 896, 0, kBlackwell},
    {"RTX 5070", "RTX 5070", "",
     12, 0, 30.9, 30.9, 61.7, 123.5, 246.9, 123.5, true, 672, 0, kBlackwell},
    {"RTX 4090", "RTX 4090", "",
     24, 0, 82.6, 82.6, 165.2, 330.3, 660.6, 330.3, true, 1008, 0, kAda},
    {"RTX 4080 SUPER", "RTX 4080 SUPER", "",
     16, 0, 52.2, 0, 104.4, 0, 0, 208.9, true, 736, 0, kAdaRate},
    {"RTX 4080", "RTX 4080", "",
     16, 0, 48.7, 48.7, 97.5, 194.9, 389.9, 194.9, true, 716.8, 0, kAda},
    {"RTX 4070 Ti SUPER", "RTX 4070 Ti SUPER", "",
     16, 0, 44.1, 0, 88.2, 0, 0, 176.4, true, 672, 0, kAdaRate},
    {"RTX 4070 Ti", "RTX 4070 Ti", "",
     12, 0, 40.1, 0, 80.2, 0, 0, 160.4, true, 504, 0, kAdaRate},
    {"RTX 4070 SUPER", "RTX 4070 SUPER", "",
     12, 0, 35.5, 0, 71, 0, 0, 141.9, true, 504, 0, kAdaRate},
    {"RTX 4070", "RTX 4070", "",
     12, 0, 29.1, 0, 58.3, 0, 0, 116.6, true, 504, 0, kAdaRate},
    {"RTX 3090 Ti", "RTX 3090 Ti", "",
     24, 0, 40, 0, 80, 0, 0, 160, true, 1008, 112.5, kGa102Rate},
    {"RTX 3090", "RTX 3090", "",
     24, 0, 35.6, 35.6, 71, 0, 284, 142, true, 936, 112.5, kGa102},
    {"RTX 3080 Ti", "RTX 3080 Ti", "",
     12, 0, 34.1, 0, 68, 0, 0, 136, true, 912, 0, kGa102Rate},
    {"RTX 3080 10GB", "RTX 3080", "",
     10, 0, 29.8, 29.8, 59.5, 0, 238, 119, true, 760, 0, kGa102},
    {"RTX 3080 12GB", "RTX 3080", "",
     12, 0, 30.6, 0, 61.3, 0, 0, 122.6, true, 912, 0, kGa102Rate},
    {"RTX 3070 Ti", "RTX 3070 Ti", "",
     8, 0, 21.7, 0, 43.5, 0, 0, 87, true, 608, 0, kGa102Rate},
    {"RTX 3070", "RTX 3070", "",
     8, 0, 20.3, 20.3, 40.6, 0, 162.6, 81.3, true, 448, 0, kGa102},
    {"RTX 2080 Ti", "RTX 2080 Ti", "",
     11, 0, 13.4, 0, 53.8, 0, 215.2, 107.6, false, 616, 100, kTuring},
});
// clang-format on

using Words = std::vector<std::string>;

// Lower-case words; hyphens, underscores and slashes separate like blanks.
Words WordsOf(std::string_view text) {
  Words words(1);
  for (const char c : LowerAscii(text)) {
    if (std::string_view(" \t-_/()").find(c) == std::string_view::npos) {
      words.back() += c;
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

// The number of words of the longest of `names` that occurs in `words`, or 0.
size_t LongestNameIn(const Words& words, std::string_view names) {
  size_t longest = 0;
  while (!names.empty()) {
    const size_t bar = names.find('|');
    const Words name = WordsOf(names.substr(0, bar));
    names.remove_prefix(bar == std::string_view::npos ? names.size() : bar + 1);
    if (std::search(words.begin(), words.end(), name.begin(), name.end()) != words.end()) {
      longest = std::max(longest, name.size());
    }
  }
  return longest;
}

// Laptop parts, export variants of cards and slices of a GPU carry the name of a larger one.
bool IsLessThanItsName(const Words& words) {
  static constexpr std::array<std::string_view, 6> kMarks = {"laptop", "mobile", "max",
                                                             "d",      "mig",    "sff"};
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return std::find(kMarks.begin(), kMarks.end(), word) != kMarks.end();
  });
}

std::vector<const GpuSpec*> RowsByName(std::string_view name) {
  const Words words = WordsOf(name);
  std::vector<const GpuSpec*> rows;
  if (IsLessThanItsName(words)) {
    return rows;
  }
  size_t longest = 1;
  for (const GpuSpec& row : kSpecs) {
    const size_t length = LongestNameIn(words, row.names);
    if (length > longest) {
      rows.clear();
      longest = length;
    }
    if (length == longest) {
      rows.push_back(&row);
    }
  }
  return rows;
}

std::vector<const GpuSpec*> RowsByChip(std::string_view chip) {
  std::vector<const GpuSpec*> rows;
  for (const GpuSpec& row : kSpecs) {
    if (!row.chip.empty() && WordsOf(row.chip) == WordsOf(chip)) {
      rows.push_back(&row);
    }
  }
  return rows;
}

// Whether the figures of the capture allow the row. Drivers keep a few percent of the memory.
bool Allows(const Gpu& gpu, const GpuSpec& row) {
  if (gpu.memory_bytes.value_or(0) > 0 && row.memory_gib > 0) {
    const double part = static_cast<double>(*gpu.memory_bytes) / 0x1p30 / row.memory_gib;
    if (part < 0.88 || part > 1.03) {
      return false;
    }
  }
  if (gpu.bytes_per_second.value_or(0) > 0) {
    const double part = static_cast<double>(*gpu.bytes_per_second) / 1e9 / row.memory_gbps;
    return part > 0.95 && part < 1.05;
  }
  return true;
}

std::string NameOf(const Gpu& gpu) {
  if (gpu.name && !gpu.name->empty()) {
    return *gpu.name;
  }
  return gpu.chip && !gpu.chip->empty() ? "chip " + *gpu.chip : "without a name";
}

}  // namespace

std::optional<DataType> ParseDataType(std::string_view text) {
  const std::string lower = LowerAscii(text);
  for (const DataType type : {DataType::kFp64, DataType::kFp32, DataType::kTf32, DataType::kFp16,
                              DataType::kFp8, DataType::kInt8}) {
    if (lower == DataTypeName(type)) {
      return type;
    }
  }
  return lower == "bf16" ? std::optional(DataType::kFp16) : std::nullopt;
}

std::string_view DataTypeName(DataType type) {
  constexpr std::array<std::string_view, 6> kNames = {"fp64", "fp32", "tf32",
                                                      "fp16", "fp8",  "int8"};
  return kNames[static_cast<size_t>(type)];
}

double GpuSpec::Peak(DataType type) const {
  return std::array{fp64, fp32, tf32, fp16, fp8, int8}[static_cast<size_t>(type)];
}

std::span<const GpuSpec> GpuSpecs() { return kSpecs; }

std::optional<double> GpuMatch::Agreed(double GpuSpec::* figure) const {
  for (const GpuSpec* row : rows) {
    if (row->*figure != rows.front()->*figure) {
      return std::nullopt;
    }
  }
  return rows.empty() || rows.front()->*figure <= 0 ? std::nullopt
                                                    : std::optional(rows.front()->*figure);
}

std::optional<double> GpuMatch::AgreedPeak(DataType type) const {
  constexpr std::array kFigures = {&GpuSpec::fp64, &GpuSpec::fp32, &GpuSpec::tf32,
                                   &GpuSpec::fp16, &GpuSpec::fp8,  &GpuSpec::int8};
  return Agreed(kFigures[static_cast<size_t>(type)]);
}

GpuMatch MatchGpu(const Gpu& gpu) {
  const bool named = gpu.name && !gpu.name->empty();
  GpuMatch match{.rows = named ? RowsByName(*gpu.name) : RowsByChip(gpu.chip.value_or(""))};
  if (!named || match.rows.size() > 1) {
    std::erase_if(match.rows, [&](const GpuSpec* row) { return !Allows(gpu, *row); });
  }
  return match;
}

GpuPeak PeakOf(const Gpu* gpu, DataType type) {
  if (gpu == nullptr) {
    return {.words = "the capture does not tell which GPU this is"};
  }
  const GpuMatch match = MatchGpu(*gpu);
  if (match.rows.empty()) {
    return {.words = fmt::format("the GPU ({}) is not in the table of peaks", NameOf(*gpu))};
  }
  std::vector<std::string> products;
  std::vector<std::string> variants;
  for (const GpuSpec* row : match.rows) {
    products.emplace_back(row->product);
    variants.push_back(row->Peak(type) > 0
                           ? fmt::format("{} {}", row->product, FormatDouble(row->Peak(type)))
                           : fmt::format("{} unknown", row->product));
  }
  if (const auto tflops = match.AgreedPeak(type)) {
    const GpuSpec* row = match.rows.front();
    return {.tflops = tflops,
            .words = fmt::format("{}, {} dense: {}", Join(products, " or "), DataTypeName(type),
                                 row->source),
            .row = row};
  }
  return {.words =
              fmt::format("the name of the GPU ({}) does not decide its {} peak in TFLOP/s: {}",
                          NameOf(*gpu), DataTypeName(type), Join(variants, ", "))};
}

}  // namespace nsys
