// SPDX-License-Identifier: MIT
// The page reader gives what SQLite gives, from files of every form that it takes.
#include "ingest/sqlite_pages.h"

#include <filesystem>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/sqlite_pages_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;

// `count` rows of `select`, in which i runs from 1.
std::string Rows(const std::string& table, int count, const std::string& select) {
  return fmt::format(
      "WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i+1 FROM c WHERE i<{}) INSERT INTO {} "
      "SELECT {} FROM c;",
      count, table, select);
}

// Every width of integers with both signs and their limits, constants, reals, NULL, wrong types.
std::string CellsSql() {
  std::string sql = "CREATE TABLE cells (a, i INTEGER, r REAL, t TEXT, n NUMERIC, b BLOB);";
  for (const int bits : {0, 1, 7, 8, 15, 16, 23, 24, 31, 32, 47, 48, 53, 62}) {
    for (const char* form : {"(1<<{0})", "-(1<<{0})", "(1<<{0})-1", "-(1<<{0})-1"}) {
      const std::string value = fmt::format(fmt::runtime(form), bits);
      sql += fmt::format("INSERT INTO cells VALUES ({0},{0},{0},{0},{0},{0});", value);
    }
  }
  for (const char* value : {"0",
                            "1",
                            "9223372036854775807",
                            "-9223372036854775807-1",
                            "1.5",
                            "-0.0",
                            "2.0",
                            "1e300",
                            "-1e300",
                            "9.2e18",
                            "9.3e18",
                            "1e999",
                            "NULL",
                            "'text'",
                            "'12'",
                            "'1.5'",
                            "''",
                            "x''",
                            "x'00ff00'",
                            "'\xC3\xA9'",
                            "CAST(x'ff61' AS TEXT)",
                            "'a'||char(0)||'b'",
                            "x'31'"}) {
    sql += fmt::format("INSERT INTO cells VALUES ({0},{0},{0},{0},{0},{0});", value);
  }
  return sql;
}

// Texts and blobs around the sizes at which records leave their page, and far beyond.
std::string LongSql() {
  std::string sql = "CREATE TABLE long (a INTEGER, s TEXT, b BLOB, z INTEGER);";
  for (const int size :
       {0,    1,    38,   39,   40,   57,   58,   59,   100,  440,  447,   449,   470,   471,
        472,  473,  474,  475,  476,  477,  478,  479,  480,  481,  500,   507,   508,   509,
        1000, 1016, 4000, 4040, 4050, 4060, 4070, 4080, 4096, 9000, 65000, 65500, 65536, 200000}) {
    sql += fmt::format(
        "INSERT INTO long VALUES ({0},printf('%.*c',{0},'x'),NULL,7),"
        "({0},NULL,randomblob({0}),NULL),({0},printf('%.*c',{0},'y'),randomblob({0}),-{0});",
        size);
  }
  return sql;
}

std::string OddTablesSql() {
  std::string wide = "CREATE TABLE wide (c0 INTEGER";
  std::string values = "1";
  for (int i = 1; i < 300; ++i) {
    wide += fmt::format(", c{} {}", i, i % 5 == 0 ? "TEXT" : "INTEGER");
    values += i % 5 == 0 ? fmt::format(",'t'||(i*{})", i) : fmt::format(",i*{}", i);
  }
  return wide + ");" + Rows("wide", 40, values) +
         "CREATE TABLE empty (a INTEGER, b TEXT);"
         "CREATE TABLE keyed (id INTEGER PRIMARY KEY, v TEXT);"
         "INSERT INTO keyed VALUES (-9223372036854775808,'least'),(-5,'a'),(0,'b'),(1,NULL),"
         "(300,'c'),(9223372036854775807,'most');"
         "CREATE TABLE downward (id INTEGER PRIMARY KEY DESC, v TEXT);"
         "INSERT INTO downward VALUES (3,'x'),(1,'y'),(2,'z');"
         "CREATE TABLE int_key (id INT PRIMARY KEY, v TEXT); INSERT INTO int_key VALUES (7,'x');"
         "CREATE TABLE two_keys (a INTEGER, b INTEGER, PRIMARY KEY (a, b));"
         "INSERT INTO two_keys VALUES (1,2),(0,4);"
         "CREATE TABLE late_key (v TEXT, id INTEGER, PRIMARY KEY (id));" +
         Rows("late_key", 300, "'v'||i, i*i*i*i-100000") +
         "CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT, v INTEGER);"
         "INSERT INTO counted(v) VALUES (5),(6);"
         "CREATE TABLE strict_one (a INT, r REAL, t TEXT, x ANY, b BLOB) STRICT;"
         "INSERT INTO strict_one VALUES (1,2,'t',3.0,x'01'),(NULL,2.5,NULL,'x',NULL);"
         "CREATE TABLE \"we\"\"ird; name\" (\"c\"\"1\" INTEGER); INSERT INTO \"we\"\"ird; name\" "
         "VALUES (5);"
         "CREATE TABLE doubles (a FLOAT, b DOUBLE PRECISION, c \"FLOATING POINT\", d \"REAL "
         "TEXT\");" +
         Rows("doubles", 50, "i*3, i*0.5, i<<40, i");
}

