// SPDX-License-Identifier: MIT
// Binary payloads of NVTX ranges: which schema describes one, and the numbers in it. The bytes come
// from a file and may say anything; nothing outside them is ever read.
//
// A payload begins with four little-endian 64-bit words: domain, schema, size of the body, and
// where the body begins. Some exporters write the size of the whole there instead of an offset.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "trace/trace.h"

namespace nsys {

// The body of a payload, and the schema that describes it.
struct PayloadBody {
  size_t schema = 0;  // row of the schemas
  std::string_view bytes;
};

class PayloadReader {
 public:
  // `schemas` must outlive the reader; ordered by (domain, id).
  explicit PayloadReader(const std::vector<PayloadSchema>& schemas);

  // The body of `raw`, which has no hexadecimal form: nothing when the header is damaged, the
  // schema is not known, or the body is shorter than the header or the schema says. Views `raw`.
  std::optional<PayloadBody> Open(std::string_view raw) const;

  // The whole number in a field; signed ones with their sign. Nothing for fields that are no single
  // number (texts, arrays, pointers, reals) and for those that do not lie within the body.
  std::optional<uint64_t> Field(const PayloadBody& body, size_t field) const;

 private:
  struct Place {
    size_t offset = 0;
    size_t width = 0;  // 0: no number that can be read
    bool is_signed = false;
  };
  std::vector<Place> Layout(const PayloadSchema& schema) const;
  const PayloadSchema* Find(uint64_t domain, uint64_t id) const;

  const std::vector<PayloadSchema>& schemas_;
  std::vector<std::vector<Place>> places_;  // by schema, by field
};

// Some exports write payloads as hexadecimal digits. The bytes of `payload`: itself unless all of
// it is such digits.
std::string PayloadBytes(std::string payload);

// A field's name in lower case without anything but letters and digits: "No. of ranks" is
// "noofranks".
std::string NormalFieldName(std::string_view name);

}  // namespace nsys
