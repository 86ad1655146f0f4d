// SPDX-License-Identifier: MIT
// Interned texts: equal bytes have equal ids, so comparing names never touches characters.
// Texts are stored back to back in large blocks; views stay valid as long as the pool lives.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "trace/ids.h"

namespace nsys {

class StringPool {
 public:
  // The id of `text`, adding it when it is new. Amortised O(length). Not thread-safe.
  StringId Intern(std::string_view text);

  // The text of `id`, which must come from this pool and not be kNone.
  std::string_view Get(StringId id) const { return texts_[Index(id)]; }

  // Number of distinct texts; ids are 0 … size() - 1 in order of their first Intern.
  size_t size() const { return texts_.size(); }

 private:
  void Grow();
  std::string_view Store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::vector<uint32_t> slots_;   // open addressing: index into texts_ plus one, 0 = free
  std::vector<uint32_t> hashes_;  // per text, so that growing never reads characters
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_free_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace nsys
