// SPDX-License-Identifier: MIT
// API calls by (process, correlation id). A correlation id is unique within a process only and may
// be used again in a long capture, so a key can have several calls; they lie side by side in order
// of their start, so that finding one stays logarithmic even when a capture repeats an id without
// end.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "trace/trace.h"

namespace nsys {

inline constexpr uint32_t kNoKey = 0xFFFFFFFF;

class CallIndex {
 public:
  // With `wanted`, one byte per row of trace.calls, only the calls that it marks are in the index.
  // With `process_of_thread`, by ThreadId, processes are those of the caller, in its own numbers;
  // else those of the trace. Calls without a thread have the process kNone. Needs kTime,
  // kCorrelation, kThread of the calls. O(calls).
  explicit CallIndex(const Trace& trace, std::span<const uint8_t> wanted = {},
                     std::span<const ProcessId> process_of_thread = {});

  // Keys are 0 … keys() - 1, in the order of their first calls.
  size_t keys() const { return keys_; }
  uint32_t Find(ProcessId process, int64_t correlation) const {
    const size_t place = PlaceOf(process);
    return place < processes_.size() ? processes_[place].Find(correlation) : kNoKey;
  }
  // Rows of trace.calls, ascending.
  std::span<const uint32_t> Calls(uint32_t key) const {
    return {calls_.data() + begins_[key], calls_.data() + begins_[key + 1]};
  }

 private:
  // The keys of one process by correlation id. Ids are counted up, though only some of them are
  // seen: a bit per id, with the number of bits before each word, leads to the key, and calls near
  // in time are near in memory.
  class KeysOfProcess {
   public:
    // For every id in turn: Measure, after which Begin is due once; Expect, and then End once; and
    // only then the others.
    void Measure(int64_t correlation);
    void Begin();
    void Expect(int64_t correlation);
    void End();

    uint32_t Find(int64_t correlation) const {
      const uint64_t id = IdOf(correlation);
      if (id < words_.size() * 64) {
        return (words_[id / 64].bits >> (id % 64) & 1) != 0 ? keys_[RankOf(id)] : kNoKey;
      }
      if (scattered_.empty()) {
        return kNoKey;
      }
      const auto at = scattered_.find(correlation);
      return at == scattered_.end() ? kNoKey : at->second;
    }

    // Where the key of an expected id goes: kNoKey stands there while it has none.
    uint32_t& Place(int64_t correlation);

   private:
    struct Word {
      uint64_t bits = 0;
      uint32_t before = 0;  // bits set in the words before
    };

    uint64_t IdOf(int64_t correlation) const {
      return static_cast<uint64_t>(correlation) - static_cast<uint64_t>(least_);
    }
    size_t RankOf(uint64_t id) const {
      const Word& word = words_[id / 64];
      const uint64_t below = word.bits & ((uint64_t{1} << (id % 64)) - 1);
      return word.before + static_cast<size_t>(std::popcount(below));
    }

    int64_t least_ = std::numeric_limits<int64_t>::max();
    int64_t most_ = std::numeric_limits<int64_t>::min();
    uint64_t measured_ = 0;
    std::vector<Word> words_;     // empty when the ids are scattered
    std::vector<uint32_t> keys_;  // by rank
    std::unordered_map<int64_t, uint32_t> scattered_;
  };

  static size_t PlaceOf(ProcessId process) {
    return process == ProcessId::kNone ? 0 : size_t{Index(process)} + 1;
  }
  void FillKeys(const std::vector<uint32_t>& key_of_call);

  std::vector<KeysOfProcess> processes_;  // the first one: kNone
  uint32_t keys_ = 0;
  std::vector<uint32_t> begins_;  // by key: where its calls begin in calls_
  std::vector<uint32_t> calls_;
};

}  // namespace nsys
