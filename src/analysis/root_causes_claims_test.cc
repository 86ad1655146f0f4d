// SPDX-License-Identifier: MIT
// What causes claim, against a painted time axis of one cell per 5 us: each cell to one cause, and
// no cell to a cause that it does not fit.
#include <algorithm>
#include <limits>
#include <map>
#include <random>
#include <set>

#include "root_cause_test_util.h"

namespace nsys {
namespace {

constexpr int64_t kCell = 5 * kUs;
constexpr size_t kAxis = 3000;

using Paint = std::vector<uint8_t>;

void Add(Paint& paint, int64_t begin_ns, int64_t end_ns) {
  for (int64_t at = begin_ns / kCell; at < end_ns / kCell; ++at) {
    paint[static_cast<size_t>(at)] = 1;
  }
}

int64_t Count(const Paint& paint) {
  return kCell * std::count(paint.begin(), paint.end(), uint8_t{1});
}

template <typename Cell>
Paint Where(const Cell& holds) {
  Paint paint(kAxis, 0);
  for (size_t at = 0; at < kAxis; ++at) {
    paint[at] = holds(at) ? 1 : 0;
  }
  return paint;
}

// Device 0 of a trace in a window, painted.
struct Axis {
  Paint span = Paint(kAxis, 0);
  Paint compute = Paint(kAxis, 0);  // any kernel, of the window or over its edges
  Paint communication = Paint(kAxis, 0);
  Paint own_communication = Paint(kAxis, 0);  // of kernels that lie inside the window
  Paint work = Paint(kAxis, 0);
  Paint waits = Paint(kAxis, 0);  // of threads of process 100, which alone has kernels there
  Paint to_device = Paint(kAxis, 0);
  Paint blocking = Paint(kAxis, 0);
  Paint pageable = Paint(kAxis, 0);
  Paint sets = Paint(kAxis, 0);
  std::vector<uint8_t> small_start = Paint(kAxis + 1, 0);
  std::vector<Span> idle;  // maximal stretches without work inside the span

