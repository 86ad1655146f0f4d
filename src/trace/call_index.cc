// SPDX-License-Identifier: MIT
#include "trace/call_index.h"

#include <algorithm>
#include <numeric>

namespace nsys {

void CallIndex::KeysOfProcess::Measure(int64_t correlation) {
  least_ = std::min(least_, correlation);
  most_ = std::max(most_, correlation);
  ++measured_;
}

void CallIndex::KeysOfProcess::Begin() {
  constexpr uint64_t kMostIdsPerCall = 256;  // 64 bytes
  const uint64_t span = IdOf(most_);
  if (measured_ > 0 && span / kMostIdsPerCall <= measured_) {
    words_.resize(span / 64 + 1);
  }
}

void CallIndex::KeysOfProcess::Expect(int64_t correlation) {
  if (!words_.empty()) {
    const uint64_t id = IdOf(correlation);
    words_[id / 64].bits |= uint64_t{1} << (id % 64);
  }
}

void CallIndex::KeysOfProcess::End() {
  uint32_t before = 0;
  for (Word& word : words_) {
    word.before = before;
    before += static_cast<uint32_t>(std::popcount(word.bits));
  }
  keys_.assign(before, kNoKey);
}

uint32_t& CallIndex::KeysOfProcess::Place(int64_t correlation) {
  return words_.empty() ? scattered_.try_emplace(correlation, kNoKey).first->second
                        : keys_[RankOf(IdOf(correlation))];
}

CallIndex::CallIndex(const Trace& trace, std::span<const uint8_t> wanted,
                     std::span<const ProcessId> process_of_thread) {
  std::vector<size_t> place_of_thread(trace.threads.size());
  for (uint32_t thread = 0; thread < trace.threads.size(); ++thread) {
    place_of_thread[thread] = PlaceOf(process_of_thread.empty() ? trace.threads[thread].process
                                                                : process_of_thread[thread]);
  }
  const CallTable& calls = trace.calls;
  const auto place_of = [&](uint32_t call) {
    const ThreadId thread = calls.thread[call];
    return thread == ThreadId::kNone ? 0 : place_of_thread[Index(thread)];
  };
  const auto for_each = [&](const auto& visit) {
    for (uint32_t call = 0; call < calls.size(); ++call) {
      if (calls.correlation[call] != kNoCorrelation && (wanted.empty() || wanted[call] != 0)) {
        visit(call, processes_[place_of(call)]);
      }
    }
  };
  const auto most = std::max_element(place_of_thread.begin(), place_of_thread.end());
  processes_.resize(most == place_of_thread.end() ? 1 : *most + 1);
  const auto for_each_id = [&](auto take, auto then) {
    for_each([&](uint32_t call, KeysOfProcess& keys) { (keys.*take)(calls.correlation[call]); });
    for (KeysOfProcess& keys : processes_) {
      (keys.*then)();
    }
  };
  for_each_id(&KeysOfProcess::Measure, &KeysOfProcess::Begin);
  for_each_id(&KeysOfProcess::Expect, &KeysOfProcess::End);
  std::vector<uint32_t> key_of_call(calls.size(), kNoKey);
  for_each([&](uint32_t call, KeysOfProcess& keys) {
    uint32_t& key = keys.Place(calls.correlation[call]);
    key = key == kNoKey ? keys_++ : key;
    key_of_call[call] = key;
  });
  FillKeys(key_of_call);
}

// Calls are sorted by start, so that filling in their order sorts those of each key.
void CallIndex::FillKeys(const std::vector<uint32_t>& key_of_call) {
  begins_.assign(size_t{keys_} + 1, 0);
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

}  // namespace nsys
