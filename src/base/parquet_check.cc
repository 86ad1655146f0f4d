// SPDX-License-Identifier: MIT
// CheckParquetFooter: what can be told of a Parquet file without unpacking its pages.
#include <fmt/core.h>
#include <sys/stat.h>

#include <cstring>
#include <fstream>
#include <limits>

#include "base/parquet_file.h"
#include "base/parquet_format.h"
#include "base/thrift_compact.h"

namespace nsys {
namespace {

using namespace parquet;  // NOLINT(google-build-using-namespace): one vocabulary

// Calls `visit(field)` for each field of a struct; it returns whether it has read the field.
template <typename Visit>
void EachField(ThriftReader& in, const Visit& visit) {
  ThriftReader::Field field;
  while (in.ok()) {
    field = in.NextField(field.id);
    if (field.type == ThriftType::kStop) {
      return;
    }
    if (!visit(field)) {
      in.Skip(field.type);
    }
  }
}

// Calls `element()` for each struct of the list that comes next.
template <typename Element>
void EachStruct(ThriftReader& in, const Element& element) {
  ThriftType type = ThriftType::kStop;
  const uint64_t count = in.ListHead(type);
  if (type != ThriftType::kStruct) {
    in.Fail();
  }
  for (uint64_t i = 0; i < count && in.ok(); ++i) {
    element();
  }
}

struct Footer {
  int64_t rows = -1;
  int64_t rows_of_groups = 0;
  int64_t bytes_of_chunks = 0;
  bool chunks_in_order = true;
};

// Chunks stand one behind the other from the magic on; `next` is where the next one has to begin.
void ReadChunk(ThriftReader& in, int64_t rows, Footer& footer) {
  int64_t data = 0;
  int64_t dictionary = 0;
  int64_t bytes = -1;
  int64_t values = -1;
  EachField(in, [&](const ThriftReader::Field& outer) {
    if (outer.id != chunk_field::kMetadata || outer.type != ThriftType::kStruct) {
      return false;
    }
    EachField(in, [&](const ThriftReader::Field& field) {
      int64_t* const to = field.id == column_field::kDataOffset         ? &data
                          : field.id == column_field::kDictionaryOffset ? &dictionary
                          : field.id == column_field::kPackedBytes      ? &bytes
                          : field.id == column_field::kValues           ? &values
                                                                        : nullptr;
      if (to == nullptr || field.type != ThriftType::kI64) {
        return false;
      }
      *to = in.ZigZag();
      return true;
    });
    return true;
  });
  const int64_t next = footer.bytes_of_chunks + static_cast<int64_t>(kMagic.size());
  const bool fits = (dictionary != 0 ? dictionary : data) == next && data >= next && bytes > 0 &&
                    values == rows && bytes < std::numeric_limits<int64_t>::max() - next &&
                    data < next + bytes;
  footer.chunks_in_order = footer.chunks_in_order && fits;
  footer.bytes_of_chunks += fits ? bytes : 0;
}

void ReadRowGroup(ThriftReader& in, Footer& footer) {
  ThriftReader ahead = in;  // the number of rows stands behind the columns
  int64_t rows = -1;
  EachField(ahead, [&](const ThriftReader::Field& field) {
    if (field.id != group_field::kRows || field.type != ThriftType::kI64) {
      return false;
    }
    rows = ahead.ZigZag();
    return true;
  });
  EachField(in, [&](const ThriftReader::Field& field) {
    if (field.id != group_field::kColumns || field.type != ThriftType::kList) {
      return false;
    }
    EachStruct(in, [&] { ReadChunk(in, rows, footer); });
    return true;
  });
  if (rows <= 0 || rows > std::numeric_limits<int64_t>::max() - footer.rows_of_groups) {
    in.Fail();
    return;
  }
  footer.rows_of_groups += rows;
}

Error Damaged(const std::string& path, std::string_view what) {
  return {.code = ErrorCode::kOutput,
          .message = fmt::format("{} did not reach the disk whole: {}", path, what)};
}

// The serialized footer; what lies before it ends at `begin`.
Result<std::string> ReadFooter(const std::string& path, int64_t& begin) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto size = static_cast<int64_t>(file ? std::streamoff(file.tellg()) : -1);
  constexpr auto kTail = static_cast<int64_t>(kTailBytes);
  if (size < kTail + static_cast<int64_t>(kMagic.size())) {
    return Damaged(path, "it is no Parquet file");
  }
  char head[kMagic.size()];
  char tail[kTailBytes];
  file.seekg(0).read(head, sizeof head);
  file.seekg(size - kTail).read(tail, sizeof tail);
  uint32_t length = 0;
  std::memcpy(&length, tail, sizeof length);
  if (!file || std::string_view(head, sizeof head) != kMagic ||
      std::string_view(tail + sizeof length, kMagic.size()) != kMagic) {
    return Damaged(path, "it is no Parquet file");
  }
  begin = size - kTail - int64_t{length};
  if (begin < static_cast<int64_t>(kMagic.size())) {
    return Damaged(path, "its footer is cut short");
  }
  std::string footer(length, '\0');
  file.seekg(begin).read(footer.data(), int64_t{length});
  if (!file) {
    return Damaged(path, "its footer cannot be read");
  }
  return footer;
}

}  // namespace

Status CheckParquetFooter(const std::string& path, int64_t rows) {
  int64_t begin = 0;
  NSYS_ASSIGN(const std::string bytes, ReadFooter(path, begin));
  ThriftReader in(bytes);
  Footer footer;
  EachField(in, [&](const ThriftReader::Field& field) {
    if (field.id == file_field::kRows && field.type == ThriftType::kI64) {
      footer.rows = in.ZigZag();
      return true;
    }
    if (field.id == file_field::kRowGroups && field.type == ThriftType::kList) {
      EachStruct(in, [&] { ReadRowGroup(in, footer); });
      return true;
    }
    return false;
  });
  if (!in.ok() || in.at() != bytes.size()) {
    return Damaged(path, "its footer makes no sense");
  }
  if (!footer.chunks_in_order ||
      footer.bytes_of_chunks + static_cast<int64_t>(kMagic.size()) != begin) {
    return Damaged(path, "its columns do not lie where its footer says");
  }
  if (footer.rows != rows || footer.rows_of_groups != rows) {
    return Damaged(path, fmt::format("it has {} rows of {}", footer.rows, rows));
  }
  return {};
}

}  // namespace nsys
