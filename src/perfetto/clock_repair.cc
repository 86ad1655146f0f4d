// SPDX-License-Identifier: MIT
#include "perfetto/clock_repair.h"

#include "perfetto/ranges.h"

namespace nsys::perfetto {
namespace {

constexpr int64_t kMarginNs = 60'000'000'000;

// All times of kernels, copies and calls.
Hull CudaActivity(const Trace& trace) {
  Hull hull;
  const auto add = [&](const Events& events) {
    for (size_t row = 0; row < events.size(); ++row) {
      hull.Add(events.span(row));
    }
  };
  add(trace.kernels);
  add(trace.copies);
  add(trace.calls);
  return hull;
}

// a - b, or nothing where it does not fit.
std::optional<int64_t> Minus(int64_t a, int64_t b) {
  int64_t difference = 0;
  return __builtin_sub_overflow(a, b, &difference) ? std::nullopt : std::optional(difference);
}

class Clock {
 public:
  Clock(Span cuda, int64_t shift, int64_t session_start)
      : cuda_(cuda), shift_(shift), session_start_(session_start) {}

  // Within the activity and a minute around it.
  bool IsPlausible(int64_t time) const {
    const auto before = Minus(cuda_.begin_ns, time);
    const auto after = Minus(time, cuda_.end_ns);
    const bool early = !before ? time < cuda_.begin_ns : *before > kMarginNs;
    const bool late = !after ? time > cuda_.end_ns : *after > kMarginNs;
    return !early && !late;
  }

  // `time` on the clock of the trace, where it is on that of the system.
  std::optional<int64_t> Repaired(int64_t time) const {
    const auto unshifted = Minus(time, shift_);
    const auto repaired = Minus(time, session_start_);
    const bool fits = !IsPlausible(time) && unshifted && *unshifted >= session_start_ && repaired &&
                      IsPlausible(*repaired);
    return fits ? repaired : std::nullopt;
  }

 private:
  Span cuda_;
  int64_t shift_;
  int64_t session_start_;
};

}  // namespace

ClockRepair RepairClocks(const Trace& trace) {
  ClockRepair repair;
  const bool told = trace.export_shift_ns && *trace.export_shift_ns >= 0 &&
                    trace.session_start_ns && *trace.session_start_ns > 0;
  const std::optional<Span> cuda = told ? CudaActivity(trace).span() : std::nullopt;
  if (!cuda) {
    return repair;
  }
  const Clock clock(*cuda, *trace.export_shift_ns, *trace.session_start_ns);
  for (uint32_t row = 0; row < trace.nvtx.size(); ++row) {
    const Span span = trace.nvtx.span(row);
    if (KindOfRange(trace, row) != RangeKind::kPushPop ||
        (clock.IsPlausible(span.begin_ns) && clock.IsPlausible(span.end_ns))) {
      continue;
    }
    const auto start = clock.Repaired(span.begin_ns);
    const auto end = clock.Repaired(span.end_ns);
    if (start && end && *start <= *end) {
      repair.repaired.push_back({.row = row, .start_ns = *start, .end_ns = *end});
    } else if (start.has_value() != end.has_value()) {
      ++repair.ambiguous;
    }
  }
  return repair;
}

}  // namespace nsys::perfetto
