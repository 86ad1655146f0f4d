// SPDX-License-Identifier: MIT
#include "base/ordered_blocks.h"

#include <atomic>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace nsys {
namespace {

using Blocks = OrderedBlocks<std::vector<size_t>>;

Error Fault(const std::string& message) { return {.code = ErrorCode::kOutput, .message = message}; }

TEST(OrderedBlocksTest, EveryBlockIsTakenOnceAndInOrder) {
  for (const int threads : {-1, 0, 1, 2, 7}) {
    for (const size_t blocks : {0U, 1U, 2U, 3U, 500U}) {
      std::vector<size_t> taken;
      const auto caller = std::this_thread::get_id();
      const Status status = Blocks::Run(
          blocks, threads,
          [](size_t block, std::vector<size_t>& out) {
            out.assign(3, block);
            return Status();
          },
          [&](size_t block, std::vector<size_t>& made) {
            EXPECT_EQ(made, std::vector<size_t>(3, block));
            EXPECT_EQ(std::this_thread::get_id(), caller);
            taken.push_back(block);
            return Status();
          });
      ASSERT_TRUE(status.ok());
      ASSERT_EQ(taken.size(), blocks);
      for (size_t i = 0; i < blocks; ++i) {
        EXPECT_EQ(taken[i], i);
      }
    }
  }
}

TEST(OrderedBlocksTest, SeveralThreadsMake) {
  // Each of the first two blocks waits for the other to have begun.
  std::atomic<int> begun = 0;
  const Status status = Blocks::Run(
      2, 2,
      [&](size_t, std::vector<size_t>&) {
        ++begun;
        while (begun < 2) {
          std::this_thread::yield();
        }
        return Status();
      },
      [](size_t, std::vector<size_t>&) { return Status(); });
  EXPECT_TRUE(status.ok());
}

TEST(OrderedBlocksTest, NoBlockIsMadeFarAhead) {
  constexpr int kThreads = 3;
  std::atomic<size_t> taken = 0;
  std::atomic<size_t> farthest = 0;
  const Status status = Blocks::Run(
      300, kThreads,
      [&](size_t block, std::vector<size_t>&) {
        const size_t ahead = block - taken;
        size_t seen = farthest;
        while (ahead > seen && !farthest.compare_exchange_weak(seen, ahead)) {
        }
        return Status();
      },
      [&](size_t block, std::vector<size_t>&) {
        if (block == 0) {
          std::this_thread::yield();
        }
        ++taken;
        return Status();
      });
  EXPECT_TRUE(status.ok());
  EXPECT_LE(farthest, 2U * kThreads);  // `taken` counts before the place is free
}

TEST(OrderedBlocksTest, TheFirstErrorInTheOrderOfTheBlocksIsReturned) {
  for (const int threads : {1, 2, 7}) {
    std::vector<size_t> taken;
    const Status status = Blocks::Run(
        100, threads,
        [](size_t block, std::vector<size_t>&) {
          return block >= 5 ? Status(Fault("make " + std::to_string(block))) : Status();
        },
        [&](size_t block, std::vector<size_t>&) {
          taken.push_back(block);
          return Status();
        });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "make 5");
    EXPECT_EQ(taken, (std::vector<size_t>{0, 1, 2, 3, 4}));
  }
}

TEST(OrderedBlocksTest, AnErrorOfTakeEndsTheWork) {
  for (const int threads : {1, 2, 7}) {
    size_t taken = 0;
    const Status status = Blocks::Run(
        100, threads, [](size_t, std::vector<size_t>&) { return Status(); },
        [&](size_t block, std::vector<size_t>&) {
          ++taken;
          return block == 3 ? Status(Fault("take")) : Status();
        });
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.error().message, "take");
    EXPECT_EQ(taken, 4U);
  }
}

TEST(OrderedBlocksTest, AnExceptionOfMakeIsThrownAgain) {
  for (const int threads : {1, 2, 7}) {
    size_t taken = 0;
    const auto run = [&] {
      return Blocks::Run(
          100, threads,
          [](size_t block, std::vector<size_t>&) {
            if (block == 4) {
              throw std::runtime_error("four");
            }
            return Status();
          },
          [&](size_t, std::vector<size_t>&) {
            ++taken;
            return Status();
          });
    };
    try {
      (void)run();
      ADD_FAILURE() << "nothing was thrown";
    } catch (const std::runtime_error& error) {
      EXPECT_STREQ(error.what(), "four");
    }
    EXPECT_EQ(taken, 4U);
  }
}

}  // namespace
}  // namespace nsys