std::string ManyRowsSql() {
  return "CREATE TABLE many (n INTEGER, w INTEGER, s TEXT, r REAL);" +
         Rows("many", 6000,
              "i, CASE i%7 WHEN 0 THEN NULL WHEN 1 THEN 0 WHEN 2 THEN 1 ELSE i<<(i%40) END, "
              "printf('%d:%.*c', i, i%90, 'x'), CASE i%3 WHEN 0 THEN i WHEN 1 THEN i/8.0 END") +
         "CREATE INDEX many_n ON many(n, s);"
         "CREATE TABLE thinned (n INTEGER, s TEXT);" +
         Rows("thinned", 3000, "i, printf('%.*c', i%300, 'y')") +
         "DELETE FROM thinned WHERE n%3=1 OR n BETWEEN 700 AND 1500;"
         "UPDATE thinned SET s=s||s||'longer' WHERE n%10=0;"
         "CREATE TABLE dropped (n INTEGER, s TEXT);" +
         Rows("dropped", 2000, "i, printf('%.*c', i%200, 'z')") +
         "DROP TABLE dropped; CREATE TABLE dropped (other TEXT, n INTEGER);" +
         Rows("dropped", 300, "'o'||i, -i") + "CREATE TABLE emptied (n INTEGER);" +
         Rows("emptied", 2000, "i") + "DELETE FROM emptied; CREATE TABLE grown (a INTEGER);" +
         Rows("grown", 500, "i") + "ALTER TABLE grown ADD COLUMN later TEXT;" +
         Rows("grown", 500, "i, 'later'||i");
}

std::string EverythingSql() { return CellsSql() + LongSql() + OddTablesSql() + ManyRowsSql(); }

struct Form {
  int page_size;
  int reserved;
  std::string pragmas;
};

void MakeFile(const std::string& path, const Form& form, const std::string& sql) {
  const OpenDatabase db = OpenForWriting(path);
  int reserved = form.reserved;
  if (reserved > 0) {
    sqlite3_file_control(db.get(), "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
  }
  Execute(db.get(), fmt::format("PRAGMA page_size={}; PRAGMA synchronous=OFF; {} BEGIN; {} COMMIT",
                                form.page_size, form.pragmas, sql));
}

TEST(SqlitePages, EveryPageSizeAsSqlite) {
  const TempFolder folder;
  for (const int page_size : {512, 1024, 2048, 4096, 8192, 16384, 32768, 65536}) {
    SCOPED_TRACE(page_size);
    const std::string path = folder / fmt::format("{}.sqlite", page_size);
    MakeFile(path, {.page_size = page_size, .reserved = 0, .pragmas = ""}, EverythingSql());
    ExpectAsSqlite(path, SqliteReader::kPages);
  }
}

TEST(SqlitePages, ReservedBytesAsSqlite) {
  const TempFolder folder;
  for (const Form& form :
       {Form{512, 32, ""}, Form{1024, 8, ""}, Form{4096, 255, ""}, Form{65536, 64, ""}}) {
    SCOPED_TRACE(form.page_size);
    const std::string path = folder / fmt::format("{}.sqlite", form.page_size);
    MakeFile(path, form, EverythingSql());
    EXPECT_EQ(static_cast<unsigned char>(ReadFile(path)[20]), form.reserved);
    ExpectAsSqlite(path, SqliteReader::kPages);
  }
}

// Rows over several overflow pages are left to SQLite there.
TEST(SqlitePages, AutoVacuumAsSqlite) {
  const TempFolder folder;
  for (const char* mode : {"FULL", "INCREMENTAL"}) {
    for (const int page_size : {512, 4096}) {
      SCOPED_TRACE(fmt::format("{} {}", mode, page_size));
      const std::string path = folder / fmt::format("{}{}.sqlite", mode, page_size);
      const std::string pragma = fmt::format("PRAGMA auto_vacuum={};", mode);
      MakeFile(path, {page_size, 0, pragma}, EverythingSql());
      ExpectAsSqlite(path, SqliteReader::kAuto);
      MakeFile(folder / "short.sqlite", {page_size, 0, pragma}, CellsSql() + ManyRowsSql());
      ExpectAsSqlite(folder / "short.sqlite", SqliteReader::kPages);
      std::filesystem::remove(folder / "short.sqlite");
    }
  }
}

TEST(SqlitePages, RowsDoNotDependOnThreads) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeFile(path, {.page_size = 1024, .reserved = 0, .pragmas = ""},
           "CREATE TABLE t (n INTEGER, s TEXT);" +
               Rows("t", 120000, "i, printf('%d:%.*c', i, i%60 + (i%1000=0)*3000, 'x')"));
  ASSERT_GT(std::filesystem::file_size(path), 20U << 18);
  for (const int threads : {2, 3, 8}) {
    ExpectAsSqlite(path, SqliteReader::kPages, threads);
  }
}

