// SPDX-License-Identifier: MIT
// bench-sweep: the sweeps under the analyses, beside a limit of the same run: a sort of as many
// pairs of integers, or a copy of as many bytes as the sweep reads. CPU seconds, in turns.
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <random>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include "cpu_clock.h"
#include "trace/intervals.h"
#include "trace/launches.h"
#include "trace/nvtx_stacks.h"

namespace nsys::bench {
namespace {

constexpr int kRounds = 3;
constexpr size_t kSpans = 5'000'000;
constexpr size_t kKernels = 1'000'000;
constexpr size_t kCalls = 2'000'000;
constexpr size_t kRanges = 4'000'000;
constexpr size_t kCallsPerKernel = kCalls / kKernels;
constexpr size_t kThreads = 4;  // of one process
constexpr size_t kDepth = 4;    // ranges that nest, one in the other
constexpr int64_t kStepNs = 1000;

void Report(const char* label, const char* limit, const Pair& cpu) {
  fmt::print("{:<44}  {:>7.3f}  {:<34}  {:>7.3f}  {:>6.2f}x\n", label, cpu.ours, limit, cpu.limit,
             cpu.ours / cpu.limit);
}

using Numbers = std::vector<std::pair<int64_t, int64_t>>;

void Sort(Numbers pairs) {
  std::sort(pairs.begin(), pairs.end());
  Keep(pairs);
}

// A copy of `bytes` bytes into fresh memory.
void Copy(const std::vector<char>& from) {
  const std::vector<char> to(from);
  Keep(to);
}

void BenchUnion(bool sorted) {
  std::mt19937_64 random(1);
  std::vector<Span> spans(kSpans);
  for (Span& span : spans) {
    span.begin_ns = static_cast<int64_t>(random() % (kSpans * kStepNs));
    span.end_ns = span.begin_ns + static_cast<int64_t>(random() % kStepNs);
  }
  if (sorted) {
    std::sort(spans.begin(), spans.end(),
              [](const Span& a, const Span& b) { return a.begin_ns < b.begin_ns; });
    const std::vector<char> bytes(kSpans * sizeof(Span), 1);
    Report("Union, 5 M spans in order", "copy of their bytes",
           InTurns(kRounds, [&] { Keep(Union(spans)); }, [&] { Copy(bytes); }));
    return;
  }
  Numbers pairs;
  for (const Span& span : spans) {
    pairs.emplace_back(span.begin_ns, span.end_ns);
  }
  Report("Union, 5 M spans in random order", "sort of 5 M pairs",
         InTurns(kRounds, [&] { Keep(Union(spans)); }, [&] { Sort(pairs); }));
}

// A process with threads and lanes; every second call launches a kernel that runs later.
Trace LaunchTrace() {
  Trace trace;
  const int64_t process = (int64_t{1} << 48) | (int64_t{100} << 24);
  trace.processes.push_back({process});
  for (size_t i = 0; i < kThreads; ++i) {
    trace.threads.push_back({process | static_cast<int64_t>(100 + i), ProcessId{0}});
    trace.nvtx_lanes.push_back({ThreadId{static_cast<uint32_t>(i)}, 0});
    trace.lanes.push_back({.device = 0,
                           .stream = static_cast<int64_t>(7 + i),
                           .global_pid = process,
                           .context = 1,
                           .green_context = std::nullopt});
  }
  for (size_t i = 0; i < kCalls; ++i) {
    const auto start = static_cast<int64_t>(i) * kStepNs;
    const auto number = static_cast<uint32_t>(i / kCallsPerKernel % kThreads);
    trace.calls.start_ns.push_back(start);
    trace.calls.end_ns.push_back(start + kStepNs / 2);
    trace.calls.thread.push_back(ThreadId{number});
    trace.calls.correlation.push_back(static_cast<int64_t>(i));
    if (i % kCallsPerKernel != 0) {
      continue;
    }
    trace.kernels.start_ns.push_back(start + 100 * kStepNs);
    trace.kernels.end_ns.push_back(start + 101 * kStepNs);
    trace.kernels.lane.push_back(LaneId{number});
    trace.kernels.correlation.push_back(static_cast<int64_t>(i));
  }
  return trace;
}

// Nests of kDepth push-pop ranges, one around each call that launches, on its thread.
void AddRanges(Trace& trace) {
  const StringId text = trace.strings.Intern("layer");
  const auto span = static_cast<int64_t>(kCalls) * kStepNs;
  const size_t nests = kRanges / kDepth;
  for (size_t nest = 0; nest < nests; ++nest) {
    const int64_t start =
        span / static_cast<int64_t>(nests) * static_cast<int64_t>(nest) - kStepNs / 4;
    for (size_t depth = 0; depth < kDepth; ++depth) {
      const auto inset = static_cast<int64_t>(depth);
      trace.nvtx.start_ns.push_back(start + inset);
      trace.nvtx.end_ns.push_back(start + 4 * kStepNs - inset);
      trace.nvtx.lane.push_back(NvtxLaneId{static_cast<uint32_t>(nest % kThreads)});
      trace.nvtx.text.push_back(text);
      trace.nvtx.event_type.push_back(kNvtxPushPop);
    }
  }
}

void BenchTraceSweeps() {
  Trace trace = LaunchTrace();
  std::mt19937_64 random(2);
  Numbers pairs;
  for (size_t i = 0; i < kCalls; ++i) {
    pairs.emplace_back(0, static_cast<int64_t>(random()));
  }
  Report("LinkLaunches, 1 M kernels, 2 M calls", "sort of 2 M pairs",
         InTurns(kRounds, [&] { Keep(LinkLaunches(trace, trace.kernels)); }, [&] { Sort(pairs); }));

  AddRanges(trace);
  std::vector<uint32_t> calls(kKernels);  // the calls that launch
  for (size_t i = 0; i < calls.size(); ++i) {
    calls[i] = static_cast<uint32_t>(i * kCallsPerKernel);
  }
  for (size_t i = kCalls; i < kRanges; ++i) {
    pairs.emplace_back(0, static_cast<int64_t>(random()));
  }
  size_t members = 0;
  const Pair cpu = InTurns(
      kRounds,
      [&] {
        const RangePaths paths = EnclosingRanges(trace, calls);
        members = 0;
        for (size_t i = 0; i < calls.size(); ++i) {
          members += paths.Path(i).size();
        }
      },
      [&] { Sort(pairs); });
  Report("EnclosingRanges, 4 M ranges, 1 M calls", "sort of 4 M pairs", cpu);
  fmt::print("(a call has {:.1f} ranges around it on average)\n",
             static_cast<double>(members) / static_cast<double>(calls.size()));
}

}  // namespace
}  // namespace nsys::bench

int main() {
  fmt::print("{:<44}  {:>7}  {:<34}  {:>7}  {:>7}\n", "sweep", "CPU s", "limit", "CPU s", "ratio");
  nsys::bench::BenchUnion(false);
  nsys::bench::BenchUnion(true);
  nsys::bench::BenchTraceSweeps();
  return 0;
}
