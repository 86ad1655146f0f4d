// SPDX-License-Identifier: MIT
// The names of NVTX domains and categories. A capture declares both in rows of the NVTX table
// itself; the same number means different things in different processes.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

#include "trace/trace.h"

namespace nsys::perfetto {

class NvtxNames {
 public:
  explicit NvtxNames(const Trace& trace);

  // The domain of an NVTX row: 0 is the default domain, which has no name.
  int64_t DomainNumber(uint32_t row) const;
  // Its name; empty when the capture does not tell.
  std::string_view Domain(uint32_t row) const;
  // The name of category `number` in the domain of `row`; empty when the capture does not tell.
  std::string_view Category(uint32_t row, int64_t number) const;

 private:
  struct Named {
    int64_t process = 0;  // word
    int64_t domain = 0;
    int64_t category = 0;
    StringId name = StringId::kNone;
    auto key() const { return std::tie(process, domain, category); }
  };
  int64_t ProcessOf(uint32_t row) const;

  const Trace& trace_;
  std::vector<StringId> domain_of_lane_;  // by NvtxLaneId
  std::vector<Named> categories_;         // sorted
};

}  // namespace nsys::perfetto
