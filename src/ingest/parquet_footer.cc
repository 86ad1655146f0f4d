// SPDX-License-Identifier: MIT
#include "ingest/parquet_footer.h"

#include <cstddef>
#include <cstdint>

namespace nsys {
namespace {

// Types of Thrift's compact protocol.
constexpr int kTrue = 1, kFalse = 2, kByte = 3, kI16 = 4, kI32 = 5, kI64 = 6, kDouble = 7,
              kBinary = 8, kList = 9, kSet = 10, kStruct = 12;

// Field numbers of parquet.thrift.
constexpr int kFileSchema = 2;
constexpr int kElementType = 1, kElementConvertedType = 6, kElementLogicalType = 10;
constexpr int64_t kTypeByteArray = 6;

constexpr int kMaxDepth = 16;

// Walks a serialized message. Every step checks its bounds; after a failure `ok()` stays false.
class CompactReader {
 public:
  explicit CompactReader(std::string& bytes) : bytes_(bytes) {}

  struct Field {
    int type = 0;
    int id = 0;
    size_t header = 0;        // where its first byte is
    bool short_form = false;  // the id is a difference in the upper half of that byte
  };

  bool ok() const { return ok_; }

  // The next field of a struct whose last field was `previous`; type 0 is the end.
  Field NextField(int previous) {
    Field field{.type = 0, .id = previous, .header = at_, .short_form = true};
    const int head = Byte();
    field.type = head & 0xF;
    if (field.type == 0) {
      return field;
    }
    if (head >> 4 != 0) {
      field.id += head >> 4;
    } else {
      field.short_form = false;
      field.id = static_cast<int>(ZigZag() & 0xFFFF);
    }
    return field;
  }

  int64_t ZigZag() {
    const uint64_t raw = Varint();
    return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
  }

  uint64_t ListHead(int& type) {
    const int head = Byte();
    type = head & 0xF;
    return head >> 4 == 15 ? Varint() : static_cast<uint64_t>(head >> 4);
  }

  void Skip(int type, int depth) {
    if (depth > kMaxDepth) {
      ok_ = false;
    }
    if (!ok_) {
      return;
    }
    switch (type) {
      case kTrue:
      case kFalse:
        return;
      case kByte:
        Advance(1);
        return;
      case kI16:
      case kI32:
      case kI64:
        Varint();
        return;
      case kDouble:
        Advance(8);
        return;
      case kBinary:
        Advance(Varint());
        return;
      case kList:
      case kSet:
        SkipList(depth);
        return;
      case kStruct:
        SkipStruct(depth);
        return;
      default:
        ok_ = false;
    }
  }

 private:
  int Byte() {
    if (at_ >= bytes_.size()) {
      ok_ = false;
    }
    return ok_ ? static_cast<unsigned char>(bytes_[at_++]) : 0;
  }

  uint64_t Varint() {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const int byte = Byte();
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
    ok_ = false;
    return 0;
  }

  void Advance(uint64_t count) {
    if (count > bytes_.size() - at_) {
      ok_ = false;
    }
    if (ok_) {
      at_ += count;
    }
  }

  void SkipList(int depth) {
    int type = 0;
    const uint64_t count = ListHead(type);
    // Elements that take no byte would let a short message claim an endless list.
    const bool boolean = type == kTrue || type == kFalse;
    if (boolean) {
      Advance(count);
      return;
    }
    for (uint64_t i = 0; i < count && ok_; ++i) {
      Skip(type, depth + 1);
    }
  }

  void SkipStruct(int depth) {
    Field field;
    while (ok_) {
      field = NextField(field.id);
      if (field.type == 0) {
        return;
      }
      Skip(field.type, depth + 1);
    }
  }

  std::string& bytes_;
  size_t at_ = 0;
  bool ok_ = true;
};

// Reads one SchemaElement and hides its labels. A field header holds the difference to the previous
// field's number; making it 15 turns that field, and all that follow, into numbers that no reader
// knows and every reader skips.
void HideLabelOfElement(CompactReader& reader, std::string& footer) {
  bool bytes = false;
  bool hidden = false;
  CompactReader::Field field;
  while (reader.ok()) {
    field = reader.NextField(field.id);
    if (field.type == 0) {
      return;
    }
    const bool label = field.id == kElementConvertedType || field.id == kElementLogicalType;
    if (label && bytes && !hidden && field.short_form) {
      footer[field.header] = static_cast<char>(0xF0 | field.type);
      hidden = true;
    }
    if (field.id == kElementType && field.type == kI32) {
      bytes = reader.ZigZag() == kTypeByteArray;
    } else {
      reader.Skip(field.type, 0);
    }
  }
}

}  // namespace

bool HideTextLabels(std::string& footer) {
  CompactReader reader(footer);
  CompactReader::Field field;
  while (reader.ok()) {
    field = reader.NextField(field.id);
    if (field.type == 0) {
      return false;
    }
    if (field.id != kFileSchema || field.type != kList) {
      reader.Skip(field.type, 0);
      continue;
    }
    int type = 0;
    const uint64_t count = reader.ListHead(type);
    if (type != kStruct) {
      return false;
    }
    for (uint64_t i = 0; i < count && reader.ok(); ++i) {
      HideLabelOfElement(reader, footer);
    }
    return reader.ok();
  }
  return false;
}

}  // namespace nsys
