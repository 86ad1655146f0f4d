// SPDX-License-Identifier: MIT
#include "ingest/sqlite_pages.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/ordered_blocks.h"
#include "base/text.h"
#include "ingest/file_kind.h"
#include "ingest/sqlite_connection.h"
#include "ingest/sqlite_page_batch.h"
#include "ingest/sqlite_page_schema.h"
#include "ingest/sqlite_source.h"

namespace nsys {
namespace {

// Leaves are read in blocks of so many bytes, whatever the number of threads.
constexpr size_t kBlockBytes = size_t{1} << 18;
constexpr int kMostThreads = 8;           // for one table
constexpr size_t kBlocksForThreads = 16;  // smaller tables are read before a thread has started

// Ends OrderedBlocks; why, is told elsewhere.
const Error kEnough = {.code = ErrorCode::kProfile, .message = "", .hint = ""};

// Some rows of a batch as a batch of their own.
class BatchPart {
 public:
  // Until the next call, and as long as `batch`.
  Batch Of(const Batch& batch, size_t first, size_t rows) {
    columns_.resize(batch.columns.size());
    foreign_.resize(batch.columns.size());
    for (size_t i = 0; i < batch.columns.size(); ++i) {
      const ColumnBatch& column = batch.columns[i];
      const auto part = [&](const auto& cells) {
        return cells.empty() ? cells : cells.subspan(first, rows);
      };
      foreign_[i].clear();
      for (const ForeignCell& cell : column.foreign) {
        if (cell.row >= first && cell.row < first + rows) {
          foreign_[i].push_back({.row = cell.row - first, .type = cell.type});
        }
      }
      columns_[i] = {.integers = part(column.integers),
                     .texts = part(column.texts),
                     .valid = part(column.valid),
                     .reals = part(column.reals),
                     .foreign = foreign_[i]};
    }
    return {.rows = rows, .columns = columns_};
  }

 private:
  std::vector<ColumnBatch> columns_;
  std::vector<std::vector<ForeignCell>> foreign_;
};

// How far the reading of a table by pages got.
struct PagesRead {
  uint64_t rows = 0;          // gone through: the sink has those that are wanted
  bool stopped = false;       // the sink wants no more
  Refusal refusal = nullptr;  // why it ended early
};

// The threads that one reading of a table may use: those that no other has.
class ThreadClaim {
 public:
  ThreadClaim(std::atomic<int>& idle, bool wanted)
      : idle_(idle), count_(wanted ? idle.exchange(0) : 0) {}
  ~ThreadClaim() { idle_ += count_; }
  ThreadClaim(const ThreadClaim&) = delete;
  ThreadClaim& operator=(const ThreadClaim&) = delete;
  int count() const { return count_; }

 private:
  std::atomic<int>& idle_;
  int count_;
};

// The rows of `all` leaves, some of which have `rows`; a little more, as rows grow shorter or
// longer.
size_t RowsInAll(size_t rows, size_t leaves, size_t all) {
  return leaves == 0 ? 0 : (rows * all / leaves) * 17 / 16;
}

Error NotByPages(const std::string& path, std::string_view why) {
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("cannot read {} by pages: {}", ShownPath(path), why),
          .hint = "leave --reader pages out: SQLite reads what pages cannot give"};
}

class PagedSource final : public TableSource {
 public:
  PagedSource(std::string path, PageFile file, PagedSchema schema,
              std::unique_ptr<TableSource> sqlite, SqliteReader reader, int threads)
      : path_(std::move(path)),
        file_(std::move(file)),
        schema_(std::move(schema)),
        sqlite_(std::move(sqlite)),
        reader_(reader),
        idle_threads_(std::clamp(threads, 1, kMostThreads)) {}

  const std::vector<SourceTable>& tables() const override { return sqlite_->tables(); }
  SourceLocation location() const override { return sqlite_->location(); }
  std::vector<std::string> warnings() const override { return sqlite_->warnings(); }
  std::string reader() const override;
  InputFiles inputs() const override { return sqlite_->inputs(); }
  Status Read(std::string_view table, std::span<const WantedColumn> columns,
              const BatchSink& sink) const override;
  Status ReadHinted(std::string_view table, std::span<const WantedColumn> columns,
                    const RowHint& hint, const BatchSink& sink) const override;

