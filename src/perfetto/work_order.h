// SPDX-License-Identifier: MIT
// Kernels and copies as one sequence: by start, then end, kernels before copies, then row.
#pragma once

#include <cstddef>
#include <cstdint>

#include "trace/trace.h"

namespace nsys::perfetto {

// A place in the sequence: the kernels and the copies before it.
struct WorkPlace {
  size_t kernels = 0;
  size_t copies = 0;
};

// Calls `on_kernel(row)` and `on_copy(row)` for what lies from `begin` to before `end`, in order.
template <typename OnKernel, typename OnCopy>
void ForEachWork(const Trace& trace, WorkPlace begin, WorkPlace end, const OnKernel& on_kernel,
                 const OnCopy& on_copy) {
  const auto is_kernel_first = [&](size_t kernel, size_t copy) {
    const Span a = trace.kernels.span(kernel);
    const Span b = trace.copies.span(copy);
    return a.begin_ns != b.begin_ns ? a.begin_ns < b.begin_ns : a.end_ns <= b.end_ns;
  };
  auto [kernel, copy] = begin;
  while (kernel < end.kernels || copy < end.copies) {
    if (copy == end.copies || (kernel < end.kernels && is_kernel_first(kernel, copy))) {
      on_kernel(static_cast<uint32_t>(kernel++));
    } else {
      on_copy(static_cast<uint32_t>(copy++));
    }
  }
}

// The same for all.
template <typename OnKernel, typename OnCopy>
void ForEachWork(const Trace& trace, const OnKernel& on_kernel, const OnCopy& on_copy) {
  ForEachWork(trace, {}, {trace.kernels.size(), trace.copies.size()}, on_kernel, on_copy);
}

}  // namespace nsys::perfetto
