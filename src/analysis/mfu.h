// SPDX-License-Identifier: MIT
// Achieved operations per second, and their share of a peak.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "analysis/gpu_peaks.h"

namespace nsys {

struct Rate {
  double tflops = 0;   // flops / time / 10^12
  double mfu_pct = 0;  // 100 · tflops / peak
  // Whether it can be: more than the peak, or a figure that is no finite number, cannot.
  bool possible() const { return mfu_pct <= 100; }  // false for infinite and undefined ones, too
};

// `ns` and `peak_tflops` must be greater than 0.
Rate RateOf(double flops, int64_t ns, double peak_tflops);

// Why a rate above its peak is not reported: numerator, denominator and their ratio.
// `time` says what `ns` is, e.g. "GPU time".
std::string ImpossibleRateText(double flops, int64_t ns, std::string_view time, double peak_tflops,
                               const GpuPeak& peak);

// How the peak may be the wrong one, as the end of a sentence.
std::string OtherPeaksText(const GpuPeak& peak);

}  // namespace nsys
