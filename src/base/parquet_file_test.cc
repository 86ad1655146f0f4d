// SPDX-License-Identifier: MIT
#include "base/parquet_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>
#include <random>
#include <string>
#include <vector>

#include "base/parquet_encoder.h"
#include "parquet_reader.h"

namespace nsys {
namespace {

using testing::ParquetCell;
using testing::ParquetReader;

constexpr int64_t kPlain = 0, kDictionary = 8;  // encodings of pages

class ParquetFileTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = std::filesystem::temp_directory_path() / "parquet_file_testXXXXXX";
    folder_ = mkdtemp(name.data());
    path_ = folder_ / "t.parquet";
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  // Writes row groups of the given sizes; `encode(encoder, group)` gives their columns.
  template <typename Encode>
  void Write(const ParquetSchema& schema, const std::vector<size_t>& groups, const Encode& encode) {
    auto sink = OpenPlainSink(path_);
    ASSERT_TRUE(sink.ok());
    ParquetFile file(schema, *sink.value());
    ASSERT_TRUE(file.Begin().ok());
    ParquetEncoder encoder(schema);
    ParquetRowGroup group;
    for (size_t i = 0; i < groups.size(); ++i) {
      encoder.Begin(groups[i]);
      encode(encoder, i);
      encoder.End(*sink.value(), group);
      ASSERT_TRUE(file.Take(group).ok());
    }
    ASSERT_TRUE(file.End().ok());
    ASSERT_TRUE(sink.value()->Finish().ok());
    const auto rows = std::accumulate(groups.begin(), groups.end(), size_t{0});
    EXPECT_EQ(file.rows(), static_cast<int64_t>(rows));
    EXPECT_TRUE(CheckParquetFooter(path_, static_cast<int64_t>(rows)).ok());
  }

