// SPDX-License-Identifier: MIT
#include "analysis/gpu_of_device.h"

#include <tuple>

namespace nsys {
namespace {

// Null once two GPUs of different products, or one that is not listed, have been added.
class OneProduct {
 public:
  void Add(const Gpu* gpu) {
    const bool fits = gpu != nullptr && (found_ == nullptr || SameProduct(*found_, *gpu));
    clash_ = clash_ || !fits;
    found_ = found_ == nullptr ? gpu : found_;
  }
  const Gpu* get() const { return clash_ ? nullptr : found_; }

 private:
  const Gpu* found_ = nullptr;
  bool clash_ = false;
};

// The GPU with this id: of several machines, all must have the same product there.
const Gpu* GpuWithId(const Trace& trace, int64_t id) {
  OneProduct product;
  for (const Gpu& gpu : trace.gpus) {
    if (gpu.id == id) {
      product.Add(&gpu);
    }
  }
  return product.get();
}

}  // namespace

bool SameProduct(const Gpu& a, const Gpu& b) {
  return std::tie(a.name, a.chip, a.memory_bytes) == std::tie(b.name, b.chip, b.memory_bytes);
}

const Gpu* GpuOfDevice(const Trace& trace, int64_t ordinal) {
  OneProduct product;
  bool mapped = false;
  for (const CudaDevice& device : trace.cuda_devices) {
    if (device.ordinal == ordinal && device.gpu) {
      product.Add(GpuWithId(trace, *device.gpu));
      mapped = true;
    }
  }
  return mapped ? product.get() : GpuWithId(trace, ordinal);
}

Reads WithGpuReads(Reads reads) {
  reads.Add(TableId::kGpu, {Column::kWhole});
  reads.Add(TableId::kCudaDevice, {Column::kWhole});
  return reads;
}

}  // namespace nsys
