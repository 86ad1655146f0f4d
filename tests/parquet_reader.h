// SPDX-License-Identifier: MIT
// Reads Parquet files of the forms that parquet_encoder.h writes, for tests: every cell, and the
// bodies of all pages. Slow and simple; anything unexpected throws.
#pragma once

#include <zstd.h>

#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/thrift_compact.h"

namespace nsys::testing {

// Any message of Thrift's compact protocol.
struct ThriftNode {
  ThriftType type = ThriftType::kStop;
  int64_t number = 0;  // of integers and booleans
  std::string text;
  std::vector<ThriftNode> list;
  std::map<int, ThriftNode> fields;

  bool Has(int field) const { return fields.contains(field); }
  const ThriftNode& operator[](int field) const { return fields.at(field); }

  static ThriftNode Read(ThriftReader& in, ThriftType type) {
    ThriftNode node{.type = type, .text = {}, .list = {}, .fields = {}};
    switch (type) {
      case ThriftType::kTrue:
      case ThriftType::kFalse:
        node.number = type == ThriftType::kTrue ? 1 : 0;
        break;
      case ThriftType::kByte:
        node.number = in.Byte();
        break;
      case ThriftType::kI16:
      case ThriftType::kI32:
      case ThriftType::kI64:
        node.number = in.ZigZag();
        break;
      case ThriftType::kBinary:
        node.text = in.Text();
        break;
      case ThriftType::kList: {
        ThriftType element = ThriftType::kStop;
        const uint64_t count = in.ListHead(element);
        for (uint64_t i = 0; i < count && in.ok(); ++i) {
          node.list.push_back(Read(in, element));
        }
        break;
      }
      case ThriftType::kStruct:
        for (ThriftReader::Field field; in.ok();) {
          field = in.NextField(field.id);
          if (field.type == ThriftType::kStop) {
            break;
          }
          node.fields[field.id] = Read(in, field.type);
        }
        break;
      default:
        throw std::runtime_error("unexpected Thrift type");
    }
    if (!in.ok()) {
      throw std::runtime_error("damaged Thrift message");
    }
    return node;
  }
};

using ParquetCell = std::variant<std::monostate, int64_t, double, std::string>;

struct ParquetPage {
  int64_t type = 0;  // 0 data, 2 dictionary
  int64_t encoding = 0;
  int64_t values = 0;
  std::string body;  // unpacked
};

struct ReadColumn {
  std::string name;
  ThriftNode schema;
  std::vector<ParquetCell> cells;
  std::vector<ParquetPage> pages;
};

// The page at `at` of the file's bytes, which moves behind it.
inline ParquetPage ReadParquetPage(std::string_view bytes, size_t& at, size_t& head_bytes) {
  ThriftReader in(bytes.substr(at));
  const ThriftNode head = ThriftNode::Read(in, ThriftType::kStruct);
  head_bytes = in.at();
  at += head_bytes;
  const ThriftNode& detail = head[head[1].number == 2 ? 7 : 5];
  ParquetPage page{head[1].number, detail[2].number, detail[1].number,
                   std::string(static_cast<size_t>(head[2].number), '\0')};
  const auto packed = static_cast<size_t>(head[3].number);
  if (ZSTD_decompress(page.body.data(), page.body.size(), bytes.data() + at, packed) !=
      page.body.size()) {
    throw std::runtime_error("a page does not unpack");
  }
  at += packed;
  return page;
}

// Hands on the unpacked body of every page of the file.
template <typename Take>
void ForEachParquetPage(const std::string& path, const Take& take) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(file), {});
  uint32_t length = 0;
  std::memcpy(&length, bytes.data() + bytes.size() - 8, sizeof length);
  const std::string_view pages = std::string_view(bytes).substr(0, bytes.size() - 8 - length);
  size_t head_bytes = 0;
  for (size_t at = 4; at < pages.size();) {
    take(ReadParquetPage(pages, at, head_bytes).body);
  }
}

