// SPDX-License-Identifier: MIT
#include "base/threads.h"

#include <atomic>
#include <system_error>

#include <gtest/gtest.h>

namespace nsys {
namespace {

TEST(Threads, AllRunAndAreJoined) {
  std::atomic<int> runs = 0;
  {
    const auto threads = StartThreads(3, [&] { ++runs; });
    EXPECT_EQ(threads.size(), 3U);
  }
  EXPECT_EQ(runs, 3);
}

TEST(Threads, TheSystemMayGiveFewer) {
  std::atomic<int> copies = 0;
  // A thread whose start fails, as the second here, ends the attempts.
  struct Work {
    explicit Work(std::atomic<int>& made) : made_(&made) {}
    Work(const Work& other) : made_(other.made_) {
      if (++*made_ == 2) {
        throw std::system_error(std::make_error_code(std::errc::resource_unavailable_try_again));
      }
    }
    void operator()() const {}
    std::atomic<int>* made_;
  };
  EXPECT_EQ(StartThreads(5, Work(copies)).size(), 1U);
}

}  // namespace
}  // namespace nsys
