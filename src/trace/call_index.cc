// SPDX-License-Identifier: MIT
#include "trace/call_index.h"

#include <numeric>

namespace nsys {

CallIndex::CallIndex(const Trace& trace, std::span<const uint8_t> wanted,
                     std::span<const ProcessId> process_of_thread) {
  size_t slots = 1024;
  while (slots < trace.calls.size() * 2) {
    slots *= 2;
  }
  slots_.assign(slots, kNoKey);
  std::vector<uint32_t> key_of_call(trace.calls.size(), kNoKey);
  for (uint32_t call = 0; call < trace.calls.size(); ++call) {
    const bool candidate = wanted.empty() || wanted[call] != 0;
    const int64_t correlation = trace.calls.correlation[call];
    if (!candidate || correlation == kNoCorrelation) {
      continue;
    }
    const ThreadId thread = trace.calls.thread[call];
    const bool own = !process_of_thread.empty() && thread != ThreadId::kNone;
    const ProcessId process = own ? process_of_thread[Index(thread)] : trace.ProcessOf(thread);
    key_of_call[call] = KeyFor({process, correlation});
  }
  FillKeys(key_of_call);
}

// The number of `key`, made when it is new.
uint32_t CallIndex::KeyFor(const Key& key) {
  uint32_t& slot = slots_[FindSlot(key)];
  if (slot == kNoKey) {
    slot = static_cast<uint32_t>(keys_.size());
    keys_.push_back(key);
  }
  return slot;
}

// Calls are sorted by start, so that filling in their order sorts those of each key.
void CallIndex::FillKeys(const std::vector<uint32_t>& key_of_call) {
  begins_.assign(keys_.size() + 1, 0);
  for (const uint32_t key : key_of_call) {
    if (key != kNoKey) {
      ++begins_[key + 1];
    }
  }
  std::partial_sum(begins_.begin(), begins_.end(), begins_.begin());
  calls_.resize(begins_.back());
  std::vector<uint32_t> next(begins_.begin(), begins_.end() - 1);
  for (uint32_t call = 0; call < key_of_call.size(); ++call) {
    if (key_of_call[call] != kNoKey) {
      calls_[next[key_of_call[call]]++] = call;
    }
  }
}

// The slot of `key`: the one that has it, or the free one where it would go.
size_t CallIndex::FindSlot(const Key& key) const {
  const size_t mask = slots_.size() - 1;
  const uint64_t mixed = (static_cast<uint64_t>(key.correlation) * 0x9E3779B97F4A7C15U) ^
                         (uint64_t{Index(key.process)} * 0xC2B2AE3D27D4EB4FU);
  size_t slot = static_cast<size_t>(mixed >> 20) & mask;
  while (slots_[slot] != kNoKey && keys_[slots_[slot]] != key) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

}  // namespace nsys
