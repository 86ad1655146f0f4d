// SPDX-License-Identifier: MIT
#include "ingest/sqlite_source.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/ingest_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::HasSubstr;

// One cell per entry: a number, a text, or "-".
std::vector<std::string> Column1(const TableSource& source, const std::string& table,
                                 const WantedColumn& wanted) {
  std::vector<std::string> cells;
  const Status status = source.Read(table, std::span(&wanted, 1), [&](const Batch& batch) {
    const ColumnBatch& column = batch.columns[0];
    for (size_t row = 0; row < batch.rows; ++row) {
      if (column.valid[row] == 0) {
        cells.push_back("-");
      } else if (wanted.type == CellType::kInteger) {
        cells.push_back(std::to_string(column.integers[row]));
      } else {
        cells.emplace_back(column.texts[row]);
      }
    }
  });
  EXPECT_TRUE(status.ok()) << (status.ok() ? "" : status.error().message);
  return cells;
}

TEST(SqliteSource, CellsOfEveryType) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path,
             "CREATE TABLE t (a, b TEXT); INSERT INTO t VALUES (1,'x'),(2.0,NULL),(2.5,x'00ff'),"
             "('3',''),(NULL,7),(-9223372036854775808,'\xC3\xA9'),(1e300,'z')");
  const auto source = OpenSqlite(path);
  ASSERT_TRUE(source.ok()) << source.error().message;
  EXPECT_THAT(Column1(*source.value(), "t", {"a", CellType::kInteger}),
              ElementsAre("1", "2", "-", "-", "-", "-9223372036854775808", "-"));
  EXPECT_THAT(Column1(*source.value(), "t", {"b", CellType::kText}),
              ElementsAre("x", "-", std::string("\0\xFF", 2), "", "7", "\xC3\xA9", "z"));
}

TEST(SqliteSource, SchemaListsTablesInByteOrderWithoutViews) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path,
             "CREATE TABLE b (id INTEGER PRIMARY KEY AUTOINCREMENT, \"end\" INTEGER);"
             "CREATE TABLE a (x TEXT, y REAL); CREATE VIEW v AS SELECT * FROM a;"
             "CREATE TABLE \"we\"\"ird; name\" (\"c\"\"1\" INTEGER); INSERT INTO b VALUES (1,2);"
             "INSERT INTO \"we\"\"ird; name\" VALUES (5)");
  const auto source = OpenSqlite(path);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const std::vector<SourceTable>& tables = source.value()->tables();
  ASSERT_EQ(tables.size(), 3U);
  EXPECT_EQ(tables[0].name, "a");
  EXPECT_EQ(tables[1].name, "b");
  EXPECT_EQ(tables[0].columns[1].type, "REAL");
  EXPECT_TRUE(tables[1].columns[0].primary_key);
  EXPECT_FALSE(tables[1].columns[1].primary_key);
  EXPECT_THAT(Column1(*source.value(), "we\"ird; name", {"c\"1", CellType::kInteger}),
              ElementsAre("5"));
}

TEST(SqliteSource, ManyRowsAndLargeTextsKeepTheirOrder) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(
      path,
      "CREATE TABLE t (n INTEGER, s TEXT); WITH RECURSIVE c(i) AS (SELECT 0 UNION ALL SELECT "
      "i+1 FROM c WHERE i<9999) INSERT INTO t SELECT i, printf('%d:%.*c', i, i%700, 'x') "
      "FROM c");
  const auto source = OpenSqlite(path);
  ASSERT_TRUE(source.ok());
  const std::vector<std::string> texts = Column1(*source.value(), "t", {"s", CellType::kText});
  ASSERT_EQ(texts.size(), 10000U);
  for (size_t i = 0; i < texts.size(); ++i) {
    ASSERT_TRUE(texts[i].starts_with(std::to_string(i) + ":")) << i;
  }
}

