// SPDX-License-Identifier: MIT
#include "analysis/nvlink_peak.h"

#include <algorithm>
#include <array>

#include "base/text.h"

namespace nsys {
namespace {

// Longer names stand before their parts. The cards for a PCIe slot have bridges for fewer links;
// those of the V100 have none. The A800 and H800 are sold with fewer links on purpose.
constexpr std::array<NvlinkPeak, 14> kPeaks = {{{.product = "GB200", .gbps = 1800},
                                                {.product = "B200", .gbps = 1800},
                                                {.product = "H100 PCIe", .gbps = 600},
                                                {.product = "H100 NVL", .gbps = 600},
                                                {.product = "H100", .gbps = 900},
                                                {.product = "GH200", .gbps = 900},
                                                {.product = "H200 NVL", .gbps = 900},
                                                {.product = "H200", .gbps = 900},
                                                {.product = "H800", .gbps = 400},
                                                {.product = "A100", .gbps = 600},
                                                {.product = "A800", .gbps = 400},
                                                {.product = "V100-PCIE", .gbps = 0},
                                                {.product = "V100 PCIe", .gbps = 0},
                                                {.product = "V100", .gbps = 300}}};

}  // namespace

std::optional<NvlinkPeak> NvlinkPeakOf(std::string_view product_name) {
  const auto at = std::find_if(kPeaks.begin(), kPeaks.end(), [&](const NvlinkPeak& peak) {
    return ContainsIgnoreCase(product_name, peak.product);
  });
  return at == kPeaks.end() || at->gbps == 0 ? std::nullopt : std::optional(*at);
}

}  // namespace nsys
