// SPDX-License-Identifier: MIT
// Checks for memory copies and memsets that kernels wait for.

#include <fmt/core.h>

#include "analysis/copy_kind.h"
#include "analysis/h2d.h"
#include "analysis/root_cause_checks.h"
#include "analysis/selection.h"
#include "base/number.h"
#include "base/text.h"
#include "trace/launches.h"

namespace nsys {
namespace {

constexpr int64_t kMuchCopyingNs = 50'000'000;

// Operations of one kind on the device, cut to the window.
struct Operations {
  int64_t count = 0;
  int64_t bytes = 0;
  int64_t total_ns = 0;
  SpanSet spans;
  std::optional<Span> longest;

  void Add(const Span& span, int64_t moved) {
    ++count;
    bytes += moved;
    total_ns += span.length_ns();
    spans.push_back(span);
    if (!longest || span.length_ns() > longest->length_ns()) {
      longest = span;
    }
  }
};

// The rows of `events` for which `wanted(row)` holds.
template <typename Wanted>
Operations Collect(const CauseContext& context, const GpuEvents& events,
                   const std::vector<int64_t>* bytes, const Wanted& wanted) {
  const LanesOnDevice on_device(context.trace(), context.device);
  Operations found;
  for (size_t row = 0; row < events.size(); ++row) {
    if (!on_device(events.lane[row]) ||
        !Touches(context.window, events.start_ns[row], events.end_ns[row])) {
      continue;
    }
    const Span inside = Clip(context.window, events.start_ns[row], events.end_ns[row]);
    if (inside.end_ns > inside.begin_ns && wanted(row)) {
      found.Add(inside, bytes == nullptr ? 0 : (*bytes)[row]);
    }
  }
  found.spans = Union(std::move(found.spans));
  return found;
}

// The part of the span in which only these operations keep the device from its kernels.
SpanSet Exposed(const CauseContext& context, const Operations& operations) {
  return Subtract(Intersect(operations.spans, {context.span}), context.kernels);
}

std::string_view CallOf(const CauseContext& context, const std::vector<uint32_t>& calls,
                        size_t row) {
  return calls[row] == kNoCall ? std::string_view()
                               : context.trace().Text(context.trace().calls.name[calls[row]]);
}

bool IsAsync(std::string_view api) { return api.find("Async") != std::string_view::npos; }

RootCause MakeCause(const CauseContext& context, const Operations& operations) {
  RootCause cause;
  cause.magnitude_ns = operations.total_ns;
  cause.place = operations.longest;
  cause.where = context.DeviceWords();
  cause.claim = Exposed(context, operations);
  return cause;
}

std::string Volume(const Operations& operations, std::string_view noun) {
  return fmt::format("{}, {:.1f} MB, {}", Counted(operations.count, noun),
                     static_cast<double>(operations.bytes) / 1e6,
                     FormatDuration(operations.total_ns));
}

// Numbers of the memory kinds that mean pageable host memory.
bool IsPageable(const Trace& trace, int32_t kind) {
  const auto known = trace.memory_kinds.find(kind);
  return known == trace.memory_kinds.end() ? kind == 0
                                           : known->second.find("PAGEABLE") != std::string::npos;
}

void AddPatternCause(const CauseContext& context, const Operations& copies) {
  const auto h2d = ComputeH2d(context.trace(), context.device, context.window);
  if (!h2d || (h2d->pattern != H2dPattern::kSpreadOut && h2d->pattern != H2dPattern::kSpike)) {
    return;
  }
  RootCause cause = MakeCause(context, copies);
  if (h2d->pattern == H2dPattern::kSpreadOut) {
    cause.pattern = "Continuous H2D Transfers";
    cause.severity = context.IfMaterial(Severity::kWarning, Length(cause.claim));
    cause.evidence =
        fmt::format("host-to-device copies in {} of the capture, not only at its start",
                    Counted(static_cast<int64_t>(h2d->seconds.size()), "second"));
    cause.recommendation =
        "Keep data on the GPU between steps; load the next batch from pinned memory while the "
        "current one computes (pin_memory, non_blocking, prefetching workers).";
  } else {
    const H2dSecond& spike = h2d->seconds[h2d->spikes.front()];
    cause.pattern = "H2D Transfer Spike";
    cause.severity = Severity::kInfo;
    cause.evidence = fmt::format(
        "{} with more than three times the usual volume; second {} moves {:.1f} MB, the median is "
        "{:.1f} MB",
        Counted(static_cast<int64_t>(h2d->spikes.size()), "second"), spike.second,
        static_cast<double>(spike.bytes) / 1e6, static_cast<double>(h2d->median_bytes) / 1e6);
    cause.recommendation =
        "See what is loaded then: a checkpoint, a batch of another size, or weights that come "
        "back.";
    cause.place = Span{spike.first_ns, spike.last_ns};
  }
  context.found.push_back(std::move(cause));
}

}  // namespace

void CheckHostToDevice(const CauseContext& context) {
  const CopyTable& table = context.trace().copies;
  const Operations copies = Collect(context, table, &table.bytes, [&](size_t row) {
    return table.kind[row] == kCopyHostToDevice;
  });
  if (copies.total_ns > kMuchCopyingNs) {
    RootCause cause = MakeCause(context, copies);
    cause.pattern = "Excessive H2D Transfers";
    cause.severity = context.IfMaterial(Severity::kWarning, Length(cause.claim));
    cause.evidence = fmt::format(
        "{} from host to device at {:.1f} GB/s; no kernel runs during {} of it ({} of "
        "the span)",
        Volume(copies, "transfer"), Ratio(copies.bytes, copies.total_ns),
        FormatDuration(Length(cause.claim)), context.ShareOfSpan(Length(cause.claim)));
    cause.recommendation =
        "Keep weights and metrics on the GPU; copy what has to be copied from pinned memory on a "
        "stream of its own, ahead of its use.";
    context.found.push_back(std::move(cause));
  }
  AddPatternCause(context, copies);
}

void CheckSynchronousCopies(const CauseContext& context) {
  const CopyTable& table = context.trace().copies;
  const std::vector<uint32_t>& calls = context.views.CopyCalls();
  const Operations copies = Collect(context, table, &table.bytes, [&](size_t row) {
    const std::string_view api = CallOf(context, calls, row);
    return (api.starts_with("cudaMemcpy") || api.starts_with("cuMemcpy")) && !IsAsync(api);
  });
  if (copies.count == 0) {
    return;
  }
  RootCause cause = MakeCause(context, copies);
  cause.pattern = "Synchronous Memcpy";
  cause.severity = context.IfMaterial(Severity::kWarning, Length(cause.claim));
  cause.evidence = Volume(copies, "blocking transfer");
  cause.recommendation =
      "Use cudaMemcpyAsync with pinned host memory (non_blocking=True, pin_memory=True).";
  context.found.push_back(std::move(cause));
}

void CheckPageableCopies(const CauseContext& context) {
  const CopyTable& table = context.trace().copies;
  const std::vector<uint32_t>& calls = context.views.CopyCalls();
  const Operations copies = Collect(context, table, &table.bytes, [&](size_t row) {
    return IsAsync(CallOf(context, calls, row)) &&
           (IsPageable(context.trace(), table.from_memory[row]) ||
            IsPageable(context.trace(), table.to_memory[row]));
  });
  if (copies.count == 0) {
    return;
  }
  RootCause cause = MakeCause(context, copies);
  cause.pattern = "Pageable Memory in Async Memcpy";
  cause.severity = context.IfMaterial(Severity::kWarning, Length(cause.claim));
  cause.evidence = fmt::format(
      "{} by asynchronous calls from or to pageable host memory, where "
      "they are not asynchronous",
      Volume(copies, "transfer"));
  cause.recommendation =
      "Allocate the host side pinned: cudaMallocHost, or pin_memory=True in the data loader.";
  context.found.push_back(std::move(cause));
}

void CheckSynchronousMemsets(const CauseContext& context) {
  const GpuEvents& table = context.trace().memsets;
  const std::vector<uint32_t>& calls = context.views.MemsetCalls();
  const Operations memsets = Collect(context, table, nullptr, [&](size_t row) {
    const std::string_view api = CallOf(context, calls, row);
    return (api.starts_with("cudaMemset") || api.starts_with("cuMemset")) && !IsAsync(api);
  });
  if (memsets.count == 0) {
    return;
  }
  RootCause cause = MakeCause(context, memsets);
  cause.pattern = "Synchronous Memset";
  cause.severity = Severity::kInfo;
  cause.evidence = fmt::format("{}, {}", Counted(memsets.count, "blocking memset"),
                               FormatDuration(memsets.total_ns));
  cause.recommendation = "Use cudaMemsetAsync on the stream that uses the memory.";
  context.found.push_back(std::move(cause));
}

}  // namespace nsys
