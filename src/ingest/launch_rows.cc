// SPDX-License-Identifier: MIT
#include "ingest/launch_rows.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <optional>
#include <utility>

#include "trace/kernel_class.h"

namespace nsys {
namespace {

// Whether the contexts of a process may count their correlation ids each on its own. Which thread
// launches into which context is then learned from all kernels (trace/launches.h).
bool AnyProcessHasSeveralContexts(std::span<const Lane> lanes) {
  std::map<std::optional<int64_t>, std::set<std::optional<int64_t>>> contexts;
  for (const Lane& lane : lanes) {
    contexts[lane.global_pid].insert(lane.context);
  }
  return std::any_of(contexts.begin(), contexts.end(),
                     [](const auto& of) { return of.second.size() > 1; });
}

std::vector<int64_t> IdsInFocus(const KernelTable& kernels, const Focus& focus,
                                const StringPool& strings) {
  CommunicationClasses classes(strings);
  const bool by_name = focus.communication_only && kernels.name.size() == kernels.size();
  std::vector<int64_t> ids;
  for (size_t row = 0; row < kernels.correlation.size(); ++row) {
    const bool outside = focus.window && (kernels.end_ns[row] < focus.window->begin_ns ||
                                          kernels.start_ns[row] > focus.window->end_ns);
    if (kernels.correlation[row] == kNoCorrelation || outside ||
        (by_name && !classes.IsCommunication(kernels.name_to_classify(row)))) {
      continue;
    }
    ids.push_back(kernels.correlation[row]);
  }
  return ids;
}

}  // namespace

IdSet::IdSet(std::span<const int64_t> ids) {
  if (ids.empty()) {
    return;
  }
  constexpr uint64_t kMostBitsPerId = 64;
  const auto [least, most] = std::minmax_element(ids.begin(), ids.end());
  const uint64_t last = static_cast<uint64_t>(*most) - static_cast<uint64_t>(*least);
  if (last / kMostBitsPerId > ids.size()) {
    scattered_.insert(ids.begin(), ids.end());
    return;
  }
  least_ = *least;
  bits_.resize(last / 64 + 1);
  for (const int64_t id : ids) {
    const uint64_t at = static_cast<uint64_t>(id) - static_cast<uint64_t>(least_);
    bits_[at / 64] |= uint64_t{1} << (at % 64);
  }
}

TimeTable::TimeTable(std::vector<int64_t> ascending)
    : times_(std::move(ascending)), last_(times_.back()) {
  // About one time to a slot.
  const uint64_t span = static_cast<uint64_t>(last_) - static_cast<uint64_t>(times_.front());
  shift_ = static_cast<int>(std::bit_width(span / times_.size()));
  const size_t slots = SlotOf(last_) + 1;
  first_.resize(slots + 1);
  for (const int64_t time : times_) {
    ++first_[SlotOf(time) + 1];
  }
  std::partial_sum(first_.begin(), first_.end(), first_.begin());
}

void LaunchRows::TakeKernels(const KernelTable& kernels, std::span<const Lane> lanes,
                             const Focus& focus, const StringPool& strings) {
  const bool whole = AnyProcessHasSeveralContexts(lanes);
  ids_ = IdSet(IdsInFocus(kernels, whole ? Focus() : focus, strings));
}

void LaunchRows::TakeCalls(const CallTable& calls, std::span<const int64_t> threads) {
  std::vector<std::vector<int64_t>> times(threads.size());
  for (size_t row = 0; row < calls.correlation.size(); ++row) {
    if (calls.thread[row] != ThreadId::kNone && IsLaunch(calls.correlation[row])) {
      times[Index(calls.thread[row])].push_back(calls.start_ns[row]);  // in order: so are calls
    }
  }
  for (size_t thread = 0; thread < threads.size(); ++thread) {
    if (!times[thread].empty()) {
      times_.emplace(threads[thread], std::move(times[thread]));
    }
  }
}

void LaunchRows::Done(TableId table) {
  if (table != TableId::kKernel && table != TableId::kRuntime) {
    return;
  }
  {
    const std::scoped_lock lock(mutex_);
    done_.insert(table);
  }
  changed_.notify_all();
}

void LaunchRows::WaitFor(TableId table) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return done_.contains(table); });
}

}  // namespace nsys
