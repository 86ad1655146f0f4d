// SPDX-License-Identifier: MIT
// Room for bytes of many small things that go together.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace nsys {

// Bytes that stay where they are until Clear.
class ByteArena {
 public:
  uint8_t* Take(size_t bytes);
  size_t used() const { return used_ - left_; }
  void Clear();

 private:
  std::vector<std::unique_ptr<uint8_t[]>> blocks_;
  uint8_t* next_ = nullptr;
  size_t left_ = 0;  // in the last block
  size_t used_ = 0;  // of all blocks
};

}  // namespace nsys
