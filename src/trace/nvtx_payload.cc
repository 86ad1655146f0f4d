// SPDX-License-Identifier: MIT
#include "trace/nvtx_payload.h"

#include <algorithm>
#include <utility>

#include "base/text.h"

namespace nsys {
namespace {

constexpr size_t kHeaderBytes = 32;
// Type numbers from here on are ids of schemas and enumerations.
constexpr int64_t kFirstSchemaId = int64_t{1} << 24;
// Flags of an entry that is no plain value: pointer, offset, or one of the kinds of array.
constexpr int64_t kNotPlain = 0x7E;
// An enumeration is as wide as a C int.
constexpr size_t kEnumBytes = 4;

struct NumberType {
  size_t width;
  bool is_signed;
};

// The fixed-size whole numbers among the predefined types of NVTX payloads.
std::optional<NumberType> NumberTypeOf(int64_t type) {
  switch (type) {
    case 1:   // char
    case 11:  // int8
      return NumberType{.width = 1, .is_signed = true};
    case 2:   // unsigned char
    case 12:  // uint8
      return NumberType{.width = 1, .is_signed = false};
    case 3:   // short
    case 13:  // int16
      return NumberType{.width = 2, .is_signed = true};
    case 4:   // unsigned short
    case 14:  // uint16
      return NumberType{.width = 2, .is_signed = false};
    case 5:   // int
    case 15:  // int32
      return NumberType{.width = 4, .is_signed = true};
    case 6:   // unsigned int
    case 16:  // uint32
      return NumberType{.width = 4, .is_signed = false};
    case 7:   // long
    case 9:   // long long
    case 17:  // int64
      return NumberType{.width = 8, .is_signed = true};
    case 8:   // unsigned long
    case 10:  // unsigned long long
    case 18:  // uint64
    case 22:  // size_t
    case 23:  // address
      return NumberType{.width = 8, .is_signed = false};
    default:
      return std::nullopt;
  }
}

// `bytes` must hold `width` bytes from `at` on.
uint64_t LittleEndian(std::string_view bytes, size_t at, size_t width) {
  uint64_t value = 0;
  for (size_t i = width; i > 0; --i) {
    value = value << 8 | static_cast<uint8_t>(bytes[at + i - 1]);
  }
  return value;
}

int HexDigit(char c) {
  if (IsDigit(c)) {
    return c - '0';
  }
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? lower - 'a' + 10 : -1;
}

// Where the body begins, given the last word of the header; nothing when it would not fit.
std::optional<size_t> BodyOffset(size_t total, uint64_t size, uint64_t last_word) {
  if (last_word >= kHeaderBytes && last_word <= total && size <= total - last_word) {
    return static_cast<size_t>(last_word);
  }
  const bool is_total = last_word == total && size <= total - kHeaderBytes;
  return is_total ? std::optional(kHeaderBytes) : std::nullopt;
}

}  // namespace

PayloadReader::PayloadReader(const std::vector<PayloadSchema>& schemas) : schemas_(schemas) {
  places_.reserve(schemas.size());
  for (const PayloadSchema& schema : schemas) {
    places_.push_back(Layout(schema));
  }
}

// A field without an offset follows the one before it, aligned to its own width. Behind a field of
// unknown width only fields with an offset have a place.
std::vector<PayloadReader::Place> PayloadReader::Layout(const PayloadSchema& schema) const {
  std::vector<Place> places(schema.fields.size());
  std::optional<size_t> next = 0;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    const PayloadField& field = schema.fields[i];
    std::optional<NumberType> number = NumberTypeOf(field.type);
    const bool nested = field.type >= kFirstSchemaId && Find(static_cast<uint64_t>(schema.domain),
                                                             static_cast<uint64_t>(field.type));
    if (field.type >= kFirstSchemaId && !nested) {
      number = NumberType{.width = kEnumBytes, .is_signed = false};
    }
    if ((field.flags & kNotPlain) != 0) {
      number.reset();
    }
    std::optional<size_t> offset;
    if (field.offset) {
      constexpr int64_t kLargest = int64_t{1} << 32;
      const bool sane = *field.offset >= 0 && *field.offset < kLargest;
      offset = sane ? std::optional(static_cast<size_t>(*field.offset)) : std::nullopt;
    } else if (next && number) {
      offset = (*next + number->width - 1) / number->width * number->width;
    }
    if (offset && number) {
      places[i] = {.offset = *offset, .width = number->width, .is_signed = number->is_signed};
      next = *offset + number->width;
    } else {
      next.reset();
    }
  }
  return places;
}

