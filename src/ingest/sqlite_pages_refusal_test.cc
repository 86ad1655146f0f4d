// SPDX-License-Identifier: MIT
// What cannot be read by pages: an error with --reader pages, and SQLite's rows otherwise.
#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/sqlite_pages_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::HasSubstr;

void ExpectFileRefused(const std::string& path, const std::string& why) {
  const auto pages = OpenSqliteAs(path, SqliteReader::kPages, 1);
  ASSERT_FALSE(pages.ok());
  EXPECT_EQ(pages.error().code, ErrorCode::kProfile);
  EXPECT_THAT(pages.error().message, HasSubstr("by pages: " + why));
  ExpectAsSqlite(path, SqliteReader::kAuto);
}

void ExpectTableRefused(const std::string& sql, const std::string& why) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, sql);
  const auto source = OpenSqliteAs(path, SqliteReader::kPages, 1);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const WantedColumn wanted[] = {{"a", CellType::kInteger}};
  const Status read = source.value()->Read("t", wanted, [](const Batch&) {});
  ASSERT_FALSE(read.ok());
  EXPECT_THAT(read.error().message, HasSubstr("table t: " + why));
  ExpectAsSqlite(path, SqliteReader::kAuto);
}

TEST(SqlitePagesRefusal, Utf16) {
  const TempFolder folder;
  for (const char* encoding : {"UTF-16le", "UTF-16be"}) {
    const std::string path = folder / encoding;
    MakeSqlite(path, fmt::format("PRAGMA encoding='{}'; CREATE TABLE t (a INTEGER, s TEXT); INSERT "
                                 "INTO t VALUES (1,'x'),(2,'\xC3\xA9')",
                                 encoding));
    ExpectFileRefused(path, "its texts are not UTF-8");
  }
}

TEST(SqlitePagesRefusal, WriteAheadLogs) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, "PRAGMA journal_mode=WAL; CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (4)");
  ExpectFileRefused(path, "it is in the mode of write-ahead logs");
  const TempFolder copies;
  const OpenDatabase db = OpenForWriting(path);
  Execute(db.get(), "PRAGMA wal_autocheckpoint=0; INSERT INTO t VALUES (5)");
  std::filesystem::copy(path, copies / "x.sqlite");
  std::filesystem::copy(path + "-wal", copies / "x.sqlite-wal");
  ExpectFileRefused(copies / "x.sqlite", "a write-ahead log lies beside it");
}

TEST(SqlitePagesRefusal, HotJournalIsAnErrorOfBothReaders) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)");
  WriteFile(path + "-journal",
            std::string("\xD9\xD5\x05\xF9\x20\xA1\x63\xD7", 8) + std::string(504, 'x'));
  for (const SqliteReader reader : {SqliteReader::kAuto, SqliteReader::kPages}) {
    const auto opened = OpenSqliteAs(path, reader, 1);
    ASSERT_FALSE(opened.ok());
    EXPECT_THAT(opened.error().message, HasSubstr("unfinished transaction"));
  }
}

TEST(SqlitePagesRefusal, TablesOfOtherKinds) {
  ExpectTableRefused(
      "CREATE TABLE t (a INTEGER PRIMARY KEY, s TEXT) WITHOUT ROWID; INSERT INTO t "
      "VALUES (3,'x'),(1,'y')",
      "it is WITHOUT ROWID");
  ExpectTableRefused(
      "CREATE TABLE t (a INTEGER, b AS (a*2), c AS (a*3) STORED, d INTEGER); "
      "INSERT INTO t VALUES (3,4),(1,2)",
      "it has generated columns");
}

TEST(SqlitePagesRefusal, DefaultsOfRowsThatAreOlder) {
  ExpectTableRefused(
      "CREATE TABLE t (old INTEGER); INSERT INTO t VALUES (1),(2); ALTER TABLE t "
      "ADD COLUMN a INTEGER DEFAULT 5; ALTER TABLE t ADD COLUMN s TEXT DEFAULT 'd'; "
      "INSERT INTO t VALUES (3,4,'x')",
      "a column with a default was added to rows that exist");
}

TEST(SqlitePagesRefusal, VirtualTablesAreLeftOutAndTheirShadowsRead) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path,
             "CREATE VIRTUAL TABLE v USING fts5(body); INSERT INTO v VALUES ('one two'),('three');"
             "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)");
  ExpectAsSqlite(path, SqliteReader::kAuto);
}

TEST(SqlitePagesRefusal, UnknownFormatOfTheSchema) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeSqlite(path, "CREATE TABLE t (a INTEGER); INSERT INTO t VALUES (1)");
  std::string bytes = ReadFile(path);
  bytes[47] = 9;
  WriteFile(path, bytes);
  EXPECT_FALSE(OpenSqliteAs(path, SqliteReader::kPages, 1).ok());
  EXPECT_FALSE(OpenSqliteAs(path, SqliteReader::kAuto, 1).ok());  // nor does SQLite know it
}

}  // namespace
}  // namespace nsys
