// SPDX-License-Identifier: MIT
// Captures that another program changes between the opening and the end of the loading.
#include <filesystem>
#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "ingest/capture.h"
#include "ingest/ingest_test_util.h"
#include "ingest/load.h"

namespace nsys {
namespace {

using ingest_test::MakeSqlite;
using ingest_test::ReadEverything;
using ingest_test::ReadFile;
using ingest_test::SampleSql;
using ingest_test::TempFolder;
using ingest_test::WriteFile;

class ChangedCapture : public testing::TestWithParam<SqliteReader> {
 protected:
  ChangedCapture() { MakeSqlite(path_, SampleSql()); }

  std::unique_ptr<TableSource> Open() const {
    auto source = OpenCapture(path_, OpenOptions{.reader = GetParam()});
    EXPECT_TRUE(source.ok());
    return std::move(source).value();
  }

  void ExpectChanged(const TableSource& source, bool keep_going = false) const {
    const auto trace = LoadTrace(source, ReadEverything(),
                                 {.threads = 2, .progress = {}, .keep_going = keep_going});
    ASSERT_FALSE(trace.ok());
    EXPECT_EQ(trace.error().code, ErrorCode::kProfile);
    EXPECT_EQ(trace.error().message, path_ + " changed while it was read");
  }

  TempFolder folder_;
  std::string path_ = folder_ / "x.sqlite";
};

TEST_P(ChangedCapture, Untouched) {
  EXPECT_TRUE(LoadTrace(*Open(), ReadEverything(), {.threads = 2, .progress = {}}).ok());
}

TEST_P(ChangedCapture, Shortened) {
  for (const bool keep_going : {false, true}) {
    const std::string content = ReadFile(path_);
    const auto source = Open();
    std::filesystem::resize_file(path_, 8192);
    ExpectChanged(*source, keep_going);
    WriteFile(path_, content);
    ExpectChanged(*source, keep_going);
  }
}

TEST_P(ChangedCapture, Grown) {
  const auto source = Open();
  std::filesystem::resize_file(path_, std::filesystem::file_size(path_) + 4096);
  ExpectChanged(*source);
}

TEST_P(ChangedCapture, ReplacedByAnother) {
  const auto source = Open();
  MakeSqlite(folder_ / "other", SampleSql() + "DELETE FROM CUPTI_ACTIVITY_KIND_KERNEL;");
  std::filesystem::rename(folder_ / "other", path_);
  ExpectChanged(*source);
}

TEST_P(ChangedCapture, Removed) {
  const auto source = Open();
  std::filesystem::remove(path_);
  ExpectChanged(*source);
}

INSTANTIATE_TEST_SUITE_P(Readers, ChangedCapture,
                         testing::Values(SqliteReader::kAuto, SqliteReader::kPages,
                                         SqliteReader::kSqlite));

}  // namespace
}  // namespace nsys
