// SPDX-License-Identifier: MIT
// Statements on DuckDB: what they answer in both formats, and what they may not do.
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/json.h"
#include "ingest/duckdb_session.h"
#include "ingest/ingest_test_util.h"
#include "query/sql_session.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::HasSubstr;

std::string Ask(SqlSession& session, const std::string& sql,
                std::vector<std::pair<std::string, Value>> bindings = {},
                const SqlLimits& limits = {}) {
  auto rows = session.Run({.text = sql, .bindings = std::move(bindings)}, limits);
  if (!rows.ok()) {
    return rows.error().message + (rows.error().hint.empty() ? "" : "; " + rows.error().hint);
  }
  List list;
  for (std::vector<Value>& row : rows.value().rows) {
    list.emplace_back(List(row.begin(), row.end()));
  }
  return ToJson(list, JsonLayout::kOneLine);
}

std::unique_ptr<SqlSession> Open(const std::string& path, SqlEngine engine) {
  auto opened = SqlSession::Open(path, engine, 2);
  EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
  return opened.ok() ? std::move(opened).value() : nullptr;
}

// A folder of Parquet files with odd types and bytes that are no UTF-8.
void MakeParquet(const std::string& folder) {
  std::filesystem::create_directories(folder);
  auto database = DuckdbDatabase::Open(1);
  ASSERT_TRUE(database.ok());
  DuckdbConnection connection(*database.value());
  const auto copy = [&](const std::string& query, const std::string& name) {
    EXPECT_EQ(connection.Execute("COPY (" + query + ") TO '" + folder + "/" + name +
                                 ".parquet' (FORMAT parquet)"),
              "");
  };
  copy(
      "SELECT * FROM (VALUES (1::INTEGER, 'gemm'), (2, 'void gemm<float>()'), (3, 'plain'), "
      "(4, 'XYZW')) t(id, value)",
      "StringIds");
  copy(
      "SELECT * FROM (VALUES (300::BIGINT, 400::BIGINT, 0::INTEGER, 7::UINTEGER, "
      "18446744073709551615::UBIGINT, 1::INTEGER, 2::INTEGER), (100, 150, 1, 4294967295, 5, 3, "
      "NULL), (200, 250, 0, 7, NULL, 1, NULL)) t(start, \"end\", deviceId, streamId, globalPid, "
      "shortName, demangledName)",
      "CUPTI_ACTIVITY_KIND_KERNEL_V3");
  copy(
      "SELECT * FROM (VALUES (1::BIGINT, 59::INTEGER, NULL::VARCHAR, 2::INTEGER, 0.1::DOUBLE, "
      "'ABCD'), (2, 59, 'own', NULL, NULL, NULL)) t(start, eventType, text, textId, doubleValue, "
      "binaryData)",
      "NVTX_EVENTS");
  const std::string path = folder + "/StringIds.parquet";
  std::string bytes = ReadFile(path);
  for (size_t at = 0; (at = bytes.find("XYZW", at)) != std::string::npos; ++at) {
    bytes.replace(at, 4,
                  "a\xFF\xFE"
                  "b");
  }
  WriteFile(path, bytes);
}

// The same as an SQLite file.
constexpr const char* kSameSql = R"(
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'gemm'),(2,'void gemm<float>()'),(3,'plain'),
  (4,CAST(x'61FFFE62' AS TEXT));
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL_V3 (start INTEGER, "end" INTEGER, deviceId INTEGER,
  streamId INTEGER, globalPid INTEGER, shortName INTEGER, demangledName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL_V3 VALUES (300,400,0,7,-1,1,2),(100,150,1,4294967295,5,3,
  NULL),(200,250,0,7,NULL,1,NULL);
CREATE TABLE NVTX_EVENTS (start INTEGER, eventType INTEGER, text TEXT, textId INTEGER,
  doubleValue REAL, binaryData TEXT);
INSERT INTO NVTX_EVENTS VALUES (1,59,NULL,2,0.1,x'41424344'),(2,59,'own',NULL,NULL,NULL);
)";

class BothFormats : public testing::Test {
 protected:
  void SetUp() override {
    MakeSqlite(folder_ / "a.sqlite", kSameSql);
    MakeParquet(folder_ / "pq");
  }

  // The same answer from both formats, or both answers.
  std::string Same(SqlEngine engine, const std::string& sql) {
    const std::string sqlite = Ask(*Open(folder_ / "a.sqlite", engine), sql);
    const std::string parquet = Ask(*Open(folder_ / "pq", engine), sql);
    return sqlite == parquet ? sqlite : "sqlite: " + sqlite + "\nparquet: " + parquet;
  }

  TempFolder folder_;
};

