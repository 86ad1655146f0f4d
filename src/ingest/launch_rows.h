// SPDX-License-Identifier: MIT
// Which API calls may have launched the kernels that a question is about, and when their threads
// made them: what tells which rows need no reading (trace/reads.h, RowKind::kLaunches). Always
// errs on the side of reading.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <unordered_set>
#include <vector>

#include "trace/reads.h"
#include "trace/trace.h"

namespace nsys {

// A set of ids, which are counted up though only some of them are in it.
class IdSet {
 public:
  IdSet() = default;
  explicit IdSet(std::span<const int64_t> ids);
  bool Has(int64_t id) const {
    const uint64_t at = static_cast<uint64_t>(id) - static_cast<uint64_t>(least_);
    if (at < bits_.size() * 64) {
      return (bits_[at / 64] >> (at % 64) & 1) != 0;
    }
    return !scattered_.empty() && scattered_.contains(id);
  }

 private:
  int64_t least_ = 0;
  std::vector<uint64_t> bits_;  // from least_ on; empty when the ids are scattered
  std::unordered_set<int64_t> scattered_;
};

// Times in order, found without a search of all of them.
class TimeTable {
 public:
  // At least one.
  explicit TimeTable(std::vector<int64_t> ascending);
  // Whether one of them is in [begin_ns, end_ns].
  bool AnyWithin(int64_t begin_ns, int64_t end_ns) const {
    if (begin_ns > last_ || end_ns < times_.front()) {
      return false;
    }
    if (begin_ns <= times_.front()) {
      return true;
    }
    const size_t slot = SlotOf(begin_ns);
    const auto at = std::lower_bound(times_.begin() + first_[slot],
                                     times_.begin() + first_[slot + 1], begin_ns);
    return *at <= end_ns;  // there is one: begin_ns <= last_
  }

 private:
  size_t SlotOf(int64_t time_ns) const {
    return static_cast<size_t>(
        (static_cast<uint64_t>(time_ns) - static_cast<uint64_t>(times_.front())) >> shift_);
  }
  std::vector<int64_t> times_;
  int64_t last_;
  int shift_;
  std::vector<uint32_t> first_;  // of each slot of 2^shift_ ns, and one more
};

// Kernels come first, then calls: whoever reads the next table waits for the one before.
class LaunchRows {
 public:
  // `lanes` by LaneId of `kernels`. Kernels without the columns that tell count as in focus.
  void TakeKernels(const KernelTable& kernels, std::span<const Lane> lanes, const Focus& focus,
                   const StringPool& strings);
  // `threads` are the globalTid words by ThreadId of `calls`.
  void TakeCalls(const CallTable& calls, std::span<const int64_t> threads);

  // Says that nothing more is to come of kKernel or kRuntime; of other tables it means nothing.
  void Done(TableId table);
  // Says so when its life ends, however that comes.
  class Turn {
   public:
    Turn(LaunchRows& rows, TableId table) : rows_(rows), table_(table) {}
    ~Turn() { rows_.Done(table_); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    LaunchRows& rows_;
    TableId table_;
  };
  void WaitForKernels() { WaitFor(TableId::kKernel); }
  void WaitForCalls() { WaitFor(TableId::kRuntime); }

  // Whether a call with this correlation id may have launched one of the kernels.
  bool IsLaunch(int64_t correlation) const { return ids_.Has(correlation); }

  // When the thread made such calls; nothing when it made none.
  const TimeTable* TimesOf(int64_t global_tid) const {
    const auto at = times_.find(global_tid);
    return at == times_.end() ? nullptr : &at->second;
  }

 private:
  void WaitFor(TableId table);

  IdSet ids_;
  std::map<int64_t, TimeTable> times_;  // by globalTid word
  std::mutex mutex_;
  std::condition_variable changed_;
  std::set<TableId> done_;
};

}  // namespace nsys
