// SPDX-License-Identifier: MIT
// How host-to-device copies spread over time, second by second, and what that looks like.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "analysis/window.h"
#include "trace/trace.h"

namespace nsys {

// One second of copying, counted from the first copy. A copy belongs wholly to the second in which
// it starts.
struct H2dSecond {
  int64_t second = 0;
  int64_t copies = 0;
  int64_t bytes = 0;
  int64_t copy_ns = 0;   // sum of the durations
  int64_t first_ns = 0;  // first start
  int64_t last_ns = 0;   // last end
};

enum class H2dPattern {
  kNone,       // no bytes were copied
  kTooShort,   // too little time was seen to tell a start from the rest
  kInitHeavy,  // more than 80 % of the bytes in the first two seconds
  kSpike,      // some second has more than three times the bytes of the median second
  kSpreadOut,  // copies in three seconds or more, none of the above
  kUnknown,
};
// "none", "too_short", "init_heavy", …
std::string_view PatternName(H2dPattern pattern);

// A pattern needs this much time between the first copy and the end of the capture: with less, the
// first two seconds are nearly all there is.
inline constexpr int64_t kLeastH2dSpanNs = 3'000'000'000;

struct H2dDistribution {
  std::vector<H2dSecond> seconds;  // those with copies, ascending
  H2dPattern pattern = H2dPattern::kNone;
  std::vector<size_t> spikes;  // positions in `seconds`, ascending
  int64_t bytes = 0;
  int64_t early_bytes = 0;   // of seconds 0 and 1
  int64_t median_bytes = 0;  // of the listed seconds; the upper of two
  int64_t seen_ns = 0;       // from the first copy to the end of the kernels and copies of all
                             // devices, or to that of the window
};

// The copies of kind 1 (H2D) on `device` wholly inside the window; nothing when there are none.
// Needs kTime, kLane, kBytes, kKind of copies and, where the capture has them, kTime of kernels.
std::optional<H2dDistribution> ComputeH2d(const Trace& trace, int64_t device,
                                          const std::optional<Window>& window);

}  // namespace nsys
