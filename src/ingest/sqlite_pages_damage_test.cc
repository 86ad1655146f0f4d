// SPDX-License-Identifier: MIT
// Files that are damaged in any way: the page reader gives what SQLite gives of them, or leaves
// them to SQLite and its words.
#include <cstring>
#include <random>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/sqlite_pages_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;

// A small file with trees of several levels, long rows and free pages.
std::string SmallFile(const std::string& path) {
  MakeSqlite(path,
             "PRAGMA page_size=512; CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER, s TEXT, "
             "r REAL); WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<700) "
             "INSERT INTO t SELECT i, i*i*i, printf('%.*c', i%50+(i%61=0)*900, 'x'), i/4.0 FROM c; "
             "DELETE FROM t WHERE id%13=0; CREATE TABLE u (a, b BLOB); INSERT INTO u VALUES "
             "(1,x'0102'),(NULL,randomblob(3000)),('x',NULL); CREATE TABLE gone (a); "
             "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<300) "
             "INSERT INTO gone SELECT i*1000 FROM c; DROP TABLE gone");
  return ReadFile(path);
}

// Whether a reader opens the file, and how many tables both readers read to the end.
struct Outcome {
  bool opened = false;
  int tables = 0;
};

Outcome CompareReaders(const std::string& path, int threads) {
  const auto sqlite = OpenSqliteAs(path, SqliteReader::kSqlite, 1);
  const auto source = OpenSqliteAs(path, SqliteReader::kAuto, threads);
  EXPECT_EQ(source.ok(), sqlite.ok());
  if (!source.ok() || !sqlite.ok()) {
    return {};
  }
  Outcome outcome{.opened = true};
  for (const SourceTable& table : sqlite.value()->tables()) {
    std::vector<WantedColumn> wanted;
    for (const SourceColumn& column : table.columns) {
      wanted.push_back({column.name, CellType::kInteger});
      wanted.push_back({column.name, CellType::kText});
    }
    if (wanted.empty()) {
      continue;
    }
    const Result<std::string> ours = DigestOf(*source.value(), table.name, wanted);
    const Result<std::string> theirs = DigestOf(*sqlite.value(), table.name, wanted);
    EXPECT_EQ(ours.ok(), theirs.ok()) << (ours.ok() ? theirs : ours).error().message;
    if (ours.ok() && theirs.ok()) {
      EXPECT_EQ(ours.value(), theirs.value());
      ++outcome.tables;
    }
  }
  return outcome;
}

std::string Damaged(std::string bytes, std::mt19937& random) {
  const auto below = [&](size_t limit) { return random() % limit; };
  if (below(10) == 0) {
    bytes.resize(below(bytes.size()));
    return bytes;
  }
  const size_t changes = 1 + below(4);
  for (size_t i = 0; i < changes; ++i) {
    const size_t page = below(bytes.size() / 512) * 512;
    // The begin of a page, with its header and the list of its cells, matters most.
    const size_t at = page + (below(2) == 0 ? below(40) : below(512));
    bytes[at] = static_cast<char>(below(3) == 0 ? below(4) : below(256));
  }
  return bytes;
}

TEST(SqlitePagesDamage, TwoThousandChangesAsSqlite) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  const std::string whole = SmallFile(path);
  std::mt19937 random(20240611);
  int opened = 0;
  int tables = 0;
  for (int i = 0; i < 2000; ++i) {
    SCOPED_TRACE(i);
    WriteFile(path, Damaged(whole, random));
    const Outcome outcome = CompareReaders(path, 1);
    opened += outcome.opened ? 1 : 0;
    tables += outcome.tables;
    if (testing::Test::HasFailure()) {
      break;
    }
  }
  EXPECT_GT(opened, 1000);
  EXPECT_GT(tables, 1000);
}

// `bytes` with a big-endian number of four bytes at `at`.
std::string With(std::string bytes, size_t at, uint32_t number) {
  for (size_t i = 0; i < 4; ++i) {
    bytes[at + i] = static_cast<char>(number >> (24 - 8 * i));
  }
  return bytes;
}

TEST(SqlitePagesDamage, PagesThatLeadBackEndTheReading) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  const std::string whole = SmallFile(path);
  int interior = 0;
  for (size_t page = 512; page < whole.size(); page += 512) {
    const auto number = static_cast<uint32_t>(page / 512 + 1);
    // Every first word of a page as the number of another: chains of overflow pages become rings.
    for (const uint32_t next : {number, number + 1, 1U, 0xFFFFFFFFU}) {
      WriteFile(path, With(whole, page, next));
      CompareReaders(path, 1);
    }
    if (whole[page] == 5) {
      ++interior;
      WriteFile(path, With(whole, page + 8, number));  // its own last child
      CompareReaders(path, 1);
    }
  }
  EXPECT_GT(interior, 0);
}

// What was given before the page reader gave up is not given twice.
TEST(SqlitePagesDamage, SqliteGoesOnWherePagesStop) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  // The rows that lack their last column come last, behind many blocks of whole ones.
  MakeSqlite(path,
             "PRAGMA page_size=512; CREATE TABLE t (id INTEGER PRIMARY KEY, n INTEGER); WITH "
             "RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<200000) INSERT INTO "
             "t SELECT i+1000000, i FROM c; ALTER TABLE t ADD COLUMN later INTEGER DEFAULT 7; WITH "
             "RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<200000) INSERT INTO "
             "t SELECT i, i, -i FROM c");
  const std::string whole = ReadFile(path);
  std::string broken = whole;
  const size_t leaf = whole.size() / 512 / 4 * 3 * 512;
  ASSERT_EQ(broken[leaf], 13);
  broken[leaf + 8] = broken[leaf + 9] = 0;  // where its first cell is
  for (const int threads : {1, 4}) {
    WriteFile(path, whole);
    ExpectAsSqlite(path, SqliteReader::kAuto, threads);
    WriteFile(path, broken);
    CompareReaders(path, threads);
  }
}

}  // namespace
}  // namespace nsys