  bool Kernel(size_t at) const { return compute[at] != 0 || communication[at] != 0; }
};

bool IsCommunication(const Trace& trace, size_t row) {
  return trace.Text(trace.kernels.name[row]).find("nccl") != std::string_view::npos;
}

void PaintKernels(const Trace& trace, const std::optional<Window>& window, Axis& axis) {
  const KernelTable& kernels = trace.kernels;
  int64_t first = kAxis * kCell;
  int64_t last = 0;
  for (size_t row = 0; row < kernels.size(); ++row) {
    if (trace.DeviceOf(kernels, row) != 0) {
      continue;
    }
    const int64_t start = kernels.start_ns[row];
    const int64_t end = kernels.end_ns[row];
    const bool nccl = IsCommunication(trace, row);
    Add(nccl ? axis.communication : axis.compute, start, end);
    Add(axis.work, start, end);
    if (trace.Text(kernels.name[row]) == "tiny") {
      axis.small_start[static_cast<size_t>(start / kCell)] = 1;
    }
    if (Contains(window, start, end)) {
      first = std::min(first, start);
      last = std::max(last, end);
      if (nccl) {
        Add(axis.own_communication, start, end);
      }
    }
  }
  Add(axis.span, first, last);
}

std::string CallNamed(const Trace& trace, int64_t correlation) {
  for (size_t call = 0; call < trace.calls.size(); ++call) {
    if (trace.calls.correlation[call] == correlation) {
      return std::string(trace.Text(trace.calls.name[call]));
    }
  }
  return "";
}

void PaintCopies(const Trace& trace, const std::optional<Window>& window, Axis& axis) {
  const CopyTable& copies = trace.copies;
  for (size_t row = 0; row < copies.size(); ++row) {
    Add(axis.work, copies.start_ns[row], copies.end_ns[row]);
    const Span inside = Clip(window, copies.start_ns[row], copies.end_ns[row]);
    const std::string call = CallNamed(trace, copies.correlation[row]);
    const bool asynchronous = call.find("Async") != std::string::npos;
    if (copies.kind[row] == 1) {
      Add(axis.to_device, inside.begin_ns, inside.end_ns);
    }
    if (!asynchronous) {
      Add(axis.blocking, inside.begin_ns, inside.end_ns);
    } else if (copies.from_memory[row] == 0) {
      Add(axis.pageable, inside.begin_ns, inside.end_ns);
    }
  }
  for (size_t row = 0; row < trace.memsets.size(); ++row) {
    const Span set = trace.memsets.span(row);
    Add(axis.work, set.begin_ns, set.end_ns);
    const Span inside = Clip(window, set.begin_ns, set.end_ns);
    Add(axis.sets, inside.begin_ns, inside.end_ns);
  }
  for (size_t row = 0; row < trace.graphs.size(); ++row) {
    Add(axis.work, trace.graphs.start_ns[row], trace.graphs.end_ns[row]);
  }
}

Axis PaintAxis(const Trace& trace, const std::optional<Window>& window) {
  Axis axis;
  PaintKernels(trace, window, axis);
  PaintCopies(trace, window, axis);
  for (size_t call = 0; call < trace.calls.size(); ++call) {
    const Thread& thread = trace.threads[Index(trace.calls.thread[call])];
    const std::string_view name = trace.Text(trace.calls.name[call]);
    if (name.find("Synchronize") != std::string_view::npos &&
        Process{ProcessWord(thread.global_tid)}.pid() == 100) {
      Add(axis.waits, trace.calls.start_ns[call], trace.calls.end_ns[call]);
    }
  }
  for (size_t at = 0; at < kAxis; ++at) {
    if (axis.span[at] == 0 || axis.work[at] != 0) {
      continue;
    }
    const auto cell = static_cast<int64_t>(at);
    if (axis.idle.empty() || axis.idle.back().end_ns != cell) {
      axis.idle.push_back({cell, cell});
    }
    axis.idle.back().end_ns = cell + 1;
  }
  return axis;
}

Paint IdleOf(const Axis& axis, bool long_ones) {
  Paint paint(kAxis, 0);
  for (const Span& stretch : axis.idle) {
    const bool is_long = stretch.length_ns() * kCell > kMs;
    const bool by_small = axis.small_start[static_cast<size_t>(stretch.end_ns)] != 0;
    if (long_ones ? is_long : !is_long && by_small) {
      Add(paint, stretch.begin_ns * kCell, stretch.end_ns * kCell);
    }
  }
  return paint;
}

// All that a cause of this pattern may claim before others take their part.
Paint Claimable(const Axis& axis, std::string_view pattern) {
  const auto beside_kernels = [&](const Paint& copies) {
    return Where(
        [&](size_t at) { return copies[at] != 0 && axis.span[at] != 0 && !axis.Kernel(at); });
  };
  if (pattern == "GPU Bubbles (Pipeline Stalls)" || pattern == "Small Kernel Overhead") {
    return IdleOf(axis, pattern.starts_with("GPU"));
  }
  if (pattern == "Excessive Synchronization") {
    return Where(
        [&](size_t at) { return axis.span[at] != 0 && axis.work[at] == 0 && axis.waits[at] != 0; });
  }
  if (pattern == "NCCL Serialization" || pattern == "Compute-Communication Imbalance") {
    return Where(
        [&](size_t at) { return axis.own_communication[at] != 0 && axis.compute[at] == 0; });
  }
  if (pattern == "Excessive H2D Transfers") {
    return beside_kernels(axis.to_device);
  }
  if (pattern == "Synchronous Memcpy") {
    return beside_kernels(axis.blocking);
  }
  if (pattern == "Pageable Memory in Async Memcpy") {
    return beside_kernels(axis.pageable);
  }
  return pattern == "Synchronous Memset" ? beside_kernels(axis.sets) : Paint(kAxis, 0);
}

constexpr std::string_view kCheckOrder[] = {"GPU Bubbles (Pipeline Stalls)",
                                            "NCCL Serialization",
                                            "Excessive H2D Transfers",
                                            "Small Kernel Overhead",
                                            "Kernel Hotspot",
                                            "Compute-Communication Imbalance",
                                            "Excessive Synchronization",
                                            "Synchronous Memcpy",
                                            "Pageable Memory in Async Memcpy",
                                            "Synchronous Memset"};

// The claims of the causes that were found: again and again to the one that claims most.
std::map<std::string_view, Paint> Settle(const Axis& axis, const std::vector<RootCause>& found) {
  std::map<std::string_view, Paint> open;
  for (const RootCause& cause : found) {
    open[cause.pattern] = Claimable(axis, cause.pattern);
  }
  std::map<std::string_view, Paint> settled;
  while (!open.empty()) {
    std::string_view most;
    for (const std::string_view pattern : kCheckOrder) {
      if (open.contains(pattern) && (most.empty() || Count(open[pattern]) > Count(open[most]))) {
        most = pattern;
      }
    }
    settled[most] = open[most];
    open.erase(most);
    for (auto& [pattern, paint] : open) {
      for (size_t at = 0; at < kAxis; ++at) {
        paint[at] = settled[most][at] != 0 ? 0 : paint[at];
      }
    }
  }
  return settled;
}

class RandomTrace {
 public:
  explicit RandomTrace(uint32_t seed) : random_(seed) {}

  int64_t Number(uint32_t below) { return static_cast<int64_t>(random_() % below); }
  std::optional<Window> RandomWindow() {
    const int64_t begin = Number(1000) * kCell;
    return Number(2) == 0 ? std::nullopt : std::optional(Window{begin, begin + Cells(1900)});
  }