TEST(SqliteSource, OddPaths) {
  const TempFolder folder;
  for (const char* name : {"100%41.sqlite", "a b?mode=rw#x.sqlite", "it's \"q\".sqlite",
                           "\xC3\xA9\xE2\x82\xAC.sqlite", "bad\xFF.sqlite"}) {
    const std::string path = folder / name;
    MakeSqlite(path, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (7)");
    const auto source = OpenSqlite(path);
    ASSERT_TRUE(source.ok()) << name << source.error().message;
    EXPECT_THAT(Column1(*source.value(), "t", {"a", CellType::kInteger}), ElementsAre("7"));
  }
}

TEST(SqliteSource, WriteAheadLogIsReadAndLeftAlone) {
  const TempFolder folder;
  const TempFolder copies;
  const OpenDatabase db = OpenForWriting(folder / "x.sqlite");
  Execute(db.get(),
          "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; CREATE TABLE t (a INTEGER);"
          "INSERT INTO t VALUES (1),(2)");
  // As after a crash of the writer: the file and its log, without the shared index.
  const std::string path = copies / "x.sqlite";
  std::filesystem::copy(folder / "x.sqlite", path);
  std::filesystem::copy(folder / "x.sqlite-wal", path + "-wal");
  const std::string before = ReadFile(path) + ReadFile(path + "-wal");
  {
    const auto source = OpenSqlite(path);
    ASSERT_TRUE(source.ok()) << source.error().message;
    EXPECT_THAT(Column1(*source.value(), "t", {"a", CellType::kInteger}), ElementsAre("1", "2"));
    EXPECT_THAT(NamesIn(copies.path()), ElementsAre("x.sqlite", "x.sqlite-wal"));
  }
  std::filesystem::create_symlink(path, folder / "link.sqlite");
  const auto linked = OpenSqlite(folder / "link.sqlite");
  ASSERT_TRUE(linked.ok()) << linked.error().message;
  EXPECT_THAT(Column1(*linked.value(), "t", {"a", CellType::kInteger}), ElementsAre("1", "2"));
  EXPECT_THAT(NamesIn(copies.path()), ElementsAre("x.sqlite", "x.sqlite-wal"));
  EXPECT_EQ(ReadFile(path) + ReadFile(path + "-wal"), before);
}

TEST(SqliteSource, WalModeWithoutLog) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (4)");
  ASSERT_THAT(NamesIn(folder.path()), ElementsAre("x.sqlite"));
  const auto source = OpenSqlite(path);
  ASSERT_TRUE(source.ok()) << source.error().message;
  EXPECT_THAT(Column1(*source.value(), "t", {"a", CellType::kInteger}), ElementsAre("4"));
  EXPECT_THAT(NamesIn(folder.path()), ElementsAre("x.sqlite"));
}

TEST(SqliteSource, HotJournalIsAnErrorAndAFinishedOneIsNot) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)");
  WriteFile(path + "-journal",
            std::string("\xD9\xD5\x05\xF9\x20\xA1\x63\xD7", 8) + std::string(504, 'x'));
  const auto hot = OpenSqlite(path);
  ASSERT_FALSE(hot.ok());
  EXPECT_EQ(hot.error().code, ErrorCode::kProfile);
  EXPECT_THAT(hot.error().message, HasSubstr("unfinished transaction"));
  WriteFile(path + "-journal", std::string(512, '\0'));
  EXPECT_TRUE(OpenSqlite(path).ok());
}

TEST(SqliteSource, TruncationIsNamedWithBothSizes) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, SampleSql());
  const std::string whole = ReadFile(path);
  WriteFile(path, whole.substr(0, whole.size() - 4097));
  const auto cut = OpenSqlite(path);
  ASSERT_FALSE(cut.ok());
  EXPECT_THAT(cut.error().message, HasSubstr("is damaged or truncated"));
  EXPECT_THAT(cut.error().message, HasSubstr(std::to_string(whole.size() - 4097)));
  EXPECT_THAT(cut.error().message, HasSubstr(std::to_string(whole.size())));
  EXPECT_THAT(cut.error().hint, HasSubstr("export the report again"));
}

TEST(SqliteSource, DamagedPagesNameTheTable) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path,
             "PRAGMA page_size=1024; CREATE TABLE t (n INTEGER, s TEXT); WITH RECURSIVE c(i) AS "
             "(SELECT 0 UNION ALL SELECT i+1 FROM c WHERE i<999) INSERT INTO t SELECT i, "
             "'abcdefghijklmnop' FROM c");
  std::string bytes = ReadFile(path);
  for (size_t at = 4096; at < bytes.size(); ++at) {
    bytes[at] = static_cast<char>(0xA5);
  }
  WriteFile(path, bytes);
  const auto source = OpenSqlite(path);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const WantedColumn wanted[] = {{"n", CellType::kInteger}};
  const Status status = source.value()->Read("t", wanted, [](const Batch&) {});
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kProfile);
  EXPECT_THAT(status.error().message, HasSubstr("damaged or truncated in table t"));
}

// Every prefix and many flips: an error or rows, never a crash.
TEST(SqliteSource, SurvivesAnyPrefixAndFlippedBytes) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, SampleSql());
  const std::string whole = ReadFile(path);
  const auto try_bytes = [&](const std::string& bytes) {
    WriteFile(path, bytes);
    const auto source = OpenSqlite(path);
    if (source.ok()) {
      const auto trace =
          LoadTrace(*source.value(), ReadEverything(), {.threads = 1, .progress = {}});
      if (!trace.ok()) {
        EXPECT_EQ(trace.error().code, ErrorCode::kProfile);
      }
    }
  };
  for (size_t size = 0; size < whole.size(); size += 997) {
    try_bytes(whole.substr(0, size));
  }
  for (size_t at = 16; at < whole.size(); at += 331) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x5A);
    try_bytes(bytes);
  }
}

}  // namespace
}  // namespace nsys
