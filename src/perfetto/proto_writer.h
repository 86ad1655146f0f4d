// SPDX-License-Identifier: MIT
// Protobuf's wire format, as much of it as a Perfetto trace needs: numbers of variable length,
// 64-bit numbers, and parts behind their length. Room is made once per message, then bytes are
// stored without a look at the capacity: a trace is hundreds of millions of small fields.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>

namespace nsys::perfetto {

// The number of bytes that Varint writes.
constexpr size_t VarintSize(uint64_t value) {
  return (static_cast<size_t>(std::bit_width(value | 1)) + 6) / 7;
}

class ProtoBuffer {
 public:
  // The largest number of bytes of a tag and a number.
  static constexpr size_t kFieldBytes = 15;

  std::string_view view() const { return {bytes_.get(), size_}; }
  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  void Clear() { size_ = 0; }

  // Makes room for `bytes` more. All below need that they have it.
  void Reserve(size_t bytes) {
    if (capacity_ - size_ < bytes) {
      Grow(bytes);
    }
  }

  void Varint(uint64_t value) {
    while (value >= 0x80) {
      Byte(static_cast<char>(value | 0x80));
      value >>= 7;
    }
    Byte(static_cast<char>(value));
  }
  void Bytes(std::string_view bytes) {
    // memcpy takes no null, which an empty text has.
    std::copy(bytes.begin(), bytes.end(), bytes_.get() + size_);
    size_ += bytes.size();
  }

  // Fields. Numbers are of any integer type; a negative one takes ten bytes.
  void Uint(uint32_t field, uint64_t value) {
    Tag(field, 0);
    Varint(value);
  }
  void Int(uint32_t field, int64_t value) { Uint(field, static_cast<uint64_t>(value)); }
  void Fixed64(uint32_t field, uint64_t value) {
    Tag(field, 1);
    for (int byte = 0; byte < 8; ++byte) {
      Byte(static_cast<char>(value >> (8 * byte)));
    }
  }
  void Double(uint32_t field, double value) { Fixed64(field, std::bit_cast<uint64_t>(value)); }
  // What stands before a part of `length` bytes.
  void Length(uint32_t field, size_t length) {
    Tag(field, 2);
    Varint(length);
  }
  void Text(uint32_t field, std::string_view text) {
    Length(field, text.size());
    Bytes(text);
  }

  // A part whose length is not known yet: what is written between the two belongs to it. Most are
  // short, so one byte is left for the length and longer parts are moved.
  size_t BeginPart(uint32_t field) {
    Tag(field, 2);
    Byte(0);
    return size_;
  }
  // Needs room for another four bytes.
  void EndPart(size_t begin) {
    const size_t length = size_ - begin;
    const size_t more = VarintSize(length) - 1;
    if (more > 0) {
      std::memmove(bytes_.get() + begin + more, bytes_.get() + begin, length);
    }
    size_ = begin - 1;
    Varint(length);
    size_ += length;
  }

 private:
  void Byte(char byte) { bytes_[size_++] = byte; }
  void Tag(uint32_t field, uint32_t wire) { Varint(field << 3 | wire); }

  void Grow(size_t bytes) {
    const size_t capacity = std::max(2 * capacity_, size_ + bytes);
    auto larger = std::make_unique_for_overwrite<char[]>(capacity);
    if (size_ > 0) {
      std::copy_n(bytes_.get(), size_, larger.get());
    }
    bytes_ = std::move(larger);
    capacity_ = capacity;
  }

  std::unique_ptr<char[]> bytes_;
  size_t size_ = 0;
  size_t capacity_ = 0;
};

}  // namespace nsys::perfetto
