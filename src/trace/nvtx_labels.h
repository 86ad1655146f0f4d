// SPDX-License-Identifier: MIT
// NVTX texts without the numbers that make each of them unique. Libraries append a running id to
// every range ("aten::mm, op_id = 322234"), so that no two rows share a name and grouping by name
// groups nothing. Everything that groups ranges groups by the normal label.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "trace/ids.h"
#include "trace/string_pool.h"

namespace nsys {

// `text` without `, op_id = N` and `, seq = N` (in any order and spacing), and with the digits of
// hexadecimal addresses (0x…) replaced by one `#`. Other numbers stay: layer_3 is not layer_4.
std::string NormalLabel(std::string_view text);

// NormalLabel per StringId, computed once each. Labels have ids of their own, in their own pool.
class NormalLabels {
 public:
  explicit NormalLabels(const StringPool& strings) : strings_(strings) {}
  // The label of `text`; kNone for kNone.
  StringId Of(StringId text);
  std::string_view Get(StringId label) const { return labels_.Get(label); }

 private:
  const StringPool& strings_;
  StringPool labels_;
  std::vector<StringId> label_of_;  // by StringId of the text, grown on demand; kNone: not yet
};

}  // namespace nsys
