// SPDX-License-Identifier: MIT
// Thrift's compact protocol, the form of everything in a Parquet file that is not data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

namespace nsys {

// Types as they stand in the header of a field or a list.
enum class ThriftType : uint8_t {
  kStop = 0,
  kTrue = 1,
  kFalse = 2,
  kByte = 3,
  kI16 = 4,
  kI32 = 5,
  kI64 = 6,
  kDouble = 7,
  kBinary = 8,
  kList = 9,
  kSet = 10,
  kMap = 11,
  kStruct = 12,
};

// Writes a message behind what `out` holds. Fields of a struct go in ascending order of their
// numbers.
class ThriftWriter {
 public:
  explicit ThriftWriter(std::string& out) : out_(out) {}

  void I16(int field, int16_t value) { Number(field, ThriftType::kI16, value); }
  void I32(int field, int32_t value) { Number(field, ThriftType::kI32, value); }
  void I64(int field, int64_t value) { Number(field, ThriftType::kI64, value); }
  void Bool(int field, bool value);
  void Byte(int field, int8_t value);
  void Text(int field, std::string_view text);

  // A struct as a field; End closes it.
  void BeginStruct(int field);
  // A list as a field. Its elements follow, `size` of them.
  void BeginList(int field, ThriftType element, size_t size);
  // A struct as an element of a list, or as the whole message; End closes it.
  void BeginElement() { last_field_.push_back(0); }
  void End();

  // Elements of a list.
  void TextElement(std::string_view text);
  void I32Element(int32_t value);

 private:
  void Field(int field, ThriftType type);
  void Number(int field, ThriftType type, int64_t value);
  void ZigZag(int64_t value);

  std::string& out_;
  std::vector<int> last_field_;  // of each open struct
};

// Walks a message. Every step checks its bounds; after a failure `ok()` stays false and every
// number is 0.
class ThriftReader {
 public:
  explicit ThriftReader(std::string_view bytes) : bytes_(bytes) {}

  struct Field {
    ThriftType type = ThriftType::kStop;
    int id = 0;
    size_t header = 0;        // where its first byte is
    bool short_form = false;  // the id is a difference in the upper half of that byte
  };

  bool ok() const { return ok_; }
  size_t at() const { return at_; }
  void Fail() { ok_ = false; }

  // The next field of a struct whose last field was `previous`; kStop ends the struct, and a
  // failure does too.
  Field NextField(int previous);
  int64_t ZigZag();
  int Byte();
  std::string_view Text();
  // The head of a list: the type of its elements, and how many there are.
  uint64_t ListHead(ThriftType& type);
  void Skip(ThriftType type) { Skip(type, 0); }

 private:
  uint64_t Varint();
  void Advance(uint64_t count);
  void Skip(ThriftType type, int depth);
  void SkipList(int depth);
  void SkipStruct(int depth);

  std::string_view bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

}  // namespace nsys
