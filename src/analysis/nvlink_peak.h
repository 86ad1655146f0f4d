// SPDX-License-Identifier: MIT
// The peak of a GPU's NVLink connections by its product name.
#pragma once

#include <optional>
#include <string_view>

namespace nsys {

struct NvlinkPeak {
  std::string_view product;  // "H100"
  double gbps = 0;           // GB/s, both directions and all links of one GPU together
};

// From NVIDIA's data sheets. Nothing for products that are not known or have no NVLink.
std::optional<NvlinkPeak> NvlinkPeakOf(std::string_view product_name);

}  // namespace nsys