  Trace Make() {
    TraceBuilder builder;
    const bool dense = Number(2) == 0;
    AddSmall(builder);
    for (int64_t i = Number(dense ? 40 : 8); i >= 0; --i) {
      const int64_t start = Number(2500) * kCell;
      builder.Kernel(Number(3) == 0 ? "ncclDevKernel_AllReduce" : "gemm",
                     {.start_ns = start,
                      .end_ns = start + Cells(250),
                      .stream = 7 + Number(3),
                      .device = Number(8) == 0 ? 1 : 0});
    }
    for (int64_t i = Number(12); i > 0; --i) {
      AddOther(builder, Number(2700) * kCell);
    }
    return builder.Build();
  }

 private:
  int64_t Cells(uint32_t below) { return (1 + Number(below)) * kCell; }

  // More than a hundred launches of a kernel of one cell.
  void AddSmall(TraceBuilder& builder) {
    if (Number(2) == 0) {
      return;
    }
    int64_t at = Cells(1500);
    for (int64_t i = 0; i < 120; ++i) {
      builder.Call("cudaLaunchKernel",
                   {.start_ns = at - 2, .end_ns = at - 1, .correlation = ++correlation_});
      builder.Kernel("tiny", {.start_ns = at, .end_ns = at + kCell, .correlation = correlation_});
      at += Number(40) == 0 ? Cells(250) : Cells(6);
      at = std::min(at, int64_t{2900} * kCell);
    }
  }

  void AddOther(TraceBuilder& builder, int64_t start) {
    const int64_t end = start + Cells(280);
    const int64_t pid = Number(4) == 0 ? 200 : 100;
    const bool asynchronous = Number(2) == 0;
    switch (Number(4)) {
      case 0:
        builder.Call(asynchronous ? "cudaDeviceSynchronize" : "cuStreamSynchronize",
                     {.start_ns = start, .end_ns = end, .pid = pid, .tid = pid + Number(2)});
        break;
      case 1:
        builder.Memset({.start_ns = start, .end_ns = end, .correlation = ++correlation_});
        builder.Call("cudaMemset", {.start_ns = start, .end_ns = end, .correlation = correlation_});
        break;
      case 2:
        builder.Graph({.start_ns = start, .end_ns = end});
        break;
      default:
        builder.Copy({.start_ns = start,
                      .end_ns = end,
                      .bytes = 1,
                      .kind = static_cast<int32_t>(1 + Number(2)),
                      .correlation = ++correlation_,
                      .from_memory = static_cast<int32_t>(Number(2))});
        builder.Call(asynchronous ? "cudaMemcpyAsync" : "cudaMemcpy",
                     {.start_ns = start, .end_ns = end, .correlation = correlation_});
    }
  }

  std::mt19937 random_;
  int64_t correlation_ = 0;
};

void ExpectPaintedClaims(const RootCauses& causes, const Axis& axis) {
  const std::map<std::string_view, Paint> want = Settle(axis, causes.found);
  Paint taken(kAxis, 0);
  int64_t sum = 0;
  int64_t before = std::numeric_limits<int64_t>::max();
  for (const RootCause& cause : causes.found) {
    Paint mine(kAxis, 0);
    for (const Span& span : cause.claim) {
      ASSERT_EQ(span.begin_ns % kCell + span.end_ns % kCell, 0);
      Add(mine, span.begin_ns, span.end_ns);
    }
    ASSERT_TRUE(mine == want.at(cause.pattern)) << cause.pattern;
    for (size_t at = 0; at < kAxis; ++at) {
      ASSERT_LE(mine[at] + taken[at], axis.span[at]) << cause.pattern << " at cell " << at;
      taken[at] = static_cast<uint8_t>(taken[at] + mine[at]);
    }
    sum += cause.recoverable_ns();
    ASSERT_LE(cause.recoverable_ns(), before) << "not in order";
    before = cause.recoverable_ns();
  }
  ASSERT_LE(sum, causes.span.length_ns());
}

TEST(Claims, AgreeWithPaintedTime) {
  RandomTrace random(11);
  std::set<std::string_view> seen;
  size_t shared = 0;
  for (int round = 0; round < 400; ++round) {
    SCOPED_TRACE(round);
    const std::optional<Window> window = random.RandomWindow();
    const Trace trace = random.Make();
    const auto causes = CausesOf(trace, 0, window);
    if (!causes || causes->device != 0) {
      continue;
    }
    ASSERT_NO_FATAL_FAILURE(ExpectPaintedClaims(*causes, PaintAxis(trace, window)));
    for (const RootCause& cause : causes->found) {
      shared += cause.counted_in.empty() ? 0 : 1;
      if (cause.recoverable_ns() > 0) {
        seen.insert(cause.pattern);
      }
    }
  }
  EXPECT_EQ(seen.size(), 8U) << "all but hotspots, which claim nothing, and 50 ms of copies";
  EXPECT_GT(shared, 20U);
}

}  // namespace
}  // namespace nsys