TEST_F(BothFormats, GiveTheSameOnSqlite) {
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT rowid, start, streamId, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL_V3",
       "[[1, 300, 7, -1], [2, 100, 4294967295, 5], [3, 200, 7, null]]"},
      {"SELECT start, name, demangled, is_tc_eligible FROM kernels ORDER BY start",
       R"x([[100, "plain", null, 0], [200, "gemm", null, 1], )x"
       R"x([300, "void gemm<float>()", "void gemm<float>()", 1]])x"},
      {"SELECT text, doubleValue, binaryData, typeof(binaryData) FROM nvtx ORDER BY start",
       R"x([["void gemm<float>()", 0.1, "41424344", "blob"], ["own", null, null, "null"]])x"},
      {"SELECT value, hex(value) FROM StringIds WHERE id = 4",
       R"([["a\ufffd\ufffdb", "61FFFE62"]])"},
      {"SELECT COUNT(*) FROM CUPTI_ACTIVITY_KIND_KERNEL", "[[3]]"},
      {"SELECT EXISTS (SELECT 1 FROM NVTX_EVENTS), (SELECT COUNT(*) FROM StringIds)", "[[1, 4]]"},
      {"SELECT a.start FROM kernels a JOIN kernels b USING (streamId) WHERE a.start < b.start",
       "[[200]]"},
      {"SELECT * FROM StringIds NATURAL JOIN (SELECT 2 AS id)", R"x([[2, "void gemm<float>()"]])x"},
      {"WITH k AS (SELECT * FROM kernels) SELECT MAX([end]) FROM k", "[[400]]"},
      {"SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1",
       R"([["CUPTI_ACTIVITY_KIND_KERNEL_V3"], ["NVTX_EVENTS"], ["StringIds"]])"},
      {"SELECT name, type FROM pragma_table_info('StringIds')",
       R"([["id", "INTEGER"], ["value", "TEXT"]])"},
  };
  for (const auto& [sql, expected] : cases) {
    EXPECT_EQ(Same(SqlEngine::kSqlite, sql), expected) << sql;
  }
  EXPECT_THAT(Same(SqlEngine::kSqlite, "SELECT rowid FROM kernels"),
              HasSubstr("rowid of the view kernels; name the table itself"));
  EXPECT_THAT(Same(SqlEngine::kSqlite, "DROP TABLE StringIds"), HasSubstr("not allowed"));
}

TEST_F(BothFormats, GiveTheSameOnDuckdb) {
  const std::pair<const char*, const char*> cases[] = {
      {"SELECT start, streamId, globalPid FROM CUPTI_ACTIVITY_KIND_KERNEL_V3",
       "[[300, 7, -1], [100, 4294967295, 5], [200, 7, null]]"},
      {"SELECT start, name, demangled, is_tc_eligible FROM kernels ORDER BY start",
       R"x([[100, "plain", null, 0], [200, "gemm", null, 1], )x"
       R"x([300, "void gemm<float>()", "void gemm<float>()", 1]])x"},
      {"SELECT text, doubleValue, binaryData FROM nvtx ORDER BY start",
       R"x([["void gemm<float>()", 0.1, "41424344"], ["own", null, null]])x"},
      {"SELECT value FROM StringIds WHERE id = 4", R"([["a\ufffd\ufffdb"]])"},
      {"SELECT SUM(start), AVG(start), 1.50, 2::HUGEINT ** 70, DATE '2024-01-02', [1, 2] FROM "
       "CUPTI_ACTIVITY_KIND_KERNEL",
       R"([[600, 200.0, 1.5, 1.1805916207174113e+21, "2024-01-02", "[1, 2]"]])"},
      {"SELECT 9223372036854775807::HUGEINT + 1, 'nan'::DOUBLE, TRUE",
       R"([["9223372036854775808", null, true]])"},
      {"SELECT start FROM CUPTI_ACTIVITY_KIND_KERNEL_V3 ORDER BY start - 1.5 DESC -- end",
       "[[300], [200], [100]]"},
      {"SHOW TABLES",
       R"([["CUPTI_ACTIVITY_KIND_KERNEL"], ["CUPTI_ACTIVITY_KIND_KERNEL_V3"], ["NVTX_EVENTS"], )"
       R"(["StringIds"], ["kernels"], ["nvtx"], ["string_ids"]])"},
      {"SELECT column_name, column_type FROM (DESCRIBE StringIds)",
       R"([["id", "BIGINT"], ["value", "VARCHAR"]])"},
  };
  for (const auto& [sql, expected] : cases) {
    EXPECT_EQ(Same(SqlEngine::kDuckdb, sql), expected) << sql;
  }
  EXPECT_THAT(Same(SqlEngine::kDuckdb, "SELECT * FROM kernel"), HasSubstr("did you mean kernels"));
  auto session = Open(folder_ / "pq", SqlEngine::kDuckdb);
  EXPECT_EQ(Ask(*session, "SELECT :a::INT + 1, :b", {{"a", int64_t{2}}, {"b", "x"}}),
            R"([[3, "x"]])");
  EXPECT_THAT(Ask(*session, "SELECT :a"), HasSubstr(":a has no value"));
}