const PayloadSchema* PayloadReader::Find(uint64_t domain, uint64_t id) const {
  const std::pair key(static_cast<int64_t>(domain), static_cast<int64_t>(id));
  const auto at = std::lower_bound(schemas_.begin(), schemas_.end(), key,
                                   [](const PayloadSchema& schema, const auto& wanted) {
                                     return std::pair(schema.domain, schema.id) < wanted;
                                   });
  const bool found = at != schemas_.end() && at->domain == key.first && at->id == key.second;
  return found ? &*at : nullptr;
}

std::optional<PayloadBody> PayloadReader::Open(std::string_view raw) const {
  if (raw.size() < kHeaderBytes) {
    return std::nullopt;
  }
  const uint64_t domain = LittleEndian(raw, 0, 8);
  const uint64_t id = LittleEndian(raw, 8, 8);
  const uint64_t size = LittleEndian(raw, 16, 8);
  const PayloadSchema* schema = Find(domain, id);
  if (schema == nullptr) {  // both are 32-bit words before padding that need not be zero
    schema = Find(domain & 0xFFFFFFFF, id & 0xFFFFFFFF);
  }
  const std::optional<size_t> offset = BodyOffset(raw.size(), size, LittleEndian(raw, 24, 8));
  if (schema == nullptr || !offset) {
    return std::nullopt;
  }
  if (schema->bytes > 0 && size < static_cast<uint64_t>(schema->bytes)) {
    return std::nullopt;
  }
  return PayloadBody{.schema = static_cast<size_t>(schema - schemas_.data()),
                     .bytes = raw.substr(*offset, static_cast<size_t>(size))};
}

std::optional<uint64_t> PayloadReader::Field(const PayloadBody& body, size_t field) const {
  const Place& place = places_[body.schema][field];
  const size_t size = body.bytes.size();
  if (place.width == 0 || place.width > size || place.offset > size - place.width) {
    return std::nullopt;
  }
  uint64_t value = LittleEndian(body.bytes, place.offset, place.width);
  const size_t unused_bits = 64 - 8 * place.width;
  if (place.is_signed && unused_bits > 0 && (value >> (8 * place.width - 1) & 1) != 0) {
    value |= ~uint64_t{0} << (8 * place.width);
  }
  return value;
}

std::string PayloadBytes(std::string payload) {
  const bool is_hex =
      payload.size() >= 2 * kHeaderBytes && payload.size() % 2 == 0 &&
      std::all_of(payload.begin(), payload.end(), [](char c) { return HexDigit(c) >= 0; });
  if (!is_hex) {
    return payload;
  }
  std::string bytes(payload.size() / 2, '\0');
  for (size_t i = 0; i < bytes.size(); ++i) {
    bytes[i] = static_cast<char>(HexDigit(payload[2 * i]) << 4 | HexDigit(payload[2 * i + 1]));
  }
  return bytes;
}

std::string NormalFieldName(std::string_view name) {
  std::string normal;
  for (const char c : name) {
    if (c >= 'A' && c <= 'Z') {
      normal += static_cast<char>(c - 'A' + 'a');
    } else if (IsLetter(c) || IsDigit(c)) {
      normal += c;
    }
  }
  return normal;
}

}  // namespace nsys
