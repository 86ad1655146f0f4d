// SPDX-License-Identifier: MIT
#include "analysis/kernel_totals.h"

#include <algorithm>

#include "analysis/selection.h"

namespace nsys {
namespace {

constexpr uint32_t kNoPosition = 0xFFFFFFFF;

void Add(Span span, KernelTotal& total) {
  const int64_t duration = span.length_ns();
  const bool first = total.count == 0;
  total.min_ns = first ? duration : std::min(total.min_ns, duration);
  total.max_ns = first ? duration : std::max(total.max_ns, duration);
  total.first_ns = first ? span.begin_ns : std::min(total.first_ns, span.begin_ns);
  total.last_ns = first ? span.end_ns : std::max(total.last_ns, span.end_ns);
  total.total_ns += duration;
  ++total.count;
}

std::vector<KernelTotal> Compute(const Trace& trace, std::optional<int64_t> device,
                                 const std::optional<Window>& window) {
  const KernelTable& kernels = trace.kernels;
  std::optional<LanesOnDevice> on_device;
  if (device) {
    on_device.emplace(trace, *device);
  }
  std::vector<KernelTotal> totals;
  std::vector<uint32_t> position(trace.strings.size(), kNoPosition);  // by StringId
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!Contains(window, kernels.start_ns[row], kernels.end_ns[row]) ||
        (on_device && !(*on_device)(kernels.lane[row]))) {
      continue;
    }
    uint32_t& at = position[Index(kernels.name[row])];
    if (at == kNoPosition) {
      at = static_cast<uint32_t>(totals.size());
      totals.push_back({.name = kernels.name[row]});
    }
    Add(kernels.span(row), totals[at]);
  }
  std::sort(totals.begin(), totals.end(), [&](const KernelTotal& a, const KernelTotal& b) {
    return a.total_ns != b.total_ns ? a.total_ns > b.total_ns
                                    : trace.Text(a.name) < trace.Text(b.name);
  });
  return totals;
}

}  // namespace

const std::vector<KernelTotal>& KernelTotals(Views& views, std::optional<int64_t> device,
                                             const std::optional<Window>& window) {
  return views.Once<std::vector<KernelTotal>>(
      {.device = device, .window = window}, [&] { return Compute(views.trace(), device, window); });
}

}  // namespace nsys
