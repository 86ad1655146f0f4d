// SPDX-License-Identifier: MIT
// Starting threads where the system may refuse them.
#pragma once

#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace nsys {

// Starts `count` threads that run `work`, or as many as the system gives: work that is shared out
// by its order gets done by fewer threads too.
template <typename Work>
std::vector<std::jthread> StartThreads(size_t count, const Work& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  for (size_t i = 0; i < count; ++i) {
    try {
      threads.emplace_back(work);
    } catch (const std::exception&) {
      break;
    }
  }
  return threads;
}

}  // namespace nsys
