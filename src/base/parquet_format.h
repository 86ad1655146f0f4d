// SPDX-License-Identifier: MIT
// Numbers of parquet.thrift that the writer and the check of a footer share.
#pragma once

#include <cstdint>
#include <string_view>

namespace nsys::parquet {

inline constexpr std::string_view kMagic = "PAR1";
inline constexpr size_t kTailBytes = 8;  // length of the footer, and the magic again

enum PhysicalType : int32_t { kInt32 = 1, kInt64 = 2, kDouble = 5, kByteArray = 6 };
enum Repetition : int32_t { kRequired = 0, kOptional = 1 };
enum ConvertedType : int32_t { kUtf8 = 0, kUint32 = 13, kUint64 = 14 };
enum LogicalType : int { kString = 1, kInteger = 10 };
enum Encoding : int32_t { kPlain = 0, kRle = 3, kRleDictionary = 8 };
enum PageType : int32_t { kDataPage = 0, kDictionaryPage = 2 };
inline constexpr int32_t kZstd = 6;

// Field numbers, where a struct is both written and read.
namespace file_field {
enum : int {
  kVersion = 1,
  kSchema = 2,
  kRows = 3,
  kRowGroups = 4,
  kCreatedBy = 6,
  kColumnOrders = 7,
};
}
namespace group_field {
enum : int {
  kColumns = 1,
  kPlainBytes = 2,
  kRows = 3,
  kFileOffset = 5,
  kPackedBytes = 6,
};
}
namespace chunk_field {
enum : int { kFileOffset = 2, kMetadata = 3 };
}
namespace column_field {
enum : int {
  kType = 1,
  kEncodings = 2,
  kPath = 3,
  kCodec = 4,
  kValues = 5,
  kPlainBytes = 6,
  kPackedBytes = 7,
  kDataOffset = 9,
  kDictionaryOffset = 11,
  kStatistics = 12,
};
}

}  // namespace nsys::parquet