 private:
  Status ReadPicked(std::string_view table, std::span<const WantedColumn> columns,
                    const RowHint* hint, const BatchSink& sink) const;
  PagesRead ReadPages(std::string_view table, std::span<const WantedColumn> columns,
                      const RowHint* hint, const BatchSink& sink) const;
  PagesRead ReadLeaves(const RecordReader& records, std::span<const uint32_t> leaves,
                       const RowHint* hint, const BatchSink& sink) const;
  Status ReadRest(std::string_view table, std::span<const WantedColumn> columns, uint64_t done,
                  const BatchSink& sink) const;

  std::string path_;
  PageFile file_;
  PagedSchema schema_;
  std::unique_ptr<TableSource> sqlite_;
  SqliteReader reader_;
  mutable std::atomic<int> idle_threads_;
  mutable std::mutex refused_mutex_;
  mutable std::map<std::string, Refusal, std::less<>> refused_;  // tables that SQLite read, and why
};

std::string PagedSource::reader() const {
  std::vector<std::string> refused;
  const std::scoped_lock lock(refused_mutex_);
  for (const auto& [table, why] : refused_) {
    refused.push_back(fmt::format("{} ({})", Printable(table), why));
  }
  return refused.empty() ? "read by pages"
                         : "read by pages; by SQLite the rest of " + Join(refused, ", ");
}

PagesRead PagedSource::ReadPages(std::string_view table, std::span<const WantedColumn> columns,
                                 const RowHint* hint, const BatchSink& sink) const {
  const auto found = schema_.tables.find(table);
  if (found == schema_.tables.end()) {
    return {.refusal = "it is not in the schema"};
  }
  const PagedTable& paged = found->second;
  if (paged.refusal != nullptr) {
    return {.refusal = paged.refusal};
  }
  std::vector<WantedCell> wanted = paged.Find(columns);
  if (wanted.empty()) {
    return {.refusal = "a column is not in the schema"};
  }
  std::vector<uint32_t> leaves;
  if (const Refusal why = ListLeaves(file_, paged.root, leaves); why != nullptr) {
    return {.refusal = why};
  }
  return ReadLeaves(RecordReader(std::move(wanted)), leaves, hint, sink);
}

PagesRead PagedSource::ReadLeaves(const RecordReader& records, std::span<const uint32_t> leaves,
                                  const RowHint* hint, const BatchSink& sink) const {
  struct Block {
    std::unique_ptr<PageBatch> batch;
    Refusal refusal = nullptr;
  };
  const size_t block_leaves = std::max<size_t>(1, kBlockBytes / file_.page_size());
  const size_t blocks = (leaves.size() + block_leaves - 1) / block_leaves;
  const bool only = leaves.size() == 1;
  PagesRead read;
  const auto make = [&](size_t block, Block& out) -> Status {
    if (out.batch == nullptr) {
      out.batch = std::make_unique<PageBatch>(file_, records, hint);
    }
    const size_t first = block * block_leaves;
    out.batch->Start(leaves.subspan(first, std::min(block_leaves, leaves.size() - first)), only);
    out.refusal = out.batch->Fill();
    return {};
  };
  size_t released = 0;  // blocks
  const auto release = [&](size_t block, bool all) {
    constexpr size_t kAtOnce = 16;
    if (all || block - released >= kAtOnce) {
      const size_t first = std::min(released * block_leaves, leaves.size());
      file_.Release(leaves.subspan(first, std::min(block * block_leaves, leaves.size()) - first));
      released = block;
    }
  };
  const auto take = [&](size_t block, Block& made) -> Status {
    for (;;) {
      read.refusal = made.refusal;
      if (read.refusal != nullptr) {
        return kEnough;
      }
      Batch rows = made.batch->rows();
      rows.rows_in_all = RowsInAll(rows.rows, made.batch->leaves_read(), leaves.size());
      read.stopped = rows.rows > 0 && !sink(rows);
      read.rows += made.batch->rows_seen();
      if (read.stopped) {
        return kEnough;
      }
      if (!made.batch->more()) {
        release(block, false);
        return {};
      }
      made.refusal = made.batch->Fill();
    }
  };
  const ThreadClaim threads(idle_threads_, blocks >= kBlocksForThreads);
  static_cast<void>(OrderedBlocks<Block>::Run(blocks, threads.count(), make, take).ok());
  release(blocks, true);
  return read;
}

// Has SQLite deliver what comes after the first `done` rows.
Status PagedSource::ReadRest(std::string_view table, std::span<const WantedColumn> columns,
                             uint64_t done, const BatchSink& sink) const {
  uint64_t passed = 0;
  BatchPart part;
  return sqlite_->Read(table, columns, [&](const Batch& batch) {
    const uint64_t skipped = std::min<uint64_t>(done - passed, batch.rows);
    passed += skipped;
    return skipped == batch.rows || sink(part.Of(batch, skipped, batch.rows - skipped));
  });
}

Status PagedSource::ReadPicked(std::string_view table, std::span<const WantedColumn> columns,
                               const RowHint* hint, const BatchSink& sink) const {
  const PagesRead read = ReadPages(table, columns, hint, sink);
  if (file_.shrunk()) {
    return ChangedWhileRead(path_);
  }
  if (read.stopped || read.refusal == nullptr) {
    return {};
  }
  if (reader_ == SqliteReader::kPages) {
    return NotByPages(path_, fmt::format("table {}: {}", Printable(table), read.refusal));
  }
  {
    const std::scoped_lock lock(refused_mutex_);
    refused_.try_emplace(std::string(table), read.refusal);
  }
  return ReadRest(table, columns, read.rows, sink);
}

Status PagedSource::Read(std::string_view table, std::span<const WantedColumn> columns,
                         const BatchSink& sink) const {
  return ReadPicked(table, columns, nullptr, sink);
}

Status PagedSource::ReadHinted(std::string_view table, std::span<const WantedColumn> columns,
                               const RowHint& hint, const BatchSink& sink) const {
  return ReadPicked(table, columns, &hint, sink);
}

struct Pages {
  PageFile file;
  PagedSchema schema;
};

Result<Pages> OpenPages(const std::string& path) {
  NSYS_ASSIGN(const SqliteFile file, SqliteFile::Open(path));
  if (file.has_log()) {
    return Error{.code = ErrorCode::kProfile, .message = "a write-ahead log lies beside it"};
  }
  NSYS_ASSIGN(PageFile pages, PageFile::Open(file.target()));
  NSYS_ASSIGN(const SqliteDatabase db, file.Connect());
  NSYS_ASSIGN(PagedSchema schema, LoadPagedSchema(db.get()));
  if (schema.cookie != pages.schema_cookie()) {
    return Error{.code = ErrorCode::kProfile, .message = "it changes while it is read"};
  }
  return Pages{.file = std::move(pages), .schema = std::move(schema)};
}

}  // namespace

Result<std::unique_ptr<TableSource>> OpenSqliteAs(const std::string& path, SqliteReader reader,
                                                  int threads) {
  if (reader == SqliteReader::kSqlite) {
    return OpenSqlite(path);
  }
  NSYS_ASSIGN(std::unique_ptr<TableSource> sqlite, OpenSqlite(path));
  Result<Pages> pages = OpenPages(path);
  if (!pages.ok() && reader == SqliteReader::kPages) {
    return NotByPages(path, pages.error().message);
  }
  if (!pages.ok()) {
    return OpenSqlite(path, pages.error().message);
  }
  return std::unique_ptr<TableSource>(std::make_unique<PagedSource>(
      path, std::move(pages.value().file), std::move(pages.value().schema), std::move(sqlite),
      reader, threads));
}

}  // namespace nsys
