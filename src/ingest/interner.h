// SPDX-License-Identifier: MIT
// Numbers for keys (lanes, threads) while one table is read. Tables are read at the same time, so
// each numbers its own keys; afterwards the numbers are replaced by those of the whole trace.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <vector>

namespace nsys {

// Numbers distinct keys in order of first sight. Rows mostly repeat the key of a row shortly
// before.
template <typename Key>
class Interner {
 public:
  uint32_t Number(const Key& key) {
    for (const uint32_t number : recent_) {
      if (number < keys_.size() && keys_[number] == key) {
        return number;
      }
    }
    const auto [at, added] = numbers_.try_emplace(key, static_cast<uint32_t>(keys_.size()));
    if (added) {
      keys_.push_back(key);
    }
    recent_[oldest_++ % recent_.size()] = at->second;
    return at->second;
  }

  const std::vector<Key>& keys() const { return keys_; }

 private:
  std::vector<Key> keys_;
  std::map<Key, uint32_t> numbers_;  // ordered: a trace has few lanes and threads, and no hash
  std::array<uint32_t, 8> recent_ = {};
  size_t oldest_ = 0;  // in recent_, after division
};

// The union of several lists of keys, sorted, each key once.
template <typename Key>
std::vector<Key> SortedUnion(const std::vector<const std::vector<Key>*>& lists) {
  std::vector<Key> all;
  for (const std::vector<Key>* list : lists) {
    all.insert(all.end(), list->begin(), list->end());
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

// For each of `keys` its place in `sorted`, which has them all.
template <typename Key>
std::vector<uint32_t> PlacesIn(const std::vector<Key>& sorted, const std::vector<Key>& keys) {
  std::vector<uint32_t> places;
  places.reserve(keys.size());
  for (const Key& key : keys) {
    const auto at = std::lower_bound(sorted.begin(), sorted.end(), key);
    places.push_back(static_cast<uint32_t>(at - sorted.begin()));
  }
  return places;
}

}  // namespace nsys
