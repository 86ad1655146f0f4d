// SPDX-License-Identifier: MIT
#include "base/byte_arena.h"

#include <algorithm>

namespace nsys {
namespace {

constexpr size_t kBlock = size_t{1} << 18;

}  // namespace

uint8_t* ByteArena::Take(size_t bytes) {
  if (bytes > left_) {
    const size_t block = std::max(bytes, kBlock);
    blocks_.push_back(std::make_unique_for_overwrite<uint8_t[]>(block));
    next_ = blocks_.back().get();
    left_ = block;
    used_ += block;
  }
  uint8_t* const taken = next_;
  next_ += bytes;
  left_ -= bytes;
  return taken;
}

void ByteArena::Clear() {
  if (blocks_.size() == 1 && used_ == kBlock) {
    next_ = blocks_.front().get();
    left_ = kBlock;
    return;
  }
  blocks_.clear();
  left_ = used_ = 0;
}

}  // namespace nsys
