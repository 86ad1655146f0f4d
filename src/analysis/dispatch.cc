// SPDX-License-Identifier: MIT
#include "analysis/dispatch.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <utility>

#include "analysis/device_busy.h"
#include "base/number.h"
#include "trace/launches.h"

namespace nsys {
namespace {

// When the work before `start_ns` on this device ended; nothing when there was none, or when the
// device is busy up to `start_ns`.
std::optional<int64_t> IdleSince(const SpanSet& active, int64_t start_ns) {
  const auto next =
      std::lower_bound(active.begin(), active.end(), start_ns,
                       [](const Span& span, int64_t at) { return span.begin_ns < at; });
  if (next == active.begin() || std::prev(next)->end_ns >= start_ns) {
    return std::nullopt;
  }
  return std::prev(next)->end_ns;
}

class Counter {
 public:
  Counter(Views& views, std::optional<int64_t> device, const std::optional<Window>& window)
      : trace_(views.trace()),
        calls_(views.KernelCalls()),
        busy_(BusyDevicesOf(
            views, {std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()})),
        device_(device),
        window_(window),
        seen_(trace_.calls.size(), false) {}

  Dispatches Count();

 private:
  void Add(size_t row, uint32_t call);
  void AddStarvation(size_t row, uint32_t call, ThreadDispatches& to);

  const Trace& trace_;
  const std::vector<uint32_t>& calls_;
  const BusyDevices& busy_;  // of the whole capture, whatever the window
  const std::optional<int64_t> device_;
  const std::optional<Window>& window_;
  std::vector<bool> seen_;  // launch calls
  std::map<ThreadId, ThreadDispatches> threads_;
  std::map<std::pair<ThreadId, std::optional<int64_t>>, int64_t> last_starved_start_;
};

void Counter::Add(size_t row, uint32_t call) {
  const ThreadId thread = trace_.calls.thread[call];
  const int64_t queue_ns =
      std::max<int64_t>(trace_.kernels.start_ns[row] - trace_.calls.end_ns[call], 0);
  const auto [at, added] = threads_.try_emplace(thread);
  ThreadDispatches& to = at->second;
  to.thread = thread;
  to.shortest_queue_ns = added ? queue_ns : std::min(to.shortest_queue_ns, queue_ns);
  to.longest_queue_ns = std::max(to.longest_queue_ns, queue_ns);
  // Delays may be as long as the capture and many: the one sum here that nothing bounds.
  to.queue_ns = SaturatingAdd(to.queue_ns, queue_ns);
  to.long_queues += queue_ns > kLongQueueNs ? 1 : 0;
  to.kernel_ns += trace_.kernels.duration_ns(row);
  to.calls += seen_[call] ? 0 : 1;
  seen_[call] = true;
  ++to.kernels;
  AddStarvation(row, call, to);
}

void Counter::AddStarvation(size_t row, uint32_t call, ThreadDispatches& to) {
  const std::optional<int64_t> device = trace_.DeviceOf(trace_.kernels, row);
  const int64_t start_ns = trace_.kernels.start_ns[row];
  const auto busy = busy_.find(device);
  const auto since = busy == busy_.end() ? std::nullopt : IdleSince(busy->second.active, start_ns);
  if (!device || !since || start_ns - *since <= kStarvedNs ||
      trace_.calls.start_ns[call] < *since) {
    return;
  }
  ++to.starved;
  const auto [last, first_time] = last_starved_start_.try_emplace({to.thread, device}, start_ns);
  if (first_time || last->second != start_ns) {
    to.starved_idle_ns += start_ns - *since;
    last->second = start_ns;
  }
}

Dispatches Counter::Count() {
  const KernelTable& kernels = trace_.kernels;
  Dispatches result;
  for (size_t row = 0; row < kernels.size(); ++row) {
    const bool counts = (!device_ || trace_.DeviceOf(kernels, row) == device_) &&
                        Contains(window_, kernels.start_ns[row], kernels.end_ns[row]);
    if (!counts) {
      continue;
    }
    if (calls_[row] == kNoCall) {
      ++result.unlinked;
      continue;
    }
    ++result.kernels;
    Add(row, calls_[row]);
  }
  for (auto& [thread, dispatches] : threads_) {
    result.threads.push_back(dispatches);
  }
  std::stable_sort(result.threads.begin(), result.threads.end(),
                   [](const auto& a, const auto& b) { return a.kernels > b.kernels; });
  return result;
}

}  // namespace

int64_t Dispatches::starved() const {
  int64_t sum = 0;
  for (const ThreadDispatches& thread : threads) {
    sum += thread.starved;
  }
  return sum;
}

void AddDispatchReads(Reads& reads) {
  reads.Add(TableId::kKernel, {Column::kTime, Column::kLane, Column::kCorrelation});
  reads.Add(TableId::kRuntime, {Column::kTime, Column::kThread, Column::kCorrelation});
  AddDeviceBusyReads(reads);
}

const Dispatches& DispatchesOf(Views& views, std::optional<int64_t> device,
                               const std::optional<Window>& window) {
  return views.Once<Dispatches>({.device = device, .window = window, .text = {}},
                                [&] { return Counter(views, device, window).Count(); });
}

}  // namespace nsys
