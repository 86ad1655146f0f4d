// SPDX-License-Identifier: MIT
#include "ingest/nvtx_attributes.h"

#include <bit>
#include <type_traits>

#include "base/text.h"

namespace nsys {
namespace {

// The members of a payload, of which a row has one at most.
enum Member : size_t { kU64, kI64, kF64, kU32, kI32, kF32, kJson, kJsonId };
constexpr std::array<std::string_view, 8> kMembers = {"uint64Value", "int64Value", "doubleValue",
                                                      "uint32Value", "int32Value", "floatValue",
                                                      "jsonText",    "jsonTextId"};

template <typename Number>
void AppendBytes(Number number, std::string& to) {
  const auto bytes = std::bit_cast<std::array<char, sizeof(Number)>>(number);
  to.append(bytes.data(), bytes.size());
}

// 32 bits, written as a signed or an unsigned number.
std::optional<uint32_t> Bits32(std::optional<int64_t> cell) {
  const bool fits = cell && *cell >= -(int64_t{1} << 31) && *cell < int64_t{1} << 32;
  return fits ? std::optional(static_cast<uint32_t>(*cell & 0xFFFFFFFF)) : std::nullopt;
}

// Whether it may stand for "no value" in exports that know no NULL.
template <typename Value>
bool IsZero(const Value& value) {
  return std::visit(
      [](const auto& one) {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, std::monostate>) {
          return true;
        } else if constexpr (std::is_same_v<One, std::string_view>) {
          return one.empty();
        } else {
          return one == One{};
        }
      },
      value);
}

}  // namespace

AttributeNumbers::AttributeNumbers(EventReader& reader, LoadContext& context, bool wanted,
                                   std::vector<NvtxAttributes>& to)
    : context_(context), to_(to) {
  members_.fill(SourceColumnIndex::kAbsent);
  if (!wanted) {
    return;
  }
  category_ = reader.Integer("category");
  color_ = reader.Integer("color");
  for (size_t i = 0; i < kMembers.size(); ++i) {
    const std::string_view name = kMembers[i];
    const bool real = i == kF64 || i == kF32;
    members_[i] = real ? reader.Real(name) : i == kJson ? reader.Text(name) : reader.Integer(name);
  }
}

AttributeNumbers::Value AttributeNumbers::Member(const Cells& cells, size_t member) const {
  const SourceColumnIndex column = members_[member];
  if (member == kF64 || member == kF32) {
    const auto real = cells.Real(column);
    return real ? Value(*real) : Value();
  }
  if (member == kJson) {
    const auto text = cells.Text(column);
    return text ? Value(*text) : Value();
  }
  const auto number = cells.Integer(column);
  if (!number) {
    return {};
  }
  switch (member) {
    case kU64:
      return static_cast<uint64_t>(*number);
    case kU32:
      return *number < 0 ? uint64_t{static_cast<uint32_t>(*number)}
                         : static_cast<uint64_t>(*number);
    case kJsonId: {
      const StringId text = context_.strings.Find(number);
      if (text == StringId::kNone) {
        return {};
      }
      const std::scoped_lock lock(context_.pool_mutex);
      return context_.pool.Get(text);
    }
    default:
      return *number;
  }
}

// The member that the row has. Exports that know no NULL fill all members: there, the one that is
// not zero.
AttributeNumbers::Value AttributeNumbers::Payload(const Cells& cells) const {
  Value found;
  bool several = false;
  for (size_t i = 0; i < members_.size(); ++i) {
    if (members_[i] == SourceColumnIndex::kAbsent) {
      continue;
    }
    Value value = Member(cells, i);
    if (std::holds_alternative<std::monostate>(value)) {
      continue;
    }
    several = several || !std::holds_alternative<std::monostate>(found);
    if (IsZero(found)) {
      found = value;
    }
  }
  return several && IsZero(found) ? Value() : found;
}

void AttributeNumbers::MakeKey(std::optional<int64_t> category, std::optional<uint32_t> color,
                               const Value& value) {
  key_.clear();
  key_ += static_cast<char>((category ? 1 : 0) | (color ? 2 : 0));
  AppendBytes(category.value_or(0), key_);
  AppendBytes(color.value_or(0), key_);
  key_ += static_cast<char>(value.index());
  std::visit(
      [&](const auto& one) {
        using One = std::decay_t<decltype(one)>;
        if constexpr (std::is_same_v<One, std::string_view>) {
          key_ += one;
        } else if constexpr (!std::is_same_v<One, std::monostate>) {
          AppendBytes(one, key_);
        }
      },
      value);
}

uint32_t AttributeNumbers::Number(const Cells& cells) {
  // Most rows carry nothing.
  bool any = cells.Has(category_) || cells.Has(color_);
  for (size_t i = 0; i < members_.size() && !any; ++i) {
    any = cells.Has(members_[i]);
  }
  if (!any) {
    return kNoAttributes;
  }
  const std::optional<int64_t> category = cells.Integer(category_);
  const std::optional<uint32_t> color = Bits32(cells.Integer(color_));
  const Value value = Payload(cells);
  if (!category && !color && std::holds_alternative<std::monostate>(value)) {
    return kNoAttributes;
  }
  MakeKey(category, color, value);
  const auto known = numbers_.find(std::string_view(key_));
  if (known != numbers_.end()) {
    return known->second;
  }
  NvtxAttributes attributes{.category = category, .color = color, .payload = {}};
  std::visit(
      [&](const auto& one) {
        if constexpr (std::is_same_v<std::decay_t<decltype(one)>, std::string_view>) {
          attributes.payload = ToValidUtf8(one);
        } else {
          attributes.payload = one;
        }
      },
      value);
  const auto number = static_cast<uint32_t>(to_.size());
  to_.push_back(std::move(attributes));
  numbers_.emplace(key_, number);
  return number;
}

}  // namespace nsys
