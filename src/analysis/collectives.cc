// SPDX-License-Identifier: MIT
#include "analysis/collectives.h"

namespace nsys {

Collectives::Collectives(Views& views)
    : kernels_(views.trace().kernels), classes_(views.communication()) {
  const Trace& trace = views.trace();
  const bool linked = trace.schema.Has(TableId::kNvtx) && trace.schema.Has(TableId::kRuntime) &&
                      trace.nvtx.size() > 0 && !trace.calls.correlation.empty();
  calls_ = linked ? &NcclCallsOf(views) : nullptr;
}

std::string_view Collectives::Called(size_t row) const {
  const uint32_t call = calls_ == nullptr ? kNoNcclCall : calls_->of_kernel[row];
  return call == kNoNcclCall ? std::string_view() : calls_->calls[call].operation;
}

std::string_view Collectives::Operation(size_t row) {
  const std::string_view named = Named(row);
  const std::string_view called = named.empty() ? named : Called(row);
  return called.empty() ? named : called;
}

}  // namespace nsys
