// SPDX-License-Identifier: MIT
#include "base/parquet_file.h"

#include "base/parquet_format.h"
#include "base/text_dictionary.h"
#include "base/thrift_compact.h"

namespace nsys {
namespace {

using namespace parquet;  // NOLINT(google-build-using-namespace): one vocabulary

constexpr int32_t kVersion = 1;
constexpr std::string_view kCreator = "nsys-ai";

PhysicalType PhysicalTypeOf(ParquetType type) {
  switch (type) {
    case ParquetType::kUint32:
      return kInt32;
    case ParquetType::kDouble:
      return kDouble;
    case ParquetType::kText:
      return kByteArray;
    default:
      return kInt64;
  }
}

// The label says how to understand the physical type: in the old form, and in the new one.
void WriteLabel(ThriftWriter& out, ParquetType type) {
  constexpr int kConverted = 6, kLogical = 10;
  if (type == ParquetType::kText) {
    out.I32(kConverted, kUtf8);
    out.BeginStruct(kLogical);
    out.BeginStruct(kString);
    out.End();
    out.End();
  } else if (type == ParquetType::kUint32 || type == ParquetType::kUint64) {
    const bool wide = type == ParquetType::kUint64;
    out.I32(kConverted, wide ? kUint64 : kUint32);
    out.BeginStruct(kLogical);
    out.BeginStruct(kInteger);
    out.Byte(1, wide ? 64 : 32);
    out.Bool(2, false);
    out.End();
    out.End();
  }
}

void WriteSchema(ThriftWriter& out, const ParquetSchema& schema) {
  constexpr int kType = 1, kRepetition = 3, kName = 4, kChildren = 5;
  out.BeginList(file_field::kSchema, ThriftType::kStruct, schema.size() + 1);
  out.BeginElement();
  out.Text(kName, "schema");
  out.I32(kChildren, static_cast<int32_t>(schema.size()));
  out.End();
  for (const ParquetColumn& column : schema) {
    out.BeginElement();
    out.I32(kType, PhysicalTypeOf(column.type));
    out.I32(kRepetition, column.nullable ? kOptional : kRequired);
    out.Text(kName, column.name);
    WriteLabel(out, column.type);
    out.End();
  }
}

void WriteStatistics(ThriftWriter& out, const ParquetChunk& chunk) {
  constexpr int kNulls = 3, kMax = 5, kMin = 6;
  out.BeginStruct(column_field::kStatistics);
  out.I64(kNulls, chunk.nulls);
  if (chunk.has_range) {
    out.Text(kMax, chunk.max);
    out.Text(kMin, chunk.min);
  }
  out.End();
}

void WriteEncodings(ThriftWriter& out, const ParquetChunk& chunk) {
  out.BeginList(column_field::kEncodings, ThriftType::kI32, chunk.dictionary ? 3 : 2);
  out.I32Element(kPlain);
  out.I32Element(kRle);
  if (chunk.dictionary) {
    out.I32Element(kRleDictionary);
  }
}

// `begin` is where the row group begins in the file.
void WriteChunk(ThriftWriter& out, const ParquetColumn& schema, const ParquetChunk& chunk,
                int64_t rows, uint64_t begin) {
  const auto place = [&](uint64_t offset) { return static_cast<int64_t>(begin + offset); };
  out.BeginElement();
  out.I64(chunk_field::kFileOffset, place(chunk.offset));
  out.BeginStruct(chunk_field::kMetadata);
  out.I32(column_field::kType, PhysicalTypeOf(schema.type));
  WriteEncodings(out, chunk);
  out.BeginList(column_field::kPath, ThriftType::kBinary, 1);
  out.TextElement(schema.name);
  out.I32(column_field::kCodec, kZstd);
  out.I64(column_field::kValues, rows);
  out.I64(column_field::kPlainBytes, static_cast<int64_t>(chunk.plain_bytes));
  out.I64(column_field::kPackedBytes, static_cast<int64_t>(chunk.packed_bytes));
  out.I64(column_field::kDataOffset, place(chunk.data_offset));
  if (chunk.dictionary) {
    out.I64(column_field::kDictionaryOffset, place(chunk.offset));
  }
  WriteStatistics(out, chunk);
  out.End();
  out.End();
}

// That smallest and largest are meant in the order of the type: the readers' condition for using
// them.
void WriteColumnOrders(ThriftWriter& out, size_t columns) {
  constexpr int kTypeOrder = 1;
  out.BeginList(file_field::kColumnOrders, ThriftType::kStruct, columns);
  for (size_t i = 0; i < columns; ++i) {
    out.BeginElement();
    out.BeginStruct(kTypeOrder);
    out.End();
    out.End();
  }
}

}  // namespace

Status ParquetFile::Begin() {
  offset_ = kMagic.size();
  return sink_.Write(kMagic);
}

Status ParquetFile::Take(const ParquetRowGroup& group) {
  uint64_t plain = 0;
  uint64_t packed = 0;
  for (const ParquetChunk& chunk : group.chunks) {
    plain += chunk.plain_bytes;
    packed += chunk.packed_bytes;
  }
  ThriftWriter out(group_entries_);
  out.BeginElement();
  out.BeginList(group_field::kColumns, ThriftType::kStruct, schema_.size());
  for (size_t i = 0; i < schema_.size(); ++i) {
    WriteChunk(out, schema_[i], group.chunks[i], group.rows, offset_);
  }
  out.I64(group_field::kPlainBytes, static_cast<int64_t>(plain));
  out.I64(group_field::kRows, group.rows);
  out.I64(group_field::kFileOffset, static_cast<int64_t>(offset_));
  out.I64(group_field::kPackedBytes, static_cast<int64_t>(packed));
  out.End();
  offset_ += packed;
  rows_ += group.rows;
  ++groups_;
  return sink_.Take(group.packed);
}

Status ParquetFile::End() {
  std::string footer;
  ThriftWriter out(footer);
  out.BeginElement();
  out.I32(file_field::kVersion, kVersion);
  WriteSchema(out, schema_);
  out.I64(file_field::kRows, rows_);
  out.BeginList(file_field::kRowGroups, ThriftType::kStruct, groups_);
  footer += group_entries_;
  out.Text(file_field::kCreatedBy, kCreator);
  WriteColumnOrders(out, schema_.size());
  out.End();
  AppendLittleEndian(footer, static_cast<uint32_t>(footer.size()));
  footer += kMagic;
  return sink_.Write(footer);
}

}  // namespace nsys
