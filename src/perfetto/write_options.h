// SPDX-License-Identifier: MIT
// How an output is written, the same for all formats.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

namespace nsys::perfetto {

struct WriteOptions {
  int threads = 1;                               // the bytes do not depend on it
  size_t block_bytes = size_t{1} << 20;          // about what a thread makes at a time
  std::function<void(int64_t events)> progress;  // may be empty; called in the calling thread
};

}  // namespace nsys::perfetto
