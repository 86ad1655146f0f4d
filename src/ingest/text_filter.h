// SPDX-License-Identifier: MIT
// Whether the text of a row passes a test, be it in the row or in StringIds.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "ingest/event_reader.h"
#include "ingest/string_ids.h"

namespace nsys {

class TextFilter {
 public:
  using Test = std::function<bool(std::string_view)>;

  // Looks at the texts of StringIds. To be made while no other thread adds to them.
  TextFilter(LoadContext& context, Test test) : strings_(context.strings), test_(std::move(test)) {
    const std::scoped_lock lock(context.pool_mutex);
    passes_.resize(context.pool.size());
    for (uint32_t id = 0; id < passes_.size(); ++id) {
      passes_[id] = test_(context.pool.Get(StringId{id})) ? 1 : 0;
    }
  }

  // Of a row of NVTX. Any thread may ask.
  bool Passes(std::optional<std::string_view> text, std::optional<int64_t> text_id) const {
    if (text) {
      return test_(*text);
    }
    const StringId id = strings_.Find(text_id);
    return id != StringId::kNone && Index(id) < passes_.size() && passes_[Index(id)] != 0;
  }

  // The numbers in StringIds of the texts that pass, ascending.
  std::vector<int64_t> Numbers() const {
    return strings_.NumbersOf([&](StringId id) { return passes_[Index(id)] != 0; });
  }

 private:
  const StringIds& strings_;
  Test test_;
  std::vector<uint8_t> passes_;  // by StringId, of the texts of StringIds
};

}  // namespace nsys
