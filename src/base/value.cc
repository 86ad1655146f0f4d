// SPDX-License-Identifier: MIT
#include "base/value.h"

namespace nsys {

// Out of line: Value is incomplete where Object is declared.
Object::Object() = default;
Object::Object(std::initializer_list<Entry> entries) : entries_(entries) {}
Object::Object(const Object&) = default;
Object::Object(Object&&) noexcept = default;
Object& Object::operator=(const Object&) = default;
Object& Object::operator=(Object&&) noexcept = default;
Object::~Object() = default;

const std::vector<Object::Entry>& Object::entries() const { return entries_; }
bool Object::empty() const { return entries_.empty(); }

void Object::Set(std::string_view key, Value value) {
  for (Entry& entry : entries_) {
    if (entry.first == key) {
      entry.second = std::move(value);
      return;
    }
  }
  entries_.emplace_back(key, std::move(value));
}

const Value* Object::Find(std::string_view key) const {
  for (const Entry& entry : entries_) {
    if (entry.first == key) {
      return &entry.second;
    }
  }
  return nullptr;
}

}  // namespace nsys
