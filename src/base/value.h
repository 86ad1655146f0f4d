// SPDX-License-Identifier: MIT
// Value: what a cell of a result holds. An ordered tree of null, boolean, integer, real, text, list
// and object; the order of an object's keys is part of the result, since it is printed. An integer
// of more than 64 bits is kept as its decimal digits.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace nsys {

class Value;
using List = std::vector<Value>;

// Keys in declared order; Set appends, or replaces the value of a key that is there.
class Object {
 public:
  using Entry = std::pair<std::string, Value>;

  Object();
  Object(std::initializer_list<Entry> entries);
  Object(const Object&);
  Object(Object&&) noexcept;
  Object& operator=(const Object&);
  Object& operator=(Object&&) noexcept;
  ~Object();

  void Set(std::string_view key, Value value);
  // The value of `key`, or null when the object has none. Valid until the object changes.
  const Value* Find(std::string_view key) const;
  const std::vector<Entry>& entries() const;
  bool empty() const;

 private:
  std::vector<Entry> entries_;
};

// A whole number too large for int64_t, as decimal digits; printed without quotes.
struct BigInteger {
  std::string digits;
  bool operator==(const BigInteger&) const = default;
};

class Value {
 public:
  Value() = default;  // null
  // Implicit on purpose.
  // NOLINTBEGIN(google-explicit-constructor)
  Value(std::nullptr_t) {}
  Value(bool value) : data_(value) {}
  Value(int value) : data_(static_cast<int64_t>(value)) {}
  Value(int64_t value) : data_(value) {}
  Value(size_t value) : data_(static_cast<int64_t>(value)) {}
  Value(double value) : data_(value) {}
  Value(std::optional<int64_t> value) {
    if (value) {
      data_ = *value;
    }
  }
  Value(std::optional<double> value) {
    if (value) {
      data_ = *value;
    }
  }
  Value(BigInteger value) : data_(std::move(value)) {}
  Value(const char* value) : data_(std::string(value)) {}
  Value(std::string_view value) : data_(std::string(value)) {}
  Value(std::string value) : data_(std::move(value)) {}
  Value(List value) : data_(std::move(value)) {}
  Value(Object value) : data_(std::move(value)) {}
  // NOLINTEND(google-explicit-constructor)

  // A whole number of 64 bits without a sign: an integer where it fits.
  static Value Unsigned(uint64_t value) {
    if (value <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
      return Value(static_cast<int64_t>(value));
    }
    return Value(BigInteger{std::to_string(value)});
  }

  bool is_null() const { return std::holds_alternative<std::monostate>(data_); }
  const bool* AsBool() const { return std::get_if<bool>(&data_); }
  const int64_t* AsInt() const { return std::get_if<int64_t>(&data_); }
  const BigInteger* AsBigInteger() const { return std::get_if<BigInteger>(&data_); }
  const double* AsDouble() const { return std::get_if<double>(&data_); }
  const std::string* AsText() const { return std::get_if<std::string>(&data_); }
  const List* AsList() const { return std::get_if<List>(&data_); }
  const Object* AsObject() const { return std::get_if<Object>(&data_); }

 private:
  std::variant<std::monostate, bool, int64_t, double, std::string, List, Object, BigInteger> data_;
};

}  // namespace nsys
