// SPDX-License-Identifier: MIT
// What GPUs can do at most: the one table of peaks, and how the name in a capture finds its row.
//
// A peak is dense (no structured sparsity) and at the rated boost clock, as the data sheet of the
// row says. "fp16" is that of FP16 and BF16 products accumulated in FP32, which is what training
// and inference in mixed precision run; GeForce cards of the RTX 20 to 50 series reach twice as
// much when they accumulate in FP16, which fp16_accumulate tells.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace nsys {

enum class DataType { kFp64, kFp32, kTf32, kFp16, kFp8, kInt8 };
// "fp64", "fp32", "tf32", "fp16" (also "bf16"), "fp8", "int8", in any case.
std::optional<DataType> ParseDataType(std::string_view text);
std::string_view DataTypeName(DataType type);

struct GpuSpec {
  std::string_view product;
  // What the driver calls it, alternatives apart by '|'. A short one may stand in several rows.
  std::string_view names;
  std::string_view chip;  // where the chip may identify the row; else empty
  double memory_gib;
  // Dense peaks in 10^12 operations per second, by Tensor Cores where they do the type; 0 where
  // the source gives none.
  double fp64;
  double fp32;
  double tf32;
  double fp16;
  double fp8;
  double int8;
  double fp16_accumulate;  // FP16 accumulated in FP16, where that is faster; else 0
  bool sparsity;           // 2:4 sparsity doubles the peaks of Tensor Cores, FP64 apart
  double memory_gbps;      // 10^9 bytes per second
  double nvlink_gbps;      // both directions, all links; 0 without NVLink
  std::string_view source;

  double Peak(DataType type) const;
};

std::span<const GpuSpec> GpuSpecs();

// The rows that a GPU may be: one, or several variants that the capture cannot tell apart.
struct GpuMatch {
  std::vector<const GpuSpec*> rows;

  // The figure that all rows agree on; nothing when they do not, or when it is 0.
  std::optional<double> Agreed(double GpuSpec::* figure) const;
  std::optional<double> AgreedPeak(DataType type) const;
};

// Finds the rows whose name occurs in the product name as whole words ("T4" is not in "T400"), the
// longest name first; of several variants, those whose memory size and bandwidth the capture
// confirms. The chip counts only where the capture gives no product name. No row for laptop parts,
// cut-down variants and MIG slices, which share the words of a larger GPU.
GpuMatch MatchGpu(const Gpu& gpu);

// The peak of a GPU, or why there is none. `words` is the row and its source, or the reason.
struct GpuPeak {
  std::optional<double> tflops;
  std::string words;
  const GpuSpec* row = nullptr;  // of the peak
};
GpuPeak PeakOf(const Gpu* gpu, DataType type);  // null: the capture does not name the GPU

}  // namespace nsys
