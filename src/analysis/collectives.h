// SPDX-License-Identifier: MIT
// What a communication kernel does: the operation of the NCCL call whose range encloses its launch
// (analysis/nccl_events.h), else what its name says, although NCCL may run any operation under one
// kernel.
#pragma once

#include <cstddef>
#include <string_view>

#include "analysis/nccl_events.h"
#include "analysis/views.h"

namespace nsys {

class Collectives {
 public:
  // Needs what AddNcclReads says; tables that the capture lacks leave the names alone.
  explicit Collectives(Views& views);

  // The operation that the name of kernel `row` holds; empty for compute kernels.
  std::string_view Named(size_t row) { return classes_.Operation(kernels_.name_to_classify(row)); }

  // The operation that a range of NCCL tells; empty when none does.
  std::string_view Called(size_t row) const;

  // The one that was called, else the one named; empty for compute kernels.
  std::string_view Operation(size_t row);

 private:
  const KernelTable& kernels_;
  CommunicationClasses& classes_;
  const NcclCalls* calls_ = nullptr;
};

}  // namespace nsys
