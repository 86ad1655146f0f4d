// SPDX-License-Identifier: MIT
// Which GPU a CUDA ordinal means. Ordinals are those of a process (CUDA_VISIBLE_DEVICES renumbers
// them), while kernels tell the ordinal alone.
#pragma once

#include <cstdint>

#include "trace/trace.h"

namespace nsys {

// The GPU that processes call `ordinal`; the GPU of that id where the capture does not map it.
// Null when the capture lists none, and when processes mean GPUs of different products: they are
// one product when name, chip and memory size agree. Needs kWhole of kGpu and kCudaDevice.
const Gpu* GpuOfDevice(const Trace& trace, int64_t ordinal);

// Whether the two are of one product.
bool SameProduct(const Gpu& a, const Gpu& b);

// `reads` with what the functions above need.
Reads WithGpuReads(Reads reads);

}  // namespace nsys
