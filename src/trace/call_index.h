// SPDX-License-Identifier: MIT
// API calls by (process, correlation id). A correlation id is unique within a process only and may
// be used again in a long capture, so a key can have several calls; they lie side by side in order
// of their start, so that finding one stays logarithmic even when a capture repeats an id without
// end.
#pragma once

#include <cstdint>
#include <span>
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
  size_t keys() const { return keys_.size(); }
  uint32_t Find(ProcessId process, int64_t correlation) const {
    return slots_[FindSlot({process, correlation})];
  }
  // Rows of trace.calls, ascending.
  std::span<const uint32_t> Calls(uint32_t key) const {
    return {calls_.data() + begins_[key], calls_.data() + begins_[key + 1]};
  }

 private:
  struct Key {
    ProcessId process;
    int64_t correlation;
    bool operator==(const Key&) const = default;
  };

  uint32_t KeyFor(const Key& key);
  void FillKeys(const std::vector<uint32_t>& key_of_call);
  size_t FindSlot(const Key& key) const;

  std::vector<uint32_t> slots_;   // open addressing over keys
  std::vector<Key> keys_;         // by key
  std::vector<uint32_t> begins_;  // by key: where its calls begin in calls_
  std::vector<uint32_t> calls_;
};

}  // namespace nsys
