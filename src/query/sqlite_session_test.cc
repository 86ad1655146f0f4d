// SPDX-License-Identifier: MIT
// Statements on SQLite: what they answer, and what they may not do.
#include "query/sql_session.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "ingest/ingest_test_util.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::HasSubstr;

class SqliteSql : public testing::Test {
 protected:
  void SetUp() override {
    MakeSqlite(path_, SampleSql());
    before_ = ReadFile(path_);
    auto opened = SqlSession::Open(path_, SqlEngine::kSqlite, 1);
    ASSERT_TRUE(opened.ok()) << opened.error().message;
    session_ = std::move(opened).value();
  }
  void TearDown() override {
    session_.reset();
    EXPECT_EQ(ReadFile(path_), before_);
    EXPECT_THAT(NamesIn(folder_.path()), ElementsAre("a.sqlite"));
  }

  // The rows as JSON, or the message of the error.
  std::string Run(const std::string& sql, std::vector<std::pair<std::string, Value>> bindings = {},
                  const SqlLimits& limits = {}) {
    auto rows = session_->Run({.text = sql, .bindings = std::move(bindings)}, limits);
    if (!rows.ok()) {
      code_ = rows.error().code;
      return rows.error().message + (rows.error().hint.empty() ? "" : "; " + rows.error().hint);
    }
    List list;
    for (std::vector<Value>& row : rows.value().rows) {
      list.emplace_back(List(row.begin(), row.end()));
    }
    return ToJson(list, JsonLayout::kOneLine);
  }

  TempFolder folder_;
  std::string path_ = folder_ / "a.sqlite";
  std::string before_;
  std::unique_ptr<SqlSession> session_;
  ErrorCode code_ = ErrorCode::kUsage;
};

TEST_F(SqliteSql, AnswersOverTheTablesAndTheViews) {
  EXPECT_EQ(Run("SELECT COUNT(*), MIN(start) FROM CUPTI_ACTIVITY_KIND_KERNEL"), "[[7, 50]]");
  EXPECT_EQ(Run("SELECT name, demangled FROM kernels WHERE streamId = 7 AND deviceId = 0 AND "
                "start = 100"),
            R"s([["void gemm<float>()", "void gemm<float>()"]])s");
  EXPECT_EQ(Run("SELECT name FROM kernels WHERE shortName = 99"), R"([["kernel_99"]])");
  EXPECT_EQ(Run("SELECT text FROM nvtx ORDER BY start"),
            "[[\"m\\ufffd\"], [\"plain\"], [\"step\"]]");
  EXPECT_EQ(Run("SELECT [end] - start, direction FROM memcpy"), R"([[20, "H2D"]])");
  EXPECT_EQ(Run("VALUES (1, 2.5, 'x', x'00FF', NULL, 9e999)"),
            R"([[1, 2.5, "x", "00ff", null, null]])");
}

