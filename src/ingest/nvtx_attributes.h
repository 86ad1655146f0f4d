// SPDX-License-Identifier: MIT
// What NVTX rows carry besides their text, numbered: rows of one kind mostly carry the same.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "ingest/event_reader.h"
#include "trace/trace.h"

namespace nsys {

class AttributeNumbers {
 public:
  // Asks `reader` for the columns when `wanted`. Distinct attributes go to `to` in the order in
  // which the rows of the file show them.
  AttributeNumbers(EventReader& reader, LoadContext& context, bool wanted,
                   std::vector<NvtxAttributes>& to);

  // The place of the row's attributes in `to`, or kNoAttributes.
  uint32_t Number(const Cells& cells);

 private:
  using Value = std::variant<std::monostate, int64_t, uint64_t, double, std::string_view>;
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };

  Value Payload(const Cells& cells) const;
  Value Member(const Cells& cells, size_t member) const;
  void MakeKey(std::optional<int64_t> category, std::optional<uint32_t> color, const Value& value);

  LoadContext& context_;
  std::vector<NvtxAttributes>& to_;
  SourceColumnIndex category_ = SourceColumnIndex::kAbsent;
  SourceColumnIndex color_ = SourceColumnIndex::kAbsent;
  std::array<SourceColumnIndex, 8> members_;
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> numbers_;
  std::string key_;  // of the row at hand
};

}  // namespace nsys
