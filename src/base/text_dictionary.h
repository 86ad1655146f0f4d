// SPDX-License-Identifier: MIT
// Distinct texts, numbered in order of their first occurrence, in the plain form of Parquet: each
// behind its length in four bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nsys {

class TextDictionary {
 public:
  static constexpr uint32_t kFull = 0xFFFFFFFF;

  // Holds at most `capacity` texts.
  explicit TextDictionary(size_t capacity);

  void Clear();

  // The number of `text`, or kFull when it is new and there is no place.
  uint32_t Add(std::string_view text);
  // The same for a text that lives where it is, and is the same text for as long as the dictionary
  // is not cleared: most often known by its address alone.
  uint32_t AddStable(std::string_view text);

  size_t size() const { return begins_.size(); }
  // Whether it is no good: nearly every one of the `added` texts is one of its own.
  bool IsVain(size_t added) const { return size() > kFewTexts && size() > added / 2; }
  std::string_view Get(uint32_t number) const;
  const std::string& bytes() const { return bytes_; }

 private:
  static constexpr size_t kFewTexts = 1024;

  struct Slot {
    uint64_t hash = 0;
    uint32_t number = kFull;
  };
  struct StableSlot {
    const char* data = nullptr;
    size_t size = 0;
    uint32_t number = kFull;
  };

  size_t capacity_;
  std::string bytes_;
  std::vector<size_t> begins_;  // of each text in bytes_, behind its length
  std::vector<Slot> slots_;     // open addressing; a power of two, at least twice the capacity
  std::vector<StableSlot> stable_;
  size_t stable_used_ = 0;
};

// Appends the plain form of a number: lowest byte first.
template <typename T>
void AppendLittleEndian(std::string& out, T value) {
  char bytes[sizeof(T)];
  __builtin_memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

}  // namespace nsys