TEST(SqlitePages, SinkThatWantsNoMoreEndsTheReading) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeFile(path, {.page_size = 1024, .reserved = 0, .pragmas = ""},
           "CREATE TABLE t (n INTEGER, s TEXT);" + Rows("t", 150000, "i, printf('%.*c', 40, 'x')"));
  for (const int threads : {1, 4}) {
    const auto source = OpenSqliteAs(path, SqliteReader::kPages, threads);
    ASSERT_TRUE(source.ok()) << source.error().message;
    const WantedColumn wanted[] = {{"n", CellType::kInteger}};
    int batches = 0;
    EXPECT_TRUE(
        source.value()->Read("t", wanted, [&](const Batch&) { return ++batches < 3; }).ok());
    EXPECT_EQ(batches, 3);
  }
}

// More headers than are kept, in a table that grows meanwhile.
TEST(SqlitePages, ManyDifferentHeadersReadAsSqlite) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeFile(path, {.page_size = 4096, .reserved = 0, .pragmas = ""},
           "CREATE TABLE t (a INTEGER, s TEXT, b INTEGER, u TEXT);" +
               Rows("t", 30000,
                    "i*i*i*(i%3-1), substr(printf('%.*c',i%97,'x'),1), "
                    "CASE i%5 WHEN 0 THEN NULL ELSE 1<<(i%60) END, printf('%.*c',i%89,'y')"));
  ExpectAsSqlite(path, SqliteReader::kPages);
}

TEST(SqlitePages, HintedRowsAreThoseOfSqlite) {
  const TempFolder folder;
  const std::string path = folder / "x.sqlite";
  MakeFile(path, {.page_size = 4096, .reserved = 0, .pragmas = ""},
           "CREATE TABLE t (text TEXT, id INTEGER, n INTEGER);" +
               Rows("t", 9000,
                    "CASE i%4 WHEN 0 THEN 'nccl'||i WHEN 1 THEN 'other' END, "
                    "CASE i%3 WHEN 0 THEN i%11 END, i"));
  const std::vector<WantedColumn> wanted = {
      {"text", CellType::kText}, {"id", CellType::kInteger}, {"n", CellType::kInteger}};
  // What the two forms of a hint say is the same.
  const auto pick = [](std::string_view prefix, std::vector<int64_t> ids) {
    return [=](const Batch& batch, std::span<uint8_t> rows) {
      for (size_t row = 0; row < batch.rows; ++row) {
        const ColumnBatch& text = batch.columns[0];
        const ColumnBatch& id = batch.columns[1];
        const bool by_text = text.valid[row] != 0 && text.texts[row].starts_with(prefix);
        const bool by_id =
            id.valid[row] != 0 && std::find(ids.begin(), ids.end(), id.integers[row]) != ids.end();
        rows[row] = by_text || by_id ? 1 : 0;
      }
    };
  };
  const auto all = [](const Batch&, std::span<uint8_t> rows) {
    std::fill(rows.begin(), rows.end(), uint8_t{1});
  };
  const std::vector<size_t> keys = {0, 1};
  for (const RowHint& hint : {RowHint{"text", "nccl", "id", {7, 3}, pick("nccl", {7, 3}), keys},
                              RowHint{"text", "nccl", "", {}, pick("nccl", {}), keys},
                              RowHint{"", "nccl", "id", {5}, pick("\x01", {5}), keys},
                              RowHint{"", "", "", {}, all, keys}, RowHint{}}) {
    std::string digests[2];
    for (const SqliteReader reader : {SqliteReader::kPages, SqliteReader::kSqlite}) {
      const auto source = OpenSqliteAs(path, reader, 1);
      ASSERT_TRUE(source.ok()) << source.error().message;
      TableDigest digest(wanted.size());
      EXPECT_TRUE(
          source.value()
              ->ReadHinted("t", wanted, hint, [&](const Batch& batch) { digest.Add(batch); })
              .ok());
      digests[reader == SqliteReader::kPages ? 0 : 1] = digest.ToString();
    }
    EXPECT_EQ(digests[0], digests[1]) << hint.text << hint.text_id;
  }
}

// Captures that are handed to whoever works on the program; they are no part of it.
TEST(SqlitePages, RealCapturesAsSqlite) {
  const std::filesystem::path folder = "../shared/fixtures";
  int captures = 0;
  std::error_code absent;
  for (std::filesystem::directory_iterator file(folder, absent), end; !absent && file != end;
       ++file) {
    if (file->path().extension() == ".sqlite") {
      SCOPED_TRACE(file->path().filename().string());
      ExpectAsSqlite(file->path().string(), SqliteReader::kPages);
      ExpectAsSqlite(file->path().string(), SqliteReader::kAuto, 4);
      ++captures;
    }
  }
  if (captures == 0) {
    // Real captures are not part of the project; the other tests of this file make their own.
    GTEST_SKIP() << "no captures in " << folder;
  }
}

}  // namespace
}  // namespace nsys
