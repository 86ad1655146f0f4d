// SPDX-License-Identifier: MIT
#include "analysis/overlap.h"

#include <algorithm>
#include <vector>

#include "analysis/selection.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

// The part of an event that counts under `cut`, or nothing.
std::optional<Span> PartOf(const std::optional<Window>& window, KernelCut cut, int64_t start_ns,
                           int64_t end_ns) {
  if (cut == KernelCut::kContained) {
    return Contains(window, start_ns, end_ns) ? std::optional<Span>({start_ns, end_ns})
                                              : std::nullopt;
  }
  const Span span = Clip(window, start_ns, end_ns);
  return span.end_ns > span.begin_ns ? std::optional(span) : std::nullopt;
}

int64_t GraphOnly(const Trace& trace, const LanesOnDevice& on_device, const Overlap& overlap) {
  std::vector<Span> spans;
  for (size_t row = 0; row < trace.graphs.size(); ++row) {
    if (!on_device(trace.graphs.lane[row])) {
      continue;
    }
    spans.push_back({std::max(trace.graphs.start_ns[row], overlap.first_ns),
                     std::min(trace.graphs.end_ns[row], overlap.last_ns)});
  }
  SpanSet kernels = overlap.compute;
  kernels.insert(kernels.end(), overlap.communication.begin(), overlap.communication.end());
  return Length(Subtract(Union(std::move(spans)), Union(std::move(kernels))));
}

std::optional<Overlap> Compute(const Trace& trace, CommunicationClasses& classes, int64_t device,
                               const std::optional<Window>& window, KernelCut cut) {
  const KernelTable& kernels = trace.kernels;
  const LanesOnDevice on_device(trace, device);
  Overlap result;
  Hull hull;
  std::vector<Span> compute;
  std::vector<Span> communication;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (!on_device(kernels.lane[row])) {
      continue;
    }
    const auto span = PartOf(window, cut, kernels.start_ns[row], kernels.end_ns[row]);
    if (!span) {
      continue;
    }
    hull.Add(*span);
    (classes.IsCommunication(kernels.name_to_classify(row)) ? communication : compute)
        .push_back(*span);
  }
  if (!hull.span()) {
    return std::nullopt;
  }
  result.first_ns = hull.span()->begin_ns;
  result.last_ns = hull.span()->end_ns;
  result.compute_kernels = static_cast<int64_t>(compute.size());
  result.communication_kernels = static_cast<int64_t>(communication.size());
  result.compute = Union(std::move(compute));
  result.communication = Union(std::move(communication));
  result.overlap_ns = Length(Intersect(result.compute, result.communication));
  result.compute_only_ns = Length(result.compute) - result.overlap_ns;
  result.communication_only_ns = Length(result.communication) - result.overlap_ns;
  result.idle_ns =
      result.total_ns() - result.compute_only_ns - result.communication_only_ns - result.overlap_ns;
  result.graph_only_ns = GraphOnly(trace, on_device, result);
  return result;
}

}  // namespace

std::optional<Overlap> ComputeOverlap(const Trace& trace, int64_t device,
                                      const std::optional<Window>& window, KernelCut cut) {
  CommunicationClasses classes(trace.strings);
  return Compute(trace, classes, device, window, cut);
}

const std::optional<Overlap>& OverlapOf(Views& views, int64_t device,
                                        const std::optional<Window>& window, KernelCut cut) {
  const char* name = cut == KernelCut::kContained ? "contained" : "clipped";
  return views.Once<std::optional<Overlap>>(
      {.device = device, .window = window, .text = name},
      [&] { return Compute(views.trace(), views.communication(), device, window, cut); });
}

}  // namespace nsys
