// SPDX-License-Identifier: MIT
#include "base/parquet_encoder.h"

#include <zstd.h>

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <limits>

#include "base/parquet_format.h"
#include "base/parquet_rle.h"
#include "base/thrift_compact.h"

namespace nsys {
namespace {

using namespace parquet;  // NOLINT(google-build-using-namespace): one vocabulary

// Level 1 packs the args of events 1.5 to 2.5 times better than the fast levels below it and is
// about as quick as making their text.
constexpr int kZstdLevel = 1;
// Longer texts give no range to a column: the footer would swell.
constexpr size_t kMaxRangeText = 64;

template <typename T>
struct Range {
  T min = std::numeric_limits<T>::max();
  T max = std::numeric_limits<T>::lowest();
  void Add(T value) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
  bool empty() const { return min > max; }
};

template <typename T>
void SetRange(const Range<T>& range, ParquetChunk& chunk) {
  chunk.has_range = !range.empty();
  if (chunk.has_range) {
    AppendLittleEndian(chunk.min, range.min);
    AppendLittleEndian(chunk.max, range.max);
  }
}

int64_t CountNulls(ParquetEncoder::Present present) {
  return std::count(present.begin(), present.end(), uint8_t{0});
}

}  // namespace

ParquetEncoder::ParquetEncoder(const ParquetSchema& schema)
    : schema_(schema), zstd_(ZSTD_createCCtx()) {
  if (zstd_ == nullptr) {
    std::abort();  // out of memory
  }
  ZSTD_CCtx_setParameter(zstd_, ZSTD_c_compressionLevel, kZstdLevel);
}

ParquetEncoder::~ParquetEncoder() { ZSTD_freeCCtx(zstd_); }

void ParquetEncoder::Begin(size_t rows) {
  rows_ = rows;
  bytes_.clear();
  chunks_.clear();
}

void ParquetEncoder::End(const BlockSink& sink, ParquetRowGroup& group) {
  group.rows = static_cast<int64_t>(rows_);
  group.chunks.assign(chunks_.begin(), chunks_.end());
  sink.Pack(bytes_, group.packed);
}

void ParquetEncoder::BeginColumn(bool dictionary) {
  chunks_.emplace_back();
  chunk().dictionary = dictionary;
  chunk().offset = bytes_.size();
  chunk().data_offset = bytes_.size();
}

void ParquetEncoder::EndColumn() { chunk().packed_bytes = bytes_.size() - chunk().offset; }

// Whether each row has a value, where the schema lets it have none.
void ParquetEncoder::AppendLevels(std::string& out, Present present, size_t begin, size_t end) {
  if (!column().nullable) {
    return;
  }
  const size_t length_at = out.size();
  out.append(kLengthBytes, '\0');
  if (present.empty()) {
    AppendVarint(out, uint64_t{end - begin} << 1);  // one run
    out.push_back(1);
  } else {
    AppendRle(out, present.subspan(begin, end - begin), 1);
  }
  const auto length = static_cast<uint32_t>(out.size() - length_at - kLengthBytes);
  std::memcpy(out.data() + length_at, &length, kLengthBytes);
}

void ParquetEncoder::WritePage(int32_t type, int32_t encoding, size_t values,
                               std::string_view body) {
  packed_.resize(std::max(packed_.size(), ZSTD_compressBound(body.size())));
  const size_t packed =
      ZSTD_compress2(zstd_, packed_.data(), packed_.size(), body.data(), body.size());
  if (ZSTD_isError(packed) != 0) {
    std::abort();  // the place suffices for any text
  }
  constexpr int kType = 1, kPlainSize = 2, kPackedSize = 3, kData = 5, kDictionary = 7;
  constexpr int kValues = 1, kEncoding = 2, kDefinitions = 3, kRepetitions = 4;
  const size_t head = bytes_.size();
  ThriftWriter out(bytes_);
  out.BeginElement();
  out.I32(kType, type);
  out.I32(kPlainSize, static_cast<int32_t>(body.size()));
  out.I32(kPackedSize, static_cast<int32_t>(packed));
  out.BeginStruct(type == kDataPage ? kData : kDictionary);
  out.I32(kValues, static_cast<int32_t>(values));
  out.I32(kEncoding, encoding);
  if (type == kDataPage) {
    out.I32(kDefinitions, kRle);
    out.I32(kRepetitions, kRle);
  }
  out.End();
  out.End();
  chunk().plain_bytes += bytes_.size() - head + body.size();
  bytes_.append(packed_, 0, packed);
}

template <typename T>
void ParquetEncoder::PackNumbers(std::span<const int64_t> values, Present present) {
  Range<T> range;
  const size_t begin = page_.size();
  page_.resize(begin + values.size() * sizeof(T));
  char* at = page_.data() + begin;
  for (size_t row = 0; row < values.size(); ++row) {
    if (!present.empty() && present[row] == 0) {
      continue;
    }
    const T value = static_cast<T>(values[row]);
    range.Add(value);
    std::memcpy(at, &value, sizeof value);
    at += sizeof value;
  }
  page_.resize(static_cast<size_t>(at - page_.data()));
  SetRange(range, chunk());
}

void ParquetEncoder::Integers(std::span<const int64_t> values, Present present) {
  BeginColumn(false);
  page_.clear();
  AppendLevels(page_, present, 0, rows_);
  switch (column().type) {
    case ParquetType::kUint32:
      PackNumbers<uint32_t>(values, present);
      break;
    case ParquetType::kUint64:
      PackNumbers<uint64_t>(values, present);
      break;
    default:
      PackNumbers<int64_t>(values, present);
  }
  chunk().nulls = CountNulls(present);
  WritePage(kDataPage, kPlain, rows_, page_);
  EndColumn();
}

// Whether the values are few enough to be looked for one by one.
bool ParquetEncoder::NumberIntegers(std::span<const int64_t> values) {
  constexpr size_t kMostIntegers = 32;
  integers_.clear();
  numbers_.resize(values.size());
  uint32_t number = 0;
  for (size_t row = 0; row < values.size(); ++row) {
    if (integers_.empty() || integers_[number] != values[row]) {
      number = static_cast<uint32_t>(std::find(integers_.begin(), integers_.end(), values[row]) -
                                     integers_.begin());
    }
    if (number == integers_.size()) {
      if (number == kMostIntegers) {
        return false;
      }
      integers_.push_back(values[row]);
    }
    numbers_[row] = number;
  }
  return true;
}

void ParquetEncoder::RepeatedIntegers(std::span<const int64_t> values) {
  const ParquetType type = schema_[chunks_.size()].type;
  if (type == ParquetType::kUint32 || !NumberIntegers(values)) {
    Integers(values);
    return;
  }
  std::string plain;
  for (const int64_t integer : integers_) {
    AppendLittleEndian(plain, integer);
  }
  WriteDictionary(integers_.size(), plain);
  if (type == ParquetType::kUint64) {
    Range<uint64_t> range;
    std::for_each(integers_.begin(), integers_.end(),
                  [&](int64_t integer) { range.Add(static_cast<uint64_t>(integer)); });
    SetRange(range, chunk());
  } else {
    Range<int64_t> range;
    std::for_each(integers_.begin(), integers_.end(), [&](int64_t integer) { range.Add(integer); });
    SetRange(range, chunk());
  }
}

// Pages know nothing of their place, so a copy of them will do.
void ParquetEncoder::SameAs(size_t column) {
  ParquetChunk same = chunks_[column];
  const uint64_t offset = bytes_.size();
  same.data_offset += offset - same.offset;
  bytes_.reserve(bytes_.size() + same.packed_bytes);
  bytes_.append(bytes_.data() + same.offset, same.packed_bytes);
  same.offset = offset;
  chunks_.push_back(std::move(same));
}

void ParquetEncoder::Doubles(std::span<const double> values, Present present) {
  BeginColumn(false);
  page_.clear();
  AppendLevels(page_, present, 0, rows_);
  Range<double> range;
  for (size_t row = 0; row < rows_; ++row) {
    if (present.empty() || present[row] != 0) {
      range.Add(values[row]);
      AppendLittleEndian(page_, values[row]);
    }
  }
  // Zeros of either sign are equal, so a range that ends in zero has to hold both.
  range.min = range.min == 0.0 ? -0.0 : range.min;
  range.max = range.max == 0.0 ? 0.0 : range.max;
  SetRange(range, chunk());
  chunk().nulls = CountNulls(present);
  WritePage(kDataPage, kPlain, rows_, page_);
  EndColumn();
}

void ParquetEncoder::Nulls() {
  BeginColumn(false);
  page_.clear();
  const std::vector<uint8_t> none(rows_, 0);
  AppendLevels(page_, none, 0, rows_);
  chunk().nulls = static_cast<int64_t>(rows_);
  WritePage(kDataPage, kPlain, rows_, page_);
  EndColumn();
}

void ParquetEncoder::Constant(std::string_view text) {
  dictionary_.Clear();
  dictionary_.Add(text);
  numbers_.assign(rows_, 0);
  WriteTextDictionary();
}

void ParquetEncoder::Names(std::span<const std::string_view> texts) {
  dictionary_.Clear();
  numbers_.clear();
  for (size_t row = 0; row < rows_; ++row) {
    const uint32_t number = dictionary_.AddStable(texts[row]);
    if (number == TextDictionary::kFull || dictionary_.IsVain(row + 1)) {
      Texts([&](TextWriter& out, size_t at) { out.Put(texts[at]); });
      return;
    }
    numbers_.push_back(number);
  }
  WriteTextDictionary();
}

void ParquetEncoder::WriteTextPage(Present present, size_t begin, size_t end,
                                   std::string_view texts) {
  if (!present.empty()) {
    chunk().nulls += CountNulls(present.subspan(begin, end - begin));
  }
  if (column().nullable) {
    page_.clear();
    AppendLevels(page_, present, begin, end);
    page_ += texts;
    WritePage(kDataPage, kPlain, end - begin, page_);
  } else {
    WritePage(kDataPage, kPlain, end - begin, texts);
  }
}

// A column of numbers_, each of which stands for one of the `size` values that `plain` holds.
void ParquetEncoder::WriteDictionary(size_t size, std::string_view plain) {
  BeginColumn(true);
  WritePage(kDictionaryPage, kPlain, size, plain);
  chunk().data_offset = bytes_.size();
  page_.clear();
  AppendLevels(page_, {}, 0, rows_);
  const int width = std::max(1, static_cast<int>(std::bit_width(size - 1)));
  page_.push_back(static_cast<char>(width));
  AppendRle(page_, std::span<const uint32_t>(numbers_), width);
  WritePage(kDataPage, kRleDictionary, rows_, page_);
  EndColumn();
}

void ParquetEncoder::WriteTextDictionary() {
  WriteDictionary(dictionary_.size(), dictionary_.bytes());
  SetRangeOfDictionary();
}

void ParquetEncoder::SetRangeOfDictionary() {
  std::string_view min = dictionary_.Get(0);
  std::string_view max = min;
  for (uint32_t i = 1; i < dictionary_.size(); ++i) {
    min = std::min(min, dictionary_.Get(i));
    max = std::max(max, dictionary_.Get(i));
  }
  chunk().has_range = min.size() <= kMaxRangeText && max.size() <= kMaxRangeText;
  if (chunk().has_range) {
    chunk().min = min;
    chunk().max = max;
  }
}

}  // namespace nsys
