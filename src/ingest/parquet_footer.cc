// SPDX-License-Identifier: MIT
#include "ingest/parquet_footer.h"

#include <cstddef>
#include <cstdint>

#include "base/thrift_compact.h"

namespace nsys {
namespace {

// Field numbers of parquet.thrift.
constexpr int kFileSchema = 2;
constexpr int kElementType = 1, kElementConvertedType = 6, kElementLogicalType = 10;
constexpr int64_t kTypeByteArray = 6;

// Reads one SchemaElement and hides its labels. A field header holds the difference to the previous
// field's number; making it 15 turns that field, and all that follow, into numbers that no reader
// knows and every reader skips. False when the fields are not in the order of their numbers, in
// which every writer has them: then a later one could count on.
bool HideLabelOfElement(ThriftReader& reader, std::string& footer) {
  bool bytes = false;
  bool hidden = false;
  ThriftReader::Field field;
  while (reader.ok()) {
    const auto before = field.id;
    field = reader.NextField(field.id);
    if (field.type == ThriftType::kStop) {
      return true;
    }
    if (field.id <= before) {
      return false;
    }
    const bool label = field.id == kElementConvertedType || field.id == kElementLogicalType;
    if (label && bytes && !hidden && field.short_form) {
      footer[field.header] = static_cast<char>(0xF0 | static_cast<uint8_t>(field.type));
      hidden = true;
    }
    if (field.id == kElementType && field.type == ThriftType::kI32) {
      bytes = reader.ZigZag() == kTypeByteArray;
    } else {
      reader.Skip(field.type);
    }
  }
  return false;
}

}  // namespace

bool HideTextLabels(std::string& footer) {
  ThriftReader reader(footer);
  ThriftReader::Field field;
  while (reader.ok()) {
    field = reader.NextField(field.id);
    if (field.type == ThriftType::kStop) {
      return false;
    }
    if (field.id != kFileSchema || field.type != ThriftType::kList) {
      reader.Skip(field.type);
      continue;
    }
    ThriftType type = ThriftType::kStop;
    const uint64_t count = reader.ListHead(type);
    if (type != ThriftType::kStruct) {
      return false;
    }
    bool in_order = true;
    for (uint64_t i = 0; i < count && in_order; ++i) {
      in_order = HideLabelOfElement(reader, footer);
    }
    return in_order && reader.ok();
  }
  return false;
}

}  // namespace nsys
