// SPDX-License-Identifier: MIT
// What kind of kernel a name stands for. Both classifications read names, not counters: they are
// inferences, decided once per distinct name. The rules are tables at the top of kernel_class.cc.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "trace/ids.h"
#include "trace/string_pool.h"

namespace nsys {

// The operation of a communication kernel, e.g. "allreduce" or "sendrecv", or nothing for a compute
// kernel. NCCL kernels hold "nccl" in any case; the operation is the first of a fixed list that the
// name holds, else "other". NCCL may run any collective under a SendRecv kernel, so this names the
// kernel, not the call. The all-reduce and all-to-all kernels of serving engines are "custom_…".
std::optional<std::string_view> CommunicationOperation(std::string_view kernel_name);

// Whether a kernel could use Tensor Cores (its name says matrix product, convolution or attention),
// and whether its name says that it does.
struct TensorCoreUse {
  bool eligible = false;
  bool active = false;  // implies eligible
};
TensorCoreUse TensorCoreClass(std::string_view kernel_name);

// CommunicationOperation, remembered per StringId. Not thread-safe.
class CommunicationClasses {
 public:
  explicit CommunicationClasses(const StringPool& strings) : strings_(strings) {}
  // The operation of the kernel with this name; empty for compute kernels and for kNone.
  std::string_view Operation(StringId name);
  bool IsCommunication(StringId name) { return !Operation(name).empty(); }

 private:
  struct Entry {
    bool known = false;
    std::string_view operation;
  };
  const StringPool& strings_;
  std::vector<Entry> entries_;  // by StringId, grown on demand
};

}  // namespace nsys
