// SPDX-License-Identifier: MIT
#include "trace/string_pool.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace nsys {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

uint32_t HashText(std::string_view text) {
  const size_t hash = std::hash<std::string_view>{}(text);
  return static_cast<uint32_t>(hash ^ (hash >> 32));
}

}  // namespace

StringId StringPool::Intern(std::string_view text) {
  if (texts_.size() * 2 >= slots_.size()) {
    Grow();
  }
  const uint32_t hash = HashText(text);
  const size_t mask = slots_.size() - 1;
  size_t slot = hash & mask;
  while (slots_[slot] != 0) {
    const uint32_t at = slots_[slot] - 1;
    if (hashes_[at] == hash && texts_[at] == text) {
      return StringId{at};
    }
    slot = (slot + 1) & mask;
  }
  const auto id = static_cast<uint32_t>(texts_.size());
  texts_.push_back(Store(text));
  hashes_.push_back(hash);
  slots_[slot] = id + 1;
  return StringId{id};
}

void StringPool::Grow() {
  slots_.assign(std::max<size_t>(1024, slots_.size() * 2), 0);
  const size_t mask = slots_.size() - 1;
  for (uint32_t at = 0; at < texts_.size(); ++at) {
    size_t slot = hashes_[at] & mask;
    while (slots_[slot] != 0) {
      slot = (slot + 1) & mask;
    }
    slots_[slot] = at + 1;
  }
}

std::string_view StringPool::Store(std::string_view text) {
  if (text.empty()) {
    return {};
  }
  if (text.size() > block_free_) {
    const size_t bytes = std::max(kBlockBytes, text.size());
    blocks_.push_back(std::make_unique_for_overwrite<char[]>(bytes));
    block_next_ = blocks_.back().get();
    block_free_ = bytes;
  }
  std::memcpy(block_next_, text.data(), text.size());
  const std::string_view stored(block_next_, text.size());
  block_next_ += text.size();
  block_free_ -= text.size();
  return stored;
}

}  // namespace nsys
