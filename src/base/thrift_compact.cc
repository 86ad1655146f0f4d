// SPDX-License-Identifier: MIT
#include "base/thrift_compact.h"

#include "base/varint.h"

namespace nsys {
namespace {

constexpr int kMaxDepth = 16;
constexpr int kLongList = 15;  // a list of that many or more has its length behind the head

uint8_t Code(ThriftType type) { return static_cast<uint8_t>(type); }

}  // namespace

void ThriftWriter::Bool(int field, bool value) {
  Field(field, value ? ThriftType::kTrue : ThriftType::kFalse);
}

void ThriftWriter::Byte(int field, int8_t value) {
  Field(field, ThriftType::kByte);
  out_.push_back(static_cast<char>(value));
}

void ThriftWriter::Text(int field, std::string_view text) {
  Field(field, ThriftType::kBinary);
  TextElement(text);
}

void ThriftWriter::BeginStruct(int field) {
  Field(field, ThriftType::kStruct);
  BeginElement();
}

void ThriftWriter::BeginList(int field, ThriftType element, size_t size) {
  Field(field, ThriftType::kList);
  if (size < kLongList) {
    out_.push_back(static_cast<char>(size << 4 | Code(element)));
  } else {
    out_.push_back(static_cast<char>(kLongList << 4 | Code(element)));
    AppendVarint(out_, size);
  }
}

void ThriftWriter::End() {
  out_.push_back(static_cast<char>(ThriftType::kStop));
  last_field_.pop_back();
}

void ThriftWriter::TextElement(std::string_view text) {
  AppendVarint(out_, text.size());
  out_.append(text);
}

void ThriftWriter::I32Element(int32_t value) { ZigZag(value); }

void ThriftWriter::Field(int field, ThriftType type) {
  const int step = field - last_field_.back();
  if (step > 0 && step < 16) {
    out_.push_back(static_cast<char>(step << 4 | Code(type)));
  } else {
    out_.push_back(static_cast<char>(type));
    ZigZag(field);
  }
  last_field_.back() = field;
}

void ThriftWriter::Number(int field, ThriftType type, int64_t value) {
  Field(field, type);
  ZigZag(value);
}

void ThriftWriter::ZigZag(int64_t value) {
  AppendVarint(out_, static_cast<uint64_t>(value) << 1 ^ static_cast<uint64_t>(value >> 63));
}

ThriftReader::Field ThriftReader::NextField(int previous) {
  Field field{.type = ThriftType::kStop, .id = previous, .header = at_, .short_form = true};
  const int head = Byte();
  field.type = static_cast<ThriftType>(head & 0xF);
  if (field.type == ThriftType::kStop) {
    return field;
  }
  if (head >> 4 != 0) {
    field.id += head >> 4;
  } else {
    field.short_form = false;
    field.id = static_cast<int>(ZigZag() & 0xFFFF);
  }
  if (!ok_) {
    field.type = ThriftType::kStop;
  }
  return field;
}

int64_t ThriftReader::ZigZag() {
  const uint64_t raw = Varint();
  return static_cast<int64_t>(raw >> 1) ^ -static_cast<int64_t>(raw & 1);
}

std::string_view ThriftReader::Text() {
  const uint64_t length = Varint();
  const size_t begin = at_;
  Advance(length);
  return ok_ ? bytes_.substr(begin, length) : std::string_view();
}

uint64_t ThriftReader::ListHead(ThriftType& type) {
  const int head = Byte();
  type = static_cast<ThriftType>(head & 0xF);
  return head >> 4 == kLongList ? Varint() : static_cast<uint64_t>(head >> 4);
}

int ThriftReader::Byte() {
  if (at_ >= bytes_.size()) {
    ok_ = false;
  }
  return ok_ ? static_cast<unsigned char>(bytes_[at_++]) : 0;
}

uint64_t ThriftReader::Varint() {
  uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    const int byte = Byte();
    value |= static_cast<uint64_t>(byte & 0x7F) << shift;
    if (byte < 0x80) {
      return ok_ ? value : 0;
    }
  }
  ok_ = false;
  return 0;
}

void ThriftReader::Advance(uint64_t count) {
  if (count > bytes_.size() - at_) {
    ok_ = false;
  }
  if (ok_) {
    at_ += count;
  }
}

void ThriftReader::Skip(ThriftType type, int depth) {
  if (depth > kMaxDepth) {
    ok_ = false;
  }
  if (!ok_) {
    return;
  }
  switch (type) {
    case ThriftType::kTrue:
    case ThriftType::kFalse:
      return;
    case ThriftType::kByte:
      Advance(1);
      return;
    case ThriftType::kI16:
    case ThriftType::kI32:
    case ThriftType::kI64:
      Varint();
      return;
    case ThriftType::kDouble:
      Advance(8);
      return;
    case ThriftType::kBinary:
      Advance(Varint());
      return;
    case ThriftType::kList:
    case ThriftType::kSet:
      SkipList(depth);
      return;
    case ThriftType::kStruct:
      SkipStruct(depth);
      return;
    default:
      ok_ = false;
  }
}

void ThriftReader::SkipList(int depth) {
  ThriftType type = ThriftType::kStop;
  const uint64_t count = ListHead(type);
  // Elements that take no byte would let a short message claim an endless list.
  if (type == ThriftType::kTrue || type == ThriftType::kFalse) {
    Advance(count);
    return;
  }
  for (uint64_t i = 0; i < count && ok_; ++i) {
    Skip(type, depth + 1);
  }
}

void ThriftReader::SkipStruct(int depth) {
  Field field;
  while (ok_) {
    field = NextField(field.id);
    if (field.type == ThriftType::kStop) {
      return;
    }
    Skip(field.type, depth + 1);
  }
}

}  // namespace nsys
