// SPDX-License-Identifier: MIT
#include "base/text_dictionary.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace nsys {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr uint64_t kMultiplier = 0x9E3779B97F4A7C15;

uint64_t Mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ hash >> 32;
}

uint64_t HashText(std::string_view text) {
  uint64_t hash = text.size();
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, text.data(), sizeof word);
    hash = Mix(hash, word);
    text.remove_prefix(sizeof word);
  }
  uint64_t rest = 0;
  std::copy(text.begin(), text.end(), reinterpret_cast<char*>(&rest));  // memcpy takes no null
  return Mix(hash, rest);
}

}  // namespace

TextDictionary::TextDictionary(size_t capacity)
    : capacity_(capacity),
      slots_(std::bit_ceil(2 * capacity)),
      stable_(std::bit_ceil(2 * capacity)) {}

void TextDictionary::Clear() {
  if (!begins_.empty()) {
    std::fill(slots_.begin(), slots_.end(), Slot());
  }
  if (stable_used_ != 0) {
    std::fill(stable_.begin(), stable_.end(), StableSlot());
    stable_used_ = 0;
  }
  begins_.clear();
  bytes_.clear();
}

std::string_view TextDictionary::Get(uint32_t number) const {
  const size_t begin = begins_[number];
  uint32_t length = 0;
  std::memcpy(&length, bytes_.data() + begin - sizeof length, sizeof length);
  return std::string_view(bytes_).substr(begin, length);
}

uint32_t TextDictionary::Add(std::string_view text) {
  const uint64_t hash = HashText(text);
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].number != kFull; at = (at + 1) & mask) {
    if (slots_[at].hash == hash && Get(slots_[at].number) == text) {
      return slots_[at].number;
    }
  }
  if (size() == capacity_) {
    return kFull;
  }
  const auto number = static_cast<uint32_t>(size());
  slots_[at] = {.hash = hash, .number = number};
  AppendLittleEndian(bytes_, static_cast<uint32_t>(text.size()));
  begins_.push_back(bytes_.size());
  bytes_.append(text);
  return number;
}

uint32_t TextDictionary::AddStable(std::string_view text) {
  const size_t mask = stable_.size() - 1;
  size_t at = Mix(text.size(), reinterpret_cast<uintptr_t>(text.data())) & mask;
  for (; stable_[at].number != kFull; at = (at + 1) & mask) {
    if (stable_[at].data == text.data() && stable_[at].size == text.size()) {
      return stable_[at].number;
    }
  }
  const uint32_t number = Add(text);
  if (number != kFull && stable_used_ < capacity_) {
    stable_[at] = {.data = text.data(), .size = text.size(), .number = number};
    ++stable_used_;
  }
  return number;
}

}  // namespace nsys
