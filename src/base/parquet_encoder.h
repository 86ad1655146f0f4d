// SPDX-License-Identifier: MIT
// Encodes a row group of a Parquet file, one column after the other. An encoder is used again and
// again: its buffers stay, so that a row costs no allocation. One encoder per thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_sink.h"
#include "base/parquet_file.h"
#include "base/text_dictionary.h"
#include "base/text_writer.h"

struct ZSTD_CCtx_s;

namespace nsys {

class ParquetEncoder {
 public:
  explicit ParquetEncoder(const ParquetSchema& schema);
  ~ParquetEncoder();
  ParquetEncoder(const ParquetEncoder&) = delete;
  ParquetEncoder& operator=(const ParquetEncoder&) = delete;

  // A row group of `rows` rows, which must be some. Then each column of the schema once, in order;
  // then End.
  void Begin(size_t rows);
  void End(const BlockSink& sink, ParquetRowGroup& group);

  // One byte per row: whether it has a value. Empty: every row has one.
  using Present = std::span<const uint8_t>;

  // One element per row; those of rows without a value are ignored. Columns of type kUint32 take
  // the lower half, columns of type kUint64 the same bits.
  void Integers(std::span<const int64_t> values, Present present = {});
  // The same, of which few differ: a dictionary, unless they are many after all.
  void RepeatedIntegers(std::span<const int64_t> values);
  void Doubles(std::span<const double> values, Present present = {});
  void Nulls();

  // The values of a column before this one, of the same type and as nullable.
  void SameAs(size_t column);

  // The same text in every row.
  void Constant(std::string_view text);
  // Texts that live where they are until End: a dictionary of them, or, when too many differ, each
  // by itself.
  void Names(std::span<const std::string_view> texts);
  // `put(out, row)` puts the text of a row into a TextWriter; called for rows with a value, in
  // order. For texts of which many are equal there is RepeatedTexts: it tries a dictionary, and
  // calls again from the first row when that is in vain.
  template <typename Put>
  void Texts(const Put& put, Present present = {});
  template <typename Put>
  void RepeatedTexts(const Put& put);

 private:
  static constexpr size_t kPageBytes = size_t{1} << 20;
  static constexpr size_t kDictionaryTexts = size_t{1} << 14;
  static constexpr size_t kLengthBytes = sizeof(uint32_t);

  const ParquetColumn& column() const { return schema_[chunks_.size() - 1]; }
  ParquetChunk& chunk() { return chunks_.back(); }
  void BeginColumn(bool dictionary);
  void EndColumn();
  void AppendLevels(std::string& out, Present present, size_t begin, size_t end);
  bool NumberIntegers(std::span<const int64_t> values);
  template <typename T>
  void PackNumbers(std::span<const int64_t> values, Present present);
  void WritePage(int32_t type, int32_t encoding, size_t values, std::string_view body);
  void WriteTextPage(Present present, size_t begin, size_t end, std::string_view texts);
  void WriteDictionary(size_t size, std::string_view plain);
  void WriteTextDictionary();
  void SetRangeOfDictionary();

  const ParquetSchema& schema_;
  ZSTD_CCtx_s* zstd_;
  size_t rows_ = 0;
  std::string bytes_;  // the row group so far
  std::vector<ParquetChunk> chunks_;
  std::string page_;
  std::string texts_;   // room for the texts of a page
  std::string packed_;  // a page packed
  TextDictionary dictionary_{kDictionaryTexts};
  std::vector<int64_t> integers_;  // distinct ones
  std::vector<uint32_t> numbers_;  // of the dictionary, by row
};

template <typename Put>
void ParquetEncoder::Texts(const Put& put, Present present) {
  BeginColumn(false);
  for (size_t row = 0; row < rows_;) {
    const size_t page_begin = row;
    TextWriter out = TextWriter::Over(texts_);
    for (; row < rows_ && out.size() < kPageBytes; ++row) {
      if (!present.empty() && present[row] == 0) {
        continue;
      }
      const size_t at = out.size();
      out.Put("\0\0\0\0");  // the length, to come
      put(out, row);
      const auto length = static_cast<uint32_t>(out.size() - at - kLengthBytes);
      std::memcpy(texts_.data() + at, &length, kLengthBytes);
    }
    WriteTextPage(present, page_begin, row, out.view());
    out.KeepRoom();
  }
  EndColumn();
}

template <typename Put>
void ParquetEncoder::RepeatedTexts(const Put& put) {
  dictionary_.Clear();
  numbers_.clear();
  for (size_t row = 0; row < rows_; ++row) {
    TextWriter out = TextWriter::Over(texts_);
    put(out, row);
    const uint32_t number = dictionary_.Add(out.view());
    out.KeepRoom();
    if (number == TextDictionary::kFull || dictionary_.IsVain(row + 1)) {
      Texts(put);
      return;
    }
    numbers_.push_back(number);
  }
  WriteTextDictionary();
}

}  // namespace nsys
