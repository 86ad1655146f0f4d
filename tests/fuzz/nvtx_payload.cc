// SPDX-License-Identifier: MIT
// Any bytes as a payload of an NVTX range, and as the schema that describes it: every field that is
// read lies in the payload.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-nvtx_payload -max_len=512 CORPUS_FOLDER
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "target.h"
#include "trace/nvtx_payload.h"

namespace {

// Numbers off the front of the fuzzer's bytes; zeros when there are no more.
class Numbers {
 public:
  Numbers(const uint8_t* data, size_t size) : data_(data), size_(size) {}
  int64_t Next(size_t bytes) {
    uint64_t number = 0;
    for (size_t i = 0; i < bytes && size_ > 0; ++i, ++data_, --size_) {
      number |= static_cast<uint64_t>(*data_) << (8 * i);
    }
    return static_cast<int64_t>(number);
  }
  std::string_view rest() const { return {reinterpret_cast<const char*>(data_), size_}; }

 private:
  const uint8_t* data_;
  size_t size_;
};

nsys::PayloadSchema SchemaOf(Numbers& numbers) {
  nsys::PayloadSchema schema;
  schema.domain = numbers.Next(1);
  schema.id = numbers.Next(1);
  schema.type = numbers.Next(1);
  schema.bytes = numbers.Next(8);
  const int64_t fields = numbers.Next(1) % 8;
  for (int64_t i = 0; i < fields; ++i) {
    nsys::PayloadField field;
    field.index = i;
    field.flags = numbers.Next(2);
    field.type = numbers.Next(2);
    field.array_or_union = numbers.Next(1);
    if (numbers.Next(1) != 0) {
      field.offset = numbers.Next(8);
    }
    schema.fields.push_back(field);
  }
  return schema;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  Numbers numbers(data, size);
  const std::vector<nsys::PayloadSchema> schemas = {SchemaOf(numbers)};
  const nsys::PayloadReader reader(schemas);
  const std::string raw = nsys::PayloadBytes(std::string(numbers.rest()));
  const auto body = reader.Open(raw);
  if (body) {
    nsys::Require(body->bytes.empty() ||
                  (body->bytes.data() >= raw.data() &&
                   body->bytes.data() + body->bytes.size() <= raw.data() + raw.size()));
    for (size_t field = 0; field < schemas[body->schema].fields.size(); ++field) {
      static_cast<void>(reader.Field(*body, field));
    }
  }
  return 0;
}