TEST_F(SqliteSql, BindsByName) {
  EXPECT_EQ(Run("SELECT :a + 1, :b", {{"a", int64_t{2}}, {"b", "x'; DROP"}}),
            R"([[3, "x'; DROP"]])");
  EXPECT_THAT(Run("SELECT :missing"), HasSubstr(":missing has no value"));
  EXPECT_THAT(Run("SELECT ?"), HasSubstr("without a name"));
}

TEST_F(SqliteSql, RefusesEverythingButReading) {
  for (const char* sql : {"DROP TABLE StringIds",
                          "DELETE FROM StringIds",
                          "UPDATE StringIds SET value = 1",
                          "INSERT INTO StringIds VALUES (99, 'x')",
                          "CREATE TABLE x (a)",
                          "CREATE TEMP TABLE x (a)",
                          "CREATE VIEW v AS SELECT 1",
                          "ATTACH 'x.db' AS x",
                          "DETACH main",
                          "VACUUM",
                          "VACUUM INTO 'x.db'",
                          "BEGIN",
                          "SAVEPOINT a",
                          "REINDEX",
                          "ANALYZE",
                          "PRAGMA user_version",
                          "PRAGMA journal_mode=WAL",
                          "PRAGMA writable_schema=1",
                          "SELECT load_extension('x')",
                          "SELECT fts3_tokenizer('x')",
                          "SELECT * FROM pragma_database_list",
                          "SELECT * FROM dbstat",
                          "WITH x AS (SELECT 1) DELETE FROM StringIds",
                          "EXPLAIN DELETE FROM StringIds",
                          "CREATE VIRTUAL TABLE x USING fts5(a)",
                          "ALTER TABLE StringIds RENAME TO x"}) {
    EXPECT_THAT(Run(sql), HasSubstr("not allowed")) << sql;
    EXPECT_EQ(code_, ErrorCode::kSql) << sql;
  }
  EXPECT_THAT(Run("SELECT 1; SELECT 2"), HasSubstr("more than one statement"));
  EXPECT_THAT(Run("SELECT 1; DROP TABLE StringIds"), HasSubstr("more than one statement"));
  EXPECT_THAT(Run("-- nothing"), HasSubstr("no statement"));
  EXPECT_EQ(Run("SELECT 1 ; -- done\n /* really */ ;"), "[[1]]");
  EXPECT_THAT(Run("SELECT readfile('/etc/hostname')"), HasSubstr("no such function"));
}

TEST_F(SqliteSql, ShowsTablesAndColumns) {
  EXPECT_THAT(Run("SHOW TABLES;"), HasSubstr("\"StringIds\""));
  EXPECT_THAT(Run("show tables"), HasSubstr("\"kernels\""));
  EXPECT_EQ(Run("DESCRIBE [StringIds]"), R"([["id", "INTEGER"], ["value", "TEXT"]])");
  EXPECT_THAT(Run("PRAGMA table_info(kernels)"), HasSubstr("uses_tc"));
  EXPECT_THAT(Run("DESCRIBE Stringids2"), HasSubstr("did you mean StringIds"));
  EXPECT_THAT(Run("SELECT * FROM kernel"), HasSubstr("did you mean kernels"));
  EXPECT_EQ(Run("SELECT COUNT(*) FROM sqlite_master WHERE type = 'table'"), "[[7]]");
}

TEST_F(SqliteSql, StopsAtItsLimits) {
  const std::string endless =
      "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n";
  EXPECT_THAT(Run(endless, {}, {.max_rows = 10}), HasSubstr("more rows than the limit of 10"));
  EXPECT_EQ(Run(endless, {}, {.max_rows = 10, .keep_rows = 2}), "[[1], [2]]");
  EXPECT_THAT(Run("SELECT MAX(i) FROM (" + endless + ")", {}, {.timeout_ms = 50}),
              HasSubstr("time limit of 50.00 ms"));
  const std::string million = "(" + endless + " LIMIT 1000000)";
  const SqlLimits small{.max_bytes = 4 << 20};
  EXPECT_THAT(Run("SELECT length(group_concat(i)) FROM " + million, {}, small),
              HasSubstr("memory than the limit of 4 MB"));
  EXPECT_THAT(Run("SELECT i FROM " + million + " ORDER BY -i", {}, small), HasSubstr("memory"));
  EXPECT_THAT(Run("SELECT i FROM " + million, {}, small), HasSubstr("memory"));
  EXPECT_EQ(Run("SELECT 1"), "[[1]]");
}

TEST_F(SqliteSql, StopsInTheMiddleOfASort) {
  const auto started = std::chrono::steady_clock::now();
  EXPECT_THAT(Run("WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 20000000) "
                  "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (ORDER BY i * 7 % 1003) r FROM n)",
                  {}, {.timeout_ms = 1500}),
              HasSubstr("time limit of 1.50 s"));
  EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::milliseconds(2500));
}

TEST(SqliteSqlBeside, ReadsAWriteAheadLog) {
  const TempFolder folder;
  const std::string path = folder / "a.sqlite";
  MakeSqlite(path, SampleSql());
  const OpenDatabase writer = OpenForWriting(path);
  Execute(writer.get(),
          "PRAGMA journal_mode=WAL; PRAGMA wal_autocheckpoint=0; "
          "INSERT INTO StringIds VALUES (1000, 'in the log')");
  const std::vector<std::string> before = NamesIn(folder.path());
  auto opened = SqlSession::Open(path, SqlEngine::kSqlite, 1);
  ASSERT_TRUE(opened.ok()) << opened.error().message;
  auto rows = opened.value()->Run(
      {.text = "SELECT value FROM StringIds WHERE id = 1000 ORDER BY value", .bindings = {}}, {});
  ASSERT_TRUE(rows.ok()) << rows.error().message;
  ASSERT_EQ(rows.value().rows.size(), 1U);
  EXPECT_EQ(*rows.value().rows[0][0].AsText(), "in the log");
  EXPECT_EQ(NamesIn(folder.path()), before);
}

TEST(CheckSql, KnowsTheSchemaWithoutACapture) {
  EXPECT_TRUE(
      CheckSql("SELECT k.[end] FROM kernels k WHERE k.start > :from", SqlEngine::kSqlite).ok());
  const Status column = CheckSql("SELECT ende FROM CUPTI_ACTIVITY_KIND_KERNEL", SqlEngine::kSqlite);
  ASSERT_FALSE(column.ok());
  EXPECT_EQ(column.error().code, ErrorCode::kSql);
  EXPECT_THAT(column.error().message, HasSubstr("no such column: ende"));
  EXPECT_FALSE(CheckSql("SELECT 1 FROM KERNELS2", SqlEngine::kSqlite).ok());
  EXPECT_FALSE(CheckSql("DROP TABLE StringIds", SqlEngine::kSqlite).ok());
  EXPECT_FALSE(CheckSql("SELEC 1", SqlEngine::kSqlite).ok());
}

}  // namespace
}  // namespace nsys