TEST_F(BothFormats, DuckdbOnlyReads) {
  const std::string own = folder_ / "pq/StringIds.parquet";
  for (const char* name : {"a.sqlite", "pq"}) {
    auto session = Open(folder_ / name, SqlEngine::kDuckdb);
    ASSERT_NE(session, nullptr);
    for (const std::string& sql :
         std::vector<std::string>{"COPY (SELECT 1) TO 'pwned.csv'",
                                  "COPY StringIds TO '" + own + "'",
                                  "EXPLAIN ANALYZE COPY (SELECT 1) TO 'pwned.csv'",
                                  "EXPLAIN COPY (SELECT 1) TO 'pwned.csv'",
                                  "SELECT * FROM read_text('/etc/hostname')",
                                  "SELECT * FROM read_csv('/etc/passwd')",
                                  "FROM read_blob('/etc/hostname')",
                                  "SELECT * FROM glob('/*')",
                                  "FROM read_parquet('/x.parquet')",
                                  "ATTACH 'x.db'",
                                  "ATTACH ':memory:' AS x",
                                  "INSTALL httpfs",
                                  "LOAD httpfs",
                                  "PRAGMA version",
                                  "PRAGMA database_list",
                                  "SET threads = 1",
                                  "RESET threads",
                                  "CREATE TABLE x (a INT)",
                                  "CREATE MACRO m() AS 1",
                                  "DROP TABLE StringIds",
                                  "INSERT INTO StringIds VALUES (1, '')",
                                  "BEGIN",
                                  "CHECKPOINT",
                                  "VACUUM",
                                  "EXPORT DATABASE 'x'",
                                  "CALL enable_logging()",
                                  "FROM enable_logging(storage = 'file', storage_path = '/tmp/x')",
                                  "SELECT * FROM main.\"Enable_Logging\"()",
                                  "FROM query('SELECT 1')",
                                  "FROM query_table('StringIds')",
                                  "SELECT * FROM duckdb_settings()",
                                  "FROM pg_catalog.pg_settings",
                                  "SELECT current_setting('temp_directory')",
                                  "SELECT getenv('HOME')",
                                  "PREPARE p AS SELECT 1",
                                  "EXECUTE p",
                                  "USE x",
                                  "SELECT * FROM json_execute_serialized_sql('x')",
                                  "FROM duckdb_secrets()"}) {
      EXPECT_THAT(Ask(*session, sql), HasSubstr("not allowed")) << sql;
    }
    EXPECT_THAT(Ask(*session, "SELECT * FROM '/etc/hostname'"), HasSubstr("no such table"));
    EXPECT_THAT(Ask(*session, "SELECT * FROM '/etc/passwd.csv'"), HasSubstr("disabled"));
    EXPECT_THAT(Ask(*session, "SELECT 1; SELECT 2"), HasSubstr("more than one"));
    EXPECT_THAT(Ask(*session, "SELEC 1"), HasSubstr("syntax error"));
    EXPECT_THAT(Ask(*session, " -- nothing"), HasSubstr("no statement"));
    EXPECT_EQ(Ask(*session, "SELECT COUNT(*) FROM StringIds"), "[[4]]");
  }
  EXPECT_FALSE(std::filesystem::exists("pwned.csv"));
}

TEST_F(BothFormats, StopAtTheirLimits) {
  for (const char* name : {"a.sqlite", "pq"}) {
    for (const SqlEngine engine : {SqlEngine::kSqlite, SqlEngine::kDuckdb}) {
      auto session = Open(folder_ / name, engine);
      const std::string endless =
          engine == SqlEngine::kSqlite
              ? "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
              : "SELECT range AS i FROM range(100000000000)";
      EXPECT_THAT(Ask(*session, endless, {}, {.max_rows = 10}), HasSubstr("limit of 10"));
      EXPECT_EQ(Ask(*session, endless, {}, {.max_rows = 10, .keep_rows = 1}).size(), 5U);
      const auto started = std::chrono::steady_clock::now();
      EXPECT_THAT(
          Ask(*session, "SELECT MAX(i * 3 % 7) FROM (" + endless + ")", {}, {.timeout_ms = 100}),
          HasSubstr("time limit of 100.00 ms"));
      std::thread interrupter([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        session->Interrupt();
      });
      EXPECT_THAT(Ask(*session, "SELECT MAX(i * 3 % 7) FROM (" + endless + ")"),
                  HasSubstr("interrupted"));
      interrupter.join();
      EXPECT_LT(std::chrono::steady_clock::now() - started, std::chrono::seconds(3));
      EXPECT_EQ(Ask(*session, "SELECT 1"), "[[1]]");
    }
  }
}

TEST(CheckSql, ChecksDuckdbToo) {
  EXPECT_TRUE(
      CheckSql("SELECT k.\"end\" FROM kernels k WHERE k.start > :from", SqlEngine::kDuckdb).ok());
  EXPECT_FALSE(CheckSql("SELECT ende FROM CUPTI_ACTIVITY_KIND_KERNEL", SqlEngine::kDuckdb).ok());
  EXPECT_FALSE(CheckSql("COPY (SELECT 1) TO 'x'", SqlEngine::kDuckdb).ok());
  EXPECT_TRUE(CheckSql("FROM runtime SELECT name, count(*) GROUP BY ALL", SqlEngine::kDuckdb).ok());
}

}  // namespace
}  // namespace nsys
