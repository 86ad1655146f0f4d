// SPDX-License-Identifier: MIT
#include "analysis/h2d.h"

#include <algorithm>

#include "analysis/copy_kind.h"
#include "analysis/selection.h"

namespace nsys {
namespace {

constexpr int64_t kSecondNs = 1'000'000'000;
constexpr int64_t kEarlySeconds = 2;
constexpr size_t kSpreadSeconds = 3;

// The last end of all kernels and copies; copies are sorted by start, not by end.
int64_t CaptureEnd(const Trace& trace) {
  const std::vector<int64_t>& ends = trace.copies.end_ns;
  int64_t end = *std::max_element(ends.begin(), ends.end());
  if (const auto kernels = KernelSpan(trace)) {
    end = std::max(end, kernels->end_ns);
  }
  return end;
}

void AddCopy(Span span, int64_t bytes, int64_t second, std::vector<H2dSecond>& seconds) {
  if (seconds.empty() || seconds.back().second != second) {
    seconds.push_back({.second = second, .first_ns = span.begin_ns, .last_ns = span.end_ns});
  }
  H2dSecond& at = seconds.back();
  ++at.copies;
  at.bytes += bytes;
  at.copy_ns += span.length_ns();
  at.last_ns = std::max(at.last_ns, span.end_ns);
}

void FindPattern(H2dDistribution& result) {
  std::vector<int64_t> bytes;
  for (const H2dSecond& one : result.seconds) {
    bytes.push_back(one.bytes);
    result.bytes += one.bytes;
    result.early_bytes += one.second < kEarlySeconds ? one.bytes : 0;
  }
  const auto median = bytes.begin() + static_cast<std::ptrdiff_t>(bytes.size() / 2);
  std::nth_element(bytes.begin(), median, bytes.end());
  result.median_bytes = *median;
  for (size_t i = 0; i < result.seconds.size(); ++i) {
    const int64_t median_bytes = result.median_bytes;
    // More than three medians, in a form that cannot overflow.
    if (median_bytes > 0 && result.seconds[i].bytes - median_bytes - median_bytes > median_bytes) {
      result.spikes.push_back(i);
    }
  }
  if (result.bytes == 0) {
    result.pattern = H2dPattern::kNone;
  } else if (result.seen_ns < kLeastH2dSpanNs) {
    result.pattern = H2dPattern::kTooShort;
  } else if (static_cast<long double>(result.early_bytes) * 5 >
             static_cast<long double>(result.bytes) * 4) {
    result.pattern = H2dPattern::kInitHeavy;
  } else if (!result.spikes.empty()) {
    result.pattern = H2dPattern::kSpike;
  } else {
    result.pattern =
        result.seconds.size() >= kSpreadSeconds ? H2dPattern::kSpreadOut : H2dPattern::kUnknown;
  }
}

}  // namespace

std::string_view PatternName(H2dPattern pattern) {
  switch (pattern) {
    case H2dPattern::kNone:
      return "none";
    case H2dPattern::kTooShort:
      return "too_short";
    case H2dPattern::kInitHeavy:
      return "init_heavy";
    case H2dPattern::kSpike:
      return "spike";
    case H2dPattern::kSpreadOut:
      return "spread_out";
    case H2dPattern::kUnknown:
      break;
  }
  return "unknown";
}

std::optional<H2dDistribution> ComputeH2d(const Trace& trace, int64_t device,
                                          const std::optional<Window>& window) {
  const CopyTable& copies = trace.copies;
  const LanesOnDevice on_device(trace, device);
  H2dDistribution result;
  for (size_t row = 0; row < copies.size(); ++row) {
    if (copies.kind[row] != kCopyHostToDevice || !on_device(copies.lane[row]) ||
        !Contains(window, copies.start_ns[row], copies.end_ns[row])) {
      continue;
    }
    // Rows are sorted by start, so the first is the earliest.
    const int64_t base =
        result.seconds.empty() ? copies.start_ns[row] : result.seconds.front().first_ns;
    AddCopy(copies.span(row), copies.bytes[row], (copies.start_ns[row] - base) / kSecondNs,
            result.seconds);
  }
  if (result.seconds.empty()) {
    return std::nullopt;
  }
  const int64_t capture_end = CaptureEnd(trace);
  const int64_t end = window ? std::min(window->end_ns, capture_end) : capture_end;
  result.seen_ns = end - result.seconds.front().first_ns;
  FindPattern(result);
  return result;
}

}  // namespace nsys