class ParquetReader {
 public:
  explicit ParquetReader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    uint32_t length = 0;
    Check(bytes_.size() >= 12 && bytes_.starts_with("PAR1") && bytes_.ends_with("PAR1"));
    std::memcpy(&length, bytes_.data() + bytes_.size() - 8, sizeof length);
    ThriftReader in(std::string_view(bytes_).substr(bytes_.size() - 8 - length, length));
    footer_ = ThriftNode::Read(in, ThriftType::kStruct);
    for (size_t i = 1; i < footer_[2].list.size(); ++i) {
      const ThriftNode& schema = footer_[2].list[i];
      columns_.push_back({schema[4].text, schema, {}, {}});
    }
    for (const ThriftNode& group : footer_[4].list) {
      Check(group[1].list.size() == columns_.size());
      for (size_t i = 0; i < columns_.size(); ++i) {
        ReadChunk(columns_[i], group[1].list[i][3]);
      }
    }
  }

  const ThriftNode& footer() const { return footer_; }
  int64_t rows() const { return footer_[3].number; }
  size_t row_groups() const { return footer_[4].list.size(); }
  const std::vector<ReadColumn>& columns() const { return columns_; }
  const ReadColumn& operator[](std::string_view name) const {
    for (const ReadColumn& column : columns_) {
      if (column.name == name) {
        return column;
      }
    }
    throw std::runtime_error("no column " + std::string(name));
  }

 private:
  static void Check(bool good) {
    if (!good) {
      throw std::runtime_error("not as Parquet wants it");
    }
  }

  void ReadChunk(ReadColumn& column, const ThriftNode& chunk) {
    const auto begin = static_cast<size_t>(chunk.Has(11) ? chunk[11].number : chunk[9].number);
    const size_t end = begin + static_cast<size_t>(chunk[7].number);
    std::vector<ParquetCell> dictionary;
    const size_t before = column.cells.size();
    uint64_t plain = 0;
    for (size_t at = begin; at < end;) {
      const size_t head = at;
      const ParquetPage page = ReadPage(at);
      plain += page.body.size();
      plain += head_bytes_;
      Check(page.type == 2 ? head == begin && chunk.Has(11) : true);
      if (page.type == 2) {
        Check(static_cast<size_t>(chunk[9].number) == at);
        std::string_view body = page.body;
        dictionary = Plain(body, column, page.values);
      } else {
        Decode(column, page, dictionary);
      }
      column.pages.push_back(page);
    }
    Check(static_cast<int64_t>(plain) == chunk[6].number);
    Check(static_cast<int64_t>(column.cells.size() - before) == chunk[5].number);
  }

  ParquetPage ReadPage(size_t& at) {
    const size_t begin = at;
    ParquetPage page = ReadParquetPage(bytes_, at, head_bytes_);
    Check(at > begin);
    return page;
  }

  static uint64_t Varint(std::string_view& in) {
    uint64_t value = 0;
    for (int shift = 0;; shift += 7) {
      Check(!in.empty());
      const auto byte = static_cast<unsigned char>(in.front());
      in.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7F) << shift;
      if (byte < 0x80) {
        return value;
      }
    }
  }

  // `count` numbers in runs and packed bits.
  static std::vector<uint32_t> Hybrid(std::string_view in, int width, size_t count) {
    std::vector<uint32_t> values;
    while (values.size() < count) {
      const uint64_t head = Varint(in);
      const bool packed = (head & 1) != 0;
      const size_t bytes = static_cast<size_t>(packed ? (head >> 1) * static_cast<uint64_t>(width)
                                                      : static_cast<uint64_t>(width + 7) / 8);
      Check(bytes <= in.size());
      const auto bit = [&](size_t at) {
        return static_cast<uint32_t>(static_cast<unsigned char>(in[at / 8]) >> (at % 8) & 1);
      };
      const auto number = [&](size_t at) {
        uint32_t value = 0;
        for (int i = 0; i < width; ++i) {
          value |= bit(at + static_cast<size_t>(i)) << i;
        }
        return value;
      };
      for (size_t i = 0; i < (packed ? (head >> 1) * 8 : head >> 1); ++i) {
        values.push_back(number(packed ? i * static_cast<size_t>(width) : 0));
      }
      in.remove_prefix(bytes);
    }
    Check(in.empty() && values.size() - count < 8);
    values.resize(count);
    return values;
  }

  template <typename T>
  static T Take(std::string_view& in) {
    Check(in.size() >= sizeof(T));
    T value{};
    std::memcpy(&value, in.data(), sizeof value);
    in.remove_prefix(sizeof value);
    return value;
  }

  static std::vector<ParquetCell> Plain(std::string_view& in, const ReadColumn& column,
                                        int64_t count) {
    std::vector<ParquetCell> cells;
    for (int64_t i = 0; i < count; ++i) {
      switch (column.schema[1].number) {
        case 1:
          cells.emplace_back(int64_t{Take<uint32_t>(in)});
          break;
        case 2:
          cells.emplace_back(Take<int64_t>(in));
          break;
        case 5:
          cells.emplace_back(Take<double>(in));
          break;
        default: {
          const uint32_t length = Take<uint32_t>(in);
          Check(length <= in.size());
          cells.emplace_back(std::string(in.substr(0, length)));
          in.remove_prefix(length);
        }
      }
    }
    Check(in.empty());
    return cells;
  }

  static void Decode(ReadColumn& column, const ParquetPage& page,
                     const std::vector<ParquetCell>& dictionary) {
    std::string_view in = page.body;
    const auto rows = static_cast<size_t>(page.values);
    std::vector<uint32_t> present(rows, 1);
    if (column.schema[3].number == 1) {
      const uint32_t length = Take<uint32_t>(in);
      present = Hybrid(in.substr(0, length), 1, rows);
      in.remove_prefix(length);
    }
    int64_t values = 0;
    for (const uint32_t one : present) {
      values += one;
    }
    std::vector<ParquetCell> cells;
    if (page.encoding == 8) {
      const int width = Take<uint8_t>(in);
      for (const uint32_t number : Hybrid(in, width, static_cast<size_t>(values))) {
        cells.push_back(dictionary.at(number));
      }
    } else {
      Check(page.encoding == 0);
      cells = Plain(in, column, values);
    }
    size_t next = 0;
    for (const uint32_t one : present) {
      column.cells.push_back(one != 0 ? cells[next++] : ParquetCell());
    }
  }

  std::string bytes_;
  ThriftNode footer_;
  std::vector<ReadColumn> columns_;
  size_t head_bytes_ = 0;
};

}  // namespace nsys::testing
