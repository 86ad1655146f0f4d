// SPDX-License-Identifier: MIT
// TableSource: the narrow door between a file format and everything else. It names the tables of a
// capture and streams the wanted columns of one table as batches; what the columns mean is the
// loader's business (load.h). A faster reader of a format is another TableSource.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "ingest/input_files.h"
#include "trace/trace.h"

namespace nsys {

enum class CellType { kInteger, kReal, kText };

struct WantedColumn {
  std::string name;  // must exist in the table
  CellType type = CellType::kInteger;
};

// A cell that is no NULL and not of the type that is wanted.
struct ForeignCell {
  size_t row = 0;
  std::string_view type = {};  // lasts for ever
};

// One column of a batch. Exactly one of `integers`, `texts` and `reals` is filled, as wanted, with
// one entry per row. `valid[row] == 0` marks NULL and cells of another type (text where an integer
// is wanted); the entry is then 0 or empty. Unsigned 64-bit values arrive as their bit pattern, and
// integers where reals are wanted as reals. Texts are the raw bytes of the file: not necessarily
// UTF-8, and they may hold NUL; blobs count as texts.
struct ColumnBatch {
  std::span<const int64_t> integers;
  std::span<const std::string_view> texts;
  std::span<const uint8_t> valid;
  std::span<const double> reals = {};
  std::span<const ForeignCell> foreign = {};  // in the order of their rows
};

struct Batch {
  size_t rows = 0;
  std::span<const ColumnBatch> columns;  // in the order wanted
  size_t rows_in_all = 0;                // of the whole reading, about; 0 where that is not known
};

// Called for each batch in row order; everything in the batch is gone when it returns. A sink that
// returns false ends the reading, which then counts as done; one that returns nothing reads on.
class BatchSink {
 public:
  template <typename Function>
    requires std::is_invocable_v<Function&, const Batch&>
  BatchSink(Function function) {  // NOLINT(google-explicit-constructor): made from a lambda
    if constexpr (std::is_void_v<std::invoke_result_t<Function&, const Batch&>>) {
      sink_ = [function = std::move(function)](const Batch& batch) mutable {
        function(batch);
        return true;
      };
    } else {
      sink_ = std::move(function);
    }
  }
  bool operator()(const Batch& batch) const { return sink_(batch); }

 private:
  std::function<bool(const Batch&)> sink_;
};

// Where the tables come from, for engines that read the files themselves.
enum class SourceForm { kNone, kSqliteFile, kParquetFolder };
struct SourceLocation {
  SourceForm form = SourceForm::kNone;
  std::string path;
};

// Which rows the caller will use; sources may leave out others, each as far as it can.
struct RowHint {
  // For an engine of SQL: rows whose `text` begins with `prefix`, and those whose `text_id` is one
  // of `ids`. A column that the table lacks is named by an empty text; no prefix, no condition.
  std::string text;
  std::string prefix;  // letters and digits
  std::string text_id;
  std::vector<int64_t> ids;

  // For a reader of rows: sets `wanted[row]` to 1 for those of a batch that are wanted, with the
  // columns at the places `keys` of those asked for; others are not there. Several threads may
  // call it at once. May be empty.
  using Pick = std::function<void(const Batch& batch, std::span<uint8_t> wanted)>;
  Pick pick = nullptr;
  std::vector<size_t> keys = {};
};

class TableSource {
 public:
  virtual ~TableSource() = default;

  // All tables (no views, no internal ones) in byte order of their names.
  virtual const std::vector<SourceTable>& tables() const = 0;

  // What opening left out, and why.
  virtual std::vector<std::string> warnings() const { return {}; }

  // Who reads the tables, and why where there was a choice. Complete after the last Read. Empty
  // when there is one way only.
  virtual std::string reader() const { return {}; }

  // The file or folder behind the tables; it may be a temporary one that goes with the source.
  virtual SourceLocation location() const { return {}; }

  // The files behind the tables; a caller checks them when it has read what it wants.
  virtual InputFiles inputs() const { return {}; }

  // Streams `columns` of `table` to `sink` in the order of the file's rows. Several calls may run
  // at once.
  virtual Status Read(std::string_view table, std::span<const WantedColumn> columns,
                      const BatchSink& sink) const = 0;

  // The same, but other rows than those of `hint` may be left out.
  virtual Status ReadHinted(std::string_view table, std::span<const WantedColumn> columns,
                            const RowHint& /*hint*/, const BatchSink& sink) const {
    return Read(table, columns, sink);
  }
};

}  // namespace nsys
