// SPDX-License-Identifier: MIT
// Interned texts: equal bytes have equal ids, so comparing names never touches characters. All of
// them are UTF-8: U+FFFD stands for bytes that are none.
// Texts are stored back to back in large blocks; views stay valid as long as the pool lives.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "trace/ids.h"

namespace nsys {

class StringPool {
 public:
  // The id of `text`, adding it when it is new. Amortised O(length). Not thread-safe.
  StringId Intern(std::string_view text);

  // The same for each of `texts` in their order; faster than one by one when the pool is large.
  // `ids` has room for them. Returns how many texts were not UTF-8.
  int64_t InternAll(std::span<const std::string_view> texts, std::span<StringId> ids);

  // The text of `id`, which must come from this pool and not be kNone.
  std::string_view Get(StringId id) const { return texts_[Index(id)]; }

  // Number of distinct texts; ids are 0 … size() - 1 in order of their first Intern.
  size_t size() const { return texts_.size(); }

 private:
  // A place of the table by hash; free ones have the text 0.
  struct Slot {
    uint32_t hash = 0;
    uint32_t text = 0;  // index into texts_ plus one
  };

  void Reserve(size_t texts);
  StringId InternHashed(std::string_view text, uint32_t hash);
  std::string_view Store(std::string_view text);

  std::vector<std::string_view> texts_;
  std::vector<Slot> slots_;  // open addressing, at most half full
  std::vector<std::unique_ptr<char[]>> blocks_;
  size_t block_free_ = 0;
  char* block_next_ = nullptr;
};

}  // namespace nsys
