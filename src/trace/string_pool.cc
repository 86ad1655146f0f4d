// SPDX-License-Identifier: MIT
#include "trace/string_pool.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>

#include "base/text.h"

namespace nsys {
namespace {

constexpr size_t kBlockBytes = size_t{1} << 20;

struct Hashed {
  uint32_t hash = 0;
  bool ascii = true;
};

// Eight bytes at a time; whether all are ASCII falls out on the way.
Hashed HashText(std::string_view text) {
  constexpr uint64_t kFactor = 0x9E3779B97F4A7C15U;
  constexpr uint64_t kHighBits = 0x8080808080808080U;
  constexpr size_t kWord = sizeof(uint64_t);
  uint64_t hash = text.size() * kFactor;
  uint64_t seen = 0;
  const auto mix = [&](uint64_t word) {
    seen |= word;
    hash = (hash ^ word) * kFactor;
    hash ^= hash >> 32;
  };
  const auto word_at = [&](size_t at, size_t bytes) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + at, bytes);
    return word;
  };
  size_t at = 0;
  for (; at + kWord <= text.size(); at += kWord) {
    mix(word_at(at, kWord));
  }
  if (at < text.size()) {
    // The last word may overlap the one before.
    mix(at > 0 ? word_at(text.size() - kWord, kWord) : word_at(0, text.size()));
  }
  return {.hash = static_cast<uint32_t>((hash * kFactor) >> 32), .ascii = (seen & kHighBits) == 0};
}

}  // namespace

StringId StringPool::Intern(std::string_view text) {
  StringId id = StringId::kNone;
  InternAll({&text, 1}, {&id, 1});
  return id;
}

int64_t StringPool::InternAll(std::span<const std::string_view> texts, std::span<StringId> ids) {
  constexpr size_t kGroup = 64;
  Hashed hashes[kGroup];
  int64_t repaired = 0;
  for (size_t first = 0; first < texts.size(); first += kGroup) {
    const size_t count = std::min(kGroup, texts.size() - first);
    Reserve(texts_.size() + count);
    // The table is far larger than the caches: its places are asked for well before they are read.
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashText(texts[first + i]);
      __builtin_prefetch(&slots_[hashes[i].hash & (slots_.size() - 1)]);
    }
    for (size_t i = 0; i < count; ++i) {
      const std::string_view text = texts[first + i];
      if (hashes[i].ascii || IsValidUtf8(text)) {
        ids[first + i] = InternHashed(text, hashes[i].hash);
        continue;
      }
      const std::string valid = ToValidUtf8(text);
      ids[first + i] = InternHashed(valid, HashText(valid).hash);
      ++repaired;
    }
  }
  return repaired;
}

// There must be room for one text more.
StringId StringPool::InternHashed(std::string_view text, uint32_t hash) {
  const size_t mask = slots_.size() - 1;
  size_t at = hash & mask;
  for (; slots_[at].text != 0; at = (at + 1) & mask) {
    const uint32_t known = slots_[at].text - 1;
    if (slots_[at].hash == hash && texts_[known] == text) {
      return StringId{known};
    }
  }
  texts_.push_back(Store(text));
  const auto number = static_cast<uint32_t>(texts_.size());
  slots_[at] = {.hash = hash, .text = number};
  return StringId{number - 1};
}

void StringPool::Reserve(size_t texts) {
  if (texts * 2 <= slots_.size()) {
    return;
  }
  std::vector<Slot> grown(std::max<size_t>(1024, slots_.size() * 2));
  const size_t mask = grown.size() - 1;
  for (const Slot& slot : slots_) {
    if (slot.text == 0) {
      continue;
    }
    size_t at = slot.hash & mask;
    while (grown[at].text != 0) {
      at = (at + 1) & mask;
    }
    grown[at] = slot;
  }
  slots_ = std::move(grown);
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
