// SPDX-License-Identifier: MIT
#include "trace/nvtx_payload.h"

#include <random>

#include <gtest/gtest.h>

namespace nsys {
namespace {

PayloadField Field(int64_t type, std::string name, std::optional<int64_t> offset = std::nullopt) {
  return {.index = 0,
          .flags = 0,
          .type = type,
          .name = std::move(name),
          .array_or_union = 0,
          .offset = offset};
}

std::string Word(uint64_t value, size_t bytes = 8) {
  std::string word;
  for (size_t i = 0; i < bytes; ++i) {
    word += static_cast<char>(value >> (8 * i) & 0xFF);
  }
  return word;
}

std::string Header(uint64_t domain, uint64_t schema, uint64_t size, uint64_t last) {
  return Word(domain) + Word(schema) + Word(size) + Word(last);
}

std::vector<PayloadSchema> Schemas() {
  return {{.domain = 1,
           .id = 5,
           .name = "",
           .type = 1,
           .bytes = 24,
           .fields = {Field(18, "id"), Field(5, "rank", 8), Field(22, "size"),
                      Field(16777232, "operation")}},
          {.domain = 2, .id = 5, .name = "", .type = 1, .bytes = 0, .fields = {Field(2, "byte")}}};
}

TEST(NvtxPayload, ReadsFieldsAtTheirPlaces) {
  const std::vector<PayloadSchema> schemas = Schemas();
  const PayloadReader reader(schemas);
  // The third field has no offset: it follows byte 12, aligned to 8.
  const std::string raw = Header(1, 5, 28, 32) + Word(0xCAFEBABE00000001) + Word(0xFFFFFFFF, 4) +
                          Word(0, 4) + Word(77) + Word(2, 4);
  const auto body = reader.Open(raw);
  ASSERT_TRUE(body);
  EXPECT_EQ(body->schema, 0U);
  EXPECT_EQ(reader.Field(*body, 0), 0xCAFEBABE00000001);
  EXPECT_EQ(reader.Field(*body, 1), static_cast<uint64_t>(int64_t{-1}));
  EXPECT_EQ(reader.Field(*body, 2), 77U);
  EXPECT_EQ(reader.Field(*body, 3), 2U);
}

TEST(NvtxPayload, SchemasAreKeyedByDomain) {
  const std::vector<PayloadSchema> schemas = Schemas();
  const PayloadReader reader(schemas);
  EXPECT_EQ(reader.Open(Header(2, 5, 1, 32) + "\x07")->schema, 1U);
  EXPECT_FALSE(reader.Open(Header(3, 5, 1, 32) + "\x07"));
  EXPECT_FALSE(reader.Open(Header(2, 6, 1, 32) + "\x07"));
}

TEST(NvtxPayload, LastWordIsAnOffsetOrTheSizeOfTheWhole) {
  const std::vector<PayloadSchema> schemas = Schemas();
  const PayloadReader reader(schemas);
  const std::string moved_bytes = Header(2, 5, 1, 35) + "abc\x09";  // bodies are views
  const auto moved = reader.Open(moved_bytes);
  ASSERT_TRUE(moved);
  EXPECT_EQ(moved->bytes, "\x09");
  const std::string total_bytes = Header(2, 5, 1, 33) + "\x08";
  const auto total = reader.Open(total_bytes);
  ASSERT_TRUE(total);
  EXPECT_EQ(total->bytes, "\x08");
  EXPECT_FALSE(reader.Open(Header(2, 5, 1, 34) + "\x08"));
  EXPECT_FALSE(reader.Open(Header(2, 5, 1, 8) + "\x08"));
}

TEST(NvtxPayload, RefusesBodiesThatAreTooShort) {
  const std::vector<PayloadSchema> schemas = Schemas();
  const PayloadReader reader(schemas);
  EXPECT_FALSE(reader.Open(""));
  EXPECT_FALSE(reader.Open(Header(1, 5, 24, 32)));
  EXPECT_FALSE(reader.Open(Header(1, 5, ~uint64_t{0}, 32) + std::string(64, 'x')));
  EXPECT_FALSE(reader.Open(Header(1, 5, 23, 32) + std::string(24, 'x')));  // schema says 24
}

TEST(NvtxPayload, FieldsOutsideTheBodyAreAbsent) {
  const std::vector<PayloadSchema> schemas = {
      {.domain = 0,
       .id = 1,
       .name = "",
       .type = 1,
       .bytes = 0,
       .fields = {Field(18, "a", -8), Field(18, "b", int64_t{1} << 60), Field(18, "c", 1),
                  Field(20, "real", 0), Field(5, "after a real"), Field(5, "d", 4)}}};
  const PayloadReader reader(schemas);
  const std::string raw = Header(0, 1, 8, 32) + std::string(8, '\1');
  const auto body = reader.Open(raw);
  ASSERT_TRUE(body);
  for (const size_t absent : {0U, 1U, 2U, 3U, 4U}) {
    EXPECT_FALSE(reader.Field(*body, absent)) << absent;
  }
  EXPECT_EQ(reader.Field(*body, 5), 0x01010101U);
}

TEST(NvtxPayload, ArraysAndPointersAreNoNumbers) {
  std::vector<PayloadSchema> schemas = Schemas();
  schemas[1].fields[0].flags = 1 << 4;
  const PayloadReader reader(schemas);
  const std::string raw = Header(2, 5, 1, 32) + "\x07";
  EXPECT_FALSE(reader.Field(*reader.Open(raw), 0));
}

TEST(NvtxPayload, HexadecimalTextIsTheSameAsBytes) {
  const std::string raw = Header(2, 5, 1, 32) + "\xAB";
  std::string hex;
  for (const char c : raw) {
    constexpr char kDigits[] = "0123456789ABCDEF";
    hex += kDigits[static_cast<uint8_t>(c) >> 4];
    hex += kDigits[static_cast<uint8_t>(c) & 15];
  }
  EXPECT_EQ(PayloadBytes(hex), raw);
  EXPECT_EQ(PayloadBytes(raw), raw);
  EXPECT_EQ(PayloadBytes("abcd"), "abcd");
  EXPECT_EQ(PayloadBytes(hex + "0"), hex + "0");
}

TEST(NvtxPayload, RandomBytesNeverReadOutside) {
  const std::vector<PayloadSchema> schemas = Schemas();
  const PayloadReader reader(schemas);
  std::mt19937_64 random(7);
  for (int round = 0; round < 20000; ++round) {
    std::string raw = Header(1 + random() % 2, 5, random() % 64, random() % 80);
    raw.resize(random() % 90, static_cast<char>(random()));
    const std::string exact(raw);  // no spare bytes behind it
    if (const auto body = reader.Open(exact)) {
      for (size_t field = 0; field < schemas[body->schema].fields.size(); ++field) {
        reader.Field(*body, field);
      }
      EXPECT_GE(body->bytes.data(), exact.data() + 32);
      EXPECT_LE(body->bytes.data() + body->bytes.size(), exact.data() + exact.size());
    }
  }
}

TEST(NvtxPayload, NormalFieldNames) {
  EXPECT_EQ(NormalFieldName("No. of ranks"), "noofranks");
  EXPECT_EQ(NormalFieldName("Message size [bytes]"), "messagesizebytes");
}

}  // namespace
}  // namespace nsys
