// SPDX-License-Identifier: MIT
// A test of texts that is done once per distinct text: events are many, their names are few.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "trace/ids.h"

namespace nsys {

template <typename Test>
class OncePerText {
 public:
  explicit OncePerText(Test test) : test_(std::move(test)) {}

  // `test(id)`, remembered by id; false for kNone. The ids must be of one pool.
  bool operator()(StringId id) {
    if (id == StringId::kNone) {
      return false;
    }
    const size_t at = Index(id);
    if (at >= known_.size()) {
      known_.resize(at + 1, kUnknown);
    }
    if (known_[at] == kUnknown) {
      known_[at] = test_(id) ? kYes : kNo;
    }
    return known_[at] == kYes;
  }

 private:
  enum Known : uint8_t { kUnknown, kNo, kYes };
  Test test_;
  std::vector<Known> known_;  // by id, grown on demand
};

}  // namespace nsys
