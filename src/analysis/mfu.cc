// SPDX-License-Identifier: MIT
#include "analysis/mfu.h"

#include <fmt/core.h>

#include "base/number.h"

namespace nsys {

Rate RateOf(double flops, int64_t ns, double peak_tflops) {
  const double tflops = flops / (static_cast<double>(ns) / 1e9) / 1e12;
  return {.tflops = tflops, .mfu_pct = 100 * tflops / peak_tflops};
}

std::string ImpossibleRateText(double flops, int64_t ns, std::string_view time, double peak_tflops,
                               const GpuPeak& peak) {
  const Rate rate = RateOf(flops, ns, peak_tflops);
  return fmt::format(
      "{:.6g} FLOPs in {} of {} are {:.6g} TFLOP/s, {:.6g} % of the peak of {:.6g} TFLOP/s ({}); "
      "nothing runs above its peak.",
      flops, FormatDuration(ns), time, rate.tflops, rate.mfu_pct, peak_tflops, peak.words);
}

std::string OtherPeaksText(const GpuPeak& peak) {
  std::string text = "the data type of the peak";
  if (peak.row != nullptr && peak.row->fp16_accumulate > 0) {
    text += fmt::format(" (FP16 accumulated in FP16 reaches {} TFLOP/s on this GPU)",
                        FormatDouble(peak.row->fp16_accumulate));
  } else if (peak.row != nullptr && peak.row->sparsity) {
    text += " (2:4 sparsity doubles it)";
  }
  return text + "; -p peak_tflops=… sets another";
}

}  // namespace nsys
