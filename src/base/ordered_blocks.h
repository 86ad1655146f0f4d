// SPDX-License-Identifier: MIT
// Work in blocks: several threads make blocks, one of them also takes them in their order. Memory
// stays bounded, because no block is begun that is far ahead of the one to be taken.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "base/result.h"
#include "base/threads.h"

namespace nsys {

// For each block 0 … blocks - 1: `make` fills a Block (any thread), then `take` gets it (calling
// thread, in order; it makes blocks itself while the next one is not ready, so that no more than
// `threads` work at once). A Block is used again for a later block, with whatever it holds. Returns
// the error of the first block, in their order, that `make` or `take` failed for; later ones are
// not taken. With one thread no thread is started, and where the system gives fewer, those do it.
// An exception of `make` is thrown again here.
template <typename Block>
class OrderedBlocks {
 public:
  using Make = std::function<Status(size_t block, Block& out)>;
  using Take = std::function<Status(size_t block, Block& made)>;

  static Status Run(size_t blocks, int threads, const Make& make, const Take& take) {
    if (threads <= 1 || blocks <= 1) {
      return RunAlone(blocks, make, take);
    }
    OrderedBlocks work(blocks, threads, make);
    return work.workers_.empty() ? RunAlone(blocks, make, take) : work.TakeAll(take);
  }

 private:
  // A place for one block. Block b is made in slots_[b % slots_.size()].
  struct Slot {
    Block block;
    bool made = false;
    std::optional<Error> error;
    std::exception_ptr thrown;
  };

  OrderedBlocks(size_t blocks, int threads, const Make& make)
      : blocks_(blocks),
        make_(make),
        slots_(2 * static_cast<size_t>(threads)),
        workers_(StartThreads(static_cast<size_t>(threads) - 1, [this] { Work(); })) {}
  ~OrderedBlocks() {
    {
      const std::scoped_lock lock(mutex_);
      stop_ = true;
    }
    may_make_.notify_all();
  }

  static Status RunAlone(size_t blocks, const Make& make, const Take& take) {
    Block block;
    for (size_t i = 0; i < blocks; ++i) {
      NSYS_TRY(make(i, block));
      NSYS_TRY(take(i, block));
    }
    return {};
  }

  Status TakeAll(const Take& take) {
    for (size_t i = 0; i < blocks_; ++i) {
      Slot& slot = slots_[i % slots_.size()];
      AwaitOrMake(slot);
      if (slot.thrown) {
        std::rethrow_exception(slot.thrown);
      }
      if (slot.error) {
        return *std::move(slot.error);
      }
      NSYS_TRY(take(i, slot.block));
      {
        const std::scoped_lock lock(mutex_);
        slot.made = false;
        ++taken_;
      }
      may_make_.notify_all();
    }
    return {};
  }

  // Returns when the block of `slot` is made; makes others meanwhile.
  void AwaitOrMake(const Slot& slot) {
    std::unique_lock lock(mutex_);
    while (!slot.made) {
      if (next_ == blocks_ || !HasRoom()) {
        may_take_.wait(lock);
        continue;
      }
      const size_t block = next_++;
      lock.unlock();
      MakeOne(block);
      lock.lock();
    }
  }

  void Work() {
    for (;;) {
      size_t block = 0;
      {
        std::unique_lock lock(mutex_);
        may_make_.wait(lock, [&] { return stop_ || next_ == blocks_ || HasRoom(); });
        if (stop_ || next_ == blocks_) {
          return;
        }
        block = next_++;
      }
      MakeOne(block);
    }
  }

  bool HasRoom() const { return next_ < taken_ + slots_.size(); }

  void MakeOne(size_t block) {
    Slot& slot = slots_[block % slots_.size()];
    try {
      if (Status status = make_(block, slot.block); !status.ok()) {
        slot.error = std::move(status).TakeError();
      }
    } catch (...) {
      slot.thrown = std::current_exception();
    }
    {
      const std::scoped_lock lock(mutex_);
      slot.made = true;
    }
    may_take_.notify_one();
  }

  const size_t blocks_;
  const Make& make_;
  std::vector<Slot> slots_;
  std::mutex mutex_;
  std::condition_variable may_make_;
  std::condition_variable may_take_;
  size_t next_ = 0;
  size_t taken_ = 0;
  bool stop_ = false;
  std::vector<std::jthread> workers_;  // last, so that it ends first
};

}  // namespace nsys