  std::filesystem::path folder_;
  std::string path_;
};

TEST_F(ParquetFileTest, NumbersOfEveryTypeWithAndWithoutNull) {
  const ParquetSchema schema = {{"i", ParquetType::kInt64},
                                {"u", ParquetType::kUint64, true},
                                {"w", ParquetType::kUint32, true},
                                {"d", ParquetType::kDouble, true}};
  const std::vector<int64_t> integers = {std::numeric_limits<int64_t>::min(), 0,
                                         std::numeric_limits<int64_t>::max()};
  const std::vector<int64_t> numbers = {-1, 7, 5};
  const std::vector<double> doubles = {0.25, -1.5, 3e300};
  const std::vector<uint8_t> present = {1, 0, 1};
  Write(schema, {3}, [&](ParquetEncoder& encoder, size_t) {
    encoder.Integers(integers);
    encoder.Integers(numbers, present);
    encoder.Integers(numbers, present);
    encoder.Doubles(doubles, present);
  });
  const ParquetReader file(path_);
  EXPECT_EQ(file["i"].cells, (std::vector<ParquetCell>{integers[0], integers[1], integers[2]}));
  EXPECT_EQ(file["u"].cells, (std::vector<ParquetCell>{int64_t{-1}, {}, int64_t{5}}));
  EXPECT_EQ(file["w"].cells, (std::vector<ParquetCell>{int64_t{0xFFFFFFFF}, {}, int64_t{5}}));
  EXPECT_EQ(file["d"].cells, (std::vector<ParquetCell>{0.25, {}, 3e300}));
}

TEST_F(ParquetFileTest, FooterSaysTypesAndRanges) {
  const ParquetSchema schema = {{"u", ParquetType::kUint64, true},
                                {"w", ParquetType::kUint32},
                                {"t", ParquetType::kText},
                                {"d", ParquetType::kDouble}};
  const std::vector<int64_t> numbers = {-1, 7, 5};
  const std::vector<uint8_t> present = {1, 0, 1};
  const std::vector<double> doubles = {2, 0, 1};
  Write(schema, {3}, [&](ParquetEncoder& encoder, size_t) {
    encoder.Integers(numbers, present);
    encoder.Integers(numbers);
    encoder.Constant("x");
    encoder.Doubles(doubles);
  });
  const ParquetReader file(path_);
  const testing::ThriftNode& footer = file.footer();
  EXPECT_EQ(footer[1].number, 1);
  EXPECT_EQ(footer[6].text, "nsys-ai");
  const auto& schema_list = footer[2].list;
  ASSERT_EQ(schema_list.size(), 5U);
  EXPECT_EQ(schema_list[0][5].number, 4);
  EXPECT_EQ(schema_list[1][1].number, 2);           // INT64
  EXPECT_EQ(schema_list[1][3].number, 1);           // optional
  EXPECT_EQ(schema_list[1][6].number, 14);          // UINT_64
  EXPECT_EQ(schema_list[1][10][10][1].number, 64);  // of 64 bits
  EXPECT_EQ(schema_list[1][10][10][2].number, 0);   // not signed
  EXPECT_EQ(schema_list[2][1].number, 1);           // INT32
  EXPECT_EQ(schema_list[2][3].number, 0);           // required
  EXPECT_EQ(schema_list[2][6].number, 13);          // UINT_32
  EXPECT_EQ(schema_list[3][1].number, 6);           // BYTE_ARRAY
  EXPECT_EQ(schema_list[3][6].number, 0);           // UTF8
  EXPECT_TRUE(schema_list[3][10].Has(1));           // STRING
  EXPECT_EQ(schema_list[4][1].number, 5);           // DOUBLE
  EXPECT_FALSE(schema_list[4].Has(6));

  const auto& columns = footer[4].list[0][1].list;
  const auto bytes = [](const testing::ThriftNode& node) {
    uint64_t value = 0;
    std::memcpy(&value, node.text.data(), node.text.size());
    return value;
  };
  EXPECT_EQ(columns[0][3][12][3].number, 1);             // one NULL
  EXPECT_EQ(bytes(columns[0][3][12][5]), ~uint64_t{0});  // the largest, without a sign
  EXPECT_EQ(bytes(columns[0][3][12][6]), 5U);
  EXPECT_EQ(bytes(columns[1][3][12][5]), 0xFFFFFFFFU);
  EXPECT_EQ(columns[2][3][12][5].text, "x");
  double min = 1;
  std::memcpy(&min, columns[3][3][12][6].text.data(), sizeof min);
  EXPECT_TRUE(min == 0 && std::signbit(min));
}

TEST_F(ParquetFileTest, WithoutRowsThereIsNoRowGroup) {
  Write({{"a", ParquetType::kText}, {"b", ParquetType::kDouble}}, {},
        [](ParquetEncoder&, size_t) {});
  const ParquetReader file(path_);
  EXPECT_EQ(file.rows(), 0);
  EXPECT_EQ(file.row_groups(), 0U);
  EXPECT_EQ(file.columns().size(), 2U);
  EXPECT_FALSE(CheckParquetFooter(path_, 1).ok());
}

TEST_F(ParquetFileTest, TextsWithNullByteAndBeyondAscii) {
  const std::vector<std::string> texts = {std::string("a\0b", 3), "", "zäh \xF0\x9F\x9A\x80", "\""};
  const std::vector<uint8_t> present = {1, 1, 1, 0};
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  const ParquetSchema schema = {{"plain", ParquetType::kText, true},
                                {"names", ParquetType::kText},
                                {"repeated", ParquetType::kText}};
  Write(schema, {4}, [&](ParquetEncoder& encoder, size_t) {
    const auto put = [&](TextWriter& out, size_t row) { out.Put(views[row]); };
    encoder.Texts(put, present);
    encoder.Names(views);
    encoder.RepeatedTexts(put);
  });
  const ParquetReader file(path_);
  const std::vector<ParquetCell> all(texts.begin(), texts.end());
  EXPECT_EQ(file["plain"].cells, (std::vector<ParquetCell>{all[0], all[1], all[2], {}}));
  EXPECT_EQ(file["names"].cells, all);
  EXPECT_EQ(file["repeated"].cells, all);
  EXPECT_EQ(file["plain"].pages.size(), 1U);
  EXPECT_EQ(file["names"].pages.size(), 2U);
  EXPECT_EQ(file["names"].pages[1].encoding, kDictionary);
}

TEST_F(ParquetFileTest, NullsAndConstants) {
  const ParquetSchema schema = {{"c", ParquetType::kText},
                                {"n", ParquetType::kText, true},
                                {"m", ParquetType::kUint64, true},
                                {"o", ParquetType::kText, true}};
  Write(schema, {1, 1000}, [](ParquetEncoder& encoder, size_t group) {
    encoder.Constant(group == 0 ? "one" : "two");
    encoder.Nulls();
    encoder.Nulls();
    encoder.Constant("always");
  });
  const ParquetReader file(path_);
  EXPECT_EQ(file.rows(), 1001);
  std::vector<ParquetCell> expected(1001, "two");
  expected[0] = "one";
  EXPECT_EQ(file["c"].cells, expected);
  EXPECT_EQ(file["n"].cells, std::vector<ParquetCell>(1001));
  EXPECT_EQ(file["m"].cells, std::vector<ParquetCell>(1001));
  EXPECT_EQ(file["o"].cells, std::vector<ParquetCell>(1001, "always"));
}

// The names of two row groups: few in the first, all different in the second.
TEST_F(ParquetFileTest, DictionaryWhereItPays) {
  constexpr size_t kRows = 5000;
  std::vector<std::string> texts;
  for (size_t i = 0; i < kRows; ++i) {
    texts.push_back("name " + std::to_string(i));
  }
  const auto text_of = [&](size_t group, size_t row) {
    return std::string_view(texts[group == 0 ? row * row % 300 : row]);
  };
  const ParquetSchema schema = {{"names", ParquetType::kText}, {"repeated", ParquetType::kText}};
  Write(schema, {kRows, kRows}, [&](ParquetEncoder& encoder, size_t group) {
    std::vector<std::string_view> names;
    for (size_t row = 0; row < kRows; ++row) {
      names.push_back(text_of(group, row));
    }
    encoder.Names(names);
    encoder.RepeatedTexts([&](TextWriter& out, size_t row) { out.Put(names[row]); });
  });
  const ParquetReader file(path_);
  for (const auto* name : {"names", "repeated"}) {
    ASSERT_EQ(file[name].cells.size(), 2 * kRows);
    for (size_t i = 0; i < 2 * kRows; ++i) {
      ASSERT_EQ(file[name].cells[i], ParquetCell(std::string(text_of(i / kRows, i % kRows))));
    }
    ASSERT_EQ(file[name].pages.size(), 3U);
    EXPECT_EQ(file[name].pages[1].encoding, kDictionary);
    EXPECT_EQ(file[name].pages[2].encoding, kPlain);
  }
}

// A text of its own for every address, though the texts are equal.
TEST_F(ParquetFileTest, DictionaryHoldsEqualTextsOnce) {
  const std::vector<std::string> texts(100, "the same text, each at a place of its own");
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  Write({{"names", ParquetType::kText}}, {100},
        [&](ParquetEncoder& encoder, size_t) { encoder.Names(views); });
  const ParquetReader file(path_);
  EXPECT_EQ(file["names"].pages[0].values, 1);
  EXPECT_EQ(file["names"].cells, std::vector<ParquetCell>(100, texts[0]));
}

TEST_F(ParquetFileTest, FewIntegersTakeDictionary) {
  const ParquetSchema schema = {{"few", ParquetType::kInt64},
                                {"few_unsigned", ParquetType::kUint64, true},
                                {"many", ParquetType::kInt64},
                                {"narrow", ParquetType::kUint32}};
  std::vector<int64_t> few;
  std::vector<int64_t> many;
  for (int64_t i = 0; i < 100; ++i) {
    few.push_back(i * i % 5 - 1);
    many.push_back(i);
  }
  Write(schema, {100}, [&](ParquetEncoder& encoder, size_t) {
    encoder.RepeatedIntegers(few);
    encoder.RepeatedIntegers(few);
    encoder.RepeatedIntegers(many);
    encoder.RepeatedIntegers(few);
  });
  const ParquetReader file(path_);
  const std::vector<ParquetCell> cells(few.begin(), few.end());
  EXPECT_EQ(file["few"].cells, cells);
  EXPECT_EQ(file["few"].pages[1].encoding, kDictionary);
  EXPECT_EQ(file["few_unsigned"].cells, cells);
  EXPECT_EQ(file["many"].cells, std::vector<ParquetCell>(many.begin(), many.end()));
  EXPECT_EQ(file["many"].pages[0].encoding, kPlain);
  EXPECT_EQ(file["narrow"].cells[0], ParquetCell(int64_t{0xFFFFFFFF}));
  const auto& columns = file.footer()[4].list[0][1].list;
  EXPECT_EQ(columns[0][3][12][6].text, std::string(8, '\xFF'));  // the smallest is -1
  EXPECT_EQ(columns[1][3][12][5].text, std::string(8, '\xFF'));  // the same bits are the largest
}

TEST_F(ParquetFileTest, SameColumnTwice) {
  Write(
      {{"a", ParquetType::kDouble},
       {"t", ParquetType::kText},
       {"b", ParquetType::kDouble},
       {"u", ParquetType::kText}},
      {3, 2}, [&](ParquetEncoder& encoder, size_t group) {
        encoder.Doubles(std::vector<double>(group == 0 ? 3 : 2, 0.5 + static_cast<double>(group)));
        encoder.Constant("text");
        encoder.SameAs(0);
        encoder.SameAs(1);
      });
  const ParquetReader file(path_);
  EXPECT_EQ(file["b"].cells, (std::vector<ParquetCell>{0.5, 0.5, 0.5, 1.5, 1.5}));
  EXPECT_EQ(file["b"].cells, file["a"].cells);
  EXPECT_EQ(file["u"].cells, std::vector<ParquetCell>(5, "text"));
}

TEST_F(ParquetFileTest, LongTextsTakeSeveralPages) {
  constexpr size_t kRows = 1000;
  std::vector<uint8_t> present;
  for (size_t row = 0; row < kRows; ++row) {
    present.push_back(row % 7 != 3 ? 1 : 0);
  }
  const auto text_of = [](size_t row) {
    return std::string(3000 + row, static_cast<char>(row % 90 + 32));
  };
  Write({{"t", ParquetType::kText, true}, {"r", ParquetType::kText}}, {kRows},
        [&](ParquetEncoder& encoder, size_t) {
          const auto put = [&](TextWriter& out, size_t row) {
            out.Put(std::string_view(text_of(row)));
          };
          encoder.Texts(put, present);
          encoder.Texts(put);
        });
  const ParquetReader file(path_);
  EXPECT_GT(file["t"].pages.size(), 2U);
  ASSERT_EQ(file["t"].cells.size(), kRows);
  for (size_t row = 0; row < kRows; ++row) {
    ASSERT_EQ(file["r"].cells[row], ParquetCell(text_of(row)));
    ASSERT_EQ(file["t"].cells[row], present[row] != 0 ? ParquetCell(text_of(row)) : ParquetCell());
  }
}

// Random runs and literals of every width, through the dictionary and the levels.
TEST_F(ParquetFileTest, RandomRunsReadBack) {
  std::mt19937 random(1);
  std::vector<std::string> texts;
  for (int i = 0; i < 700; ++i) {
    texts.push_back(std::to_string(i));
  }
  for (const uint32_t distinct : {1U, 2U, 3U, 5U, 17U, 256U, 257U, 700U}) {
    std::vector<std::string_view> names;
    std::vector<uint8_t> present;
    std::vector<int64_t> numbers;
    while (names.size() < 2000) {
      const size_t run = random() % 4 == 0 ? random() % 40 : 1;
      const size_t text = random() % distinct;
      for (size_t i = 0; i <= run; ++i) {
        names.emplace_back(texts[text]);
        present.push_back(static_cast<uint8_t>(text % 2));
        numbers.push_back(static_cast<int64_t>(random()));
      }
    }
    std::filesystem::remove(path_);
    Write({{"t", ParquetType::kText}, {"n", ParquetType::kInt64, true}}, {names.size()},
          [&](ParquetEncoder& encoder, size_t) {
            encoder.Names(names);
            encoder.Integers(numbers, present);
          });
    const ParquetReader file(path_);
    for (size_t row = 0; row < names.size(); ++row) {
      ASSERT_EQ(file["t"].cells[row], ParquetCell(std::string(names[row])));
      ASSERT_EQ(file["n"].cells[row],
                present[row] != 0 ? ParquetCell(numbers[row]) : ParquetCell());
    }
  }
}

class ParquetCheckTest : public ParquetFileTest {
 protected:
  void WriteSample() {
    Write({{"a", ParquetType::kInt64}, {"b", ParquetType::kText}}, {3, 2},
          [](ParquetEncoder& encoder, size_t group) {
            encoder.Integers(std::vector<int64_t>(group == 0 ? 3 : 2, 5));
            encoder.Constant("text");
          });
    std::ifstream file(path_, std::ios::binary);
    whole_.assign(std::istreambuf_iterator<char>(file), {});
  }
  std::string MessageFor(const std::string& bytes, int64_t rows = 5) {
    std::ofstream(path_, std::ios::binary | std::ios::trunc) << bytes;
    const Status status = CheckParquetFooter(path_, rows);
    return status.ok() ? "" : status.error().message;
  }
  std::string whole_;
};

TEST_F(ParquetCheckTest, AcceptsWholeFileOnly) {
  WriteSample();
  EXPECT_EQ(MessageFor(whole_), "");
  EXPECT_THAT(MessageFor(whole_, 6), ::testing::HasSubstr("5 rows of 6"));
  for (size_t length = 0; length < whole_.size(); length += 3) {
    ASSERT_NE(MessageFor(whole_.substr(0, length)), "") << length;
  }
  EXPECT_NE(MessageFor("X" + whole_.substr(1)), "");
  EXPECT_NE(MessageFor(whole_.substr(0, whole_.size() - 1) + "X"), "");
  // A byte lost, or one too many, in the pages.
  EXPECT_THAT(MessageFor("PAR1" + whole_.substr(5)), ::testing::HasSubstr("columns do not lie"));
  EXPECT_THAT(MessageFor("PAR1x" + whole_.substr(4)), ::testing::HasSubstr("columns do not lie"));
}

TEST_F(ParquetCheckTest, DamagedFooterIsAnErrorNotACrash) {
  WriteSample();
  uint32_t length = 0;
  std::memcpy(&length, whole_.data() + whole_.size() - 8, sizeof length);
  const size_t footer = whole_.size() - 8 - length;
  for (size_t at = footer; at < whole_.size() - 8; ++at) {
    for (const char byte : {'\x19', '\xFF'}) {
      std::string damaged = whole_;
      damaged[at] = byte;
      MessageFor(damaged);  // text and ranges may change unseen; anything else must not crash
    }
  }
  std::string long_footer = whole_;
  std::memcpy(long_footer.data() + long_footer.size() - 8, "\xFF\xFF\xFF\xFF", 4);
  EXPECT_THAT(MessageFor(long_footer), ::testing::HasSubstr("cut short"));
  EXPECT_FALSE(CheckParquetFooter(folder_ / "none", 0).ok());
}

}  // namespace
}  // namespace nsys
