// SPDX-License-Identifier: MIT
#include "ingest/parquet_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ingest/duckdb_session.h"
#include "ingest/ingest_test_util.h"
#include "ingest/parquet_footer.h"
#include "ingest/sqlite_source.h"

namespace nsys {
namespace {

using namespace ingest_test;
using testing::ElementsAre;
using testing::HasSubstr;

// Writes Parquet files with DuckDB itself.
class Writer {
 public:
  Writer() {
    auto opened = DuckdbDatabase::Open(1);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    database_ = std::move(opened).value();
  }

  void Copy(const std::string& query, const std::string& path, const std::string& options = "") {
    std::string quoted;
    for (const char c : path) {
      quoted += c == '\'' ? std::string("''") : std::string(1, c);
    }
    DuckdbConnection connection(*database_);
    const std::string problem = connection.Stream(
        "COPY (" + query + ") TO '" + quoted + "' (FORMAT parquet" + options + ")",
        [](duckdb_result&, duckdb_data_chunk) { return true; });
    EXPECT_EQ(problem, "");
  }

 private:
  std::unique_ptr<DuckdbDatabase> database_;
};

// Makes text columns hold bytes that are no UTF-8, as Nsight does: DuckDB itself writes none, so
// they are put into the file. Both texts have the same length.
void Replace(const std::string& path, std::string_view from, std::string_view to) {
  std::string bytes = ReadFile(path);
  size_t count = 0;
  for (size_t at = bytes.find(from); at != std::string::npos; at = bytes.find(from, at)) {
    bytes.replace(at, from.size(), to);
    ++count;
  }
  EXPECT_GT(count, 0U);
  WriteFile(path, bytes);
}

void WriteSample(const std::string& folder) {
  Writer writer;
  std::filesystem::create_directories(folder);
  writer.Copy(
      "SELECT id::INTEGER AS id, value FROM (VALUES (1,'gemm'),(2,'void gemm<float>()'),"
      "(3,'cudaLaunchKernel_v7000'),(4,'ba~d'),(5,'a' || chr(0) || 'b'),(6,'step'),(70000000,'far')"
      ") t(id, value)",
      folder + "/StringIds.parquet", ", COMPRESSION uncompressed");
  Replace(folder + "/StringIds.parquet", "ba~d",
          "ba\xFF"
          "d");
  writer.Copy(
      "SELECT s::BIGINT AS start, e::BIGINT AS \"end\", d::INTEGER AS deviceId, 1::UINTEGER AS "
      "contextId, g::UINTEGER AS greenContextId, st::SMALLINT AS streamId, c::UINTEGER AS "
      "correlationId, p::UBIGINT AS globalPid, sn::INTEGER AS shortName, dn::INTEGER AS "
      "demangledName FROM (VALUES (100,200,0,NULL,7,11,281474993487872,1,2),"
      "(50,60,1,0,7,12,281474993487872,4,NULL),(50,55,0,3,7,13,281474993487872,99,98),"
      "(300,290,0,NULL,7,14,281474993487872,1,2),(NULL,1,0,NULL,7,15,281474993487872,1,2),"
      "(400,NULL,0,NULL,7,16,281474993487872,1,2),"
      "(50,55,0,NULL,9,NULL,18302628885633695744::UBIGINT,5,70000000)) "
      "t(s,e,d,g,st,c,p,sn,dn)",
      folder + "/CUPTI_ACTIVITY_KIND_KERNEL.parquet");
  writer.Copy(
      "SELECT s::BIGINT AS start, e::BIGINT AS \"end\", g::UBIGINT AS globalTid, c::UINTEGER AS "
      "correlationId, n::UTINYINT AS nameId FROM (VALUES (90,95,281474993487873,11,3),"
      "(40,45,281474993487874,12,3),(41,46,NULL,NULL,NULL)) t(s,e,g,c,n)",
      folder + "/CUPTI_ACTIVITY_KIND_RUNTIME.parquet");
  writer.Copy(
      "SELECT s::DOUBLE AS start, e::BIGINT AS \"end\", k::TINYINT AS eventType, x AS text, "
      "i::USMALLINT AS textId, g::UBIGINT AS globalTid, d::UBIGINT AS domainId FROM (VALUES "
      "(10,20,59,NULL,6,281474993487873,0),(5,NULL,34,'m~',NULL,281474993487873,1),"
      "(7,9,60,'plain',NULL,NULL,NULL)) t(s,e,k,x,i,g,d)",
      folder + "/NVTX_EVENTS.parquet", ", COMPRESSION uncompressed");
  Replace(folder + "/NVTX_EVENTS.parquet", "m~", "m\xFF");
  writer.Copy(
      "SELECT 10::BIGINT AS start, 30::BIGINT AS \"end\", 0 AS deviceId, 1 AS contextId, 7 AS "
      "streamId, 21 AS correlationId, 281474993487872::UBIGINT AS globalPid, 4096::UBIGINT AS "
      "bytes, 1 AS copyKind",
      folder + "/CUPTI_ACTIVITY_KIND_MEMCPY.parquet", ", COMPRESSION zstd");
  writer.Copy(
      "SELECT 10::BIGINT AS start, 30::BIGINT AS \"end\", 0 AS deviceId, 1 AS contextId, 7 AS "
      "streamId, 22 AS correlationId, 281474993487872::UBIGINT AS globalPid, 4 AS "
      "deprecatedSyncType, NULL::INTEGER AS syncType",
      folder + "/CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.parquet");
  writer.Copy("SELECT * FROM (VALUES (0,1,1),(1,0,1),(0,1,2)) t(gpuId, cudaId, pid)",
              folder + "/TARGET_INFO_CUDA_DEVICE.parquet");
}

std::string DumpOf(const Result<std::unique_ptr<TableSource>>& source, int threads) {
  if (!source.ok()) {
    return source.error().message;
  }
  const auto trace =
      LoadTrace(*source.value(), ReadEverything(), {.threads = threads, .progress = {}});
  return trace.ok() ? Dump(trace.value()) : trace.error().message;
}

TEST(ParquetSource, SameTraceAsFromSqlite) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", SampleSql());
  WriteSample(folder / "x.parquetdir");
  const std::string expected = DumpOf(OpenSqlite(folder / "x.sqlite"), 1);
  const auto parquet = OpenParquetFolder(folder / "x.parquetdir", 1);
  EXPECT_EQ(DumpOf(parquet, 1), expected);
  EXPECT_EQ(DumpOf(parquet, 4), expected);
}

TEST(ParquetSource, SameSchemaAsSqlite) {
  const TempFolder folder;
  MakeSqlite(folder / "x.sqlite", SampleSql());
  WriteSample(folder / "x.parquetdir");
  const auto sqlite = OpenSqlite(folder / "x.sqlite");
  const auto parquet = OpenParquetFolder(folder / "x.parquetdir", 1);
  ASSERT_TRUE(parquet.ok()) << parquet.error().message;
  const auto list = [](const TableSource& source) {
    std::string out;
    for (const SourceTable& table : source.tables()) {
      for (const SourceColumn& column : table.columns) {
        // One column of the Parquet sample is a real on purpose.
        const bool real = table.name == "NVTX_EVENTS" && column.name == "start";
        out += fmt::format("{}.{} {} {}\n", table.name, column.name, real ? "INTEGER" : column.type,
                           column.primary_key);
      }
    }
    return out;
  };
  EXPECT_EQ(list(*parquet.value()), list(*sqlite.value()));
}

TEST(ParquetSource, OddFolderNames) {
  const TempFolder folder;
  for (const char* name : {"a[b]*?", "it's", "k=v", "\xC3\xA9 \"x\"", "100%", "{a,b}", "bad\xFF"}) {
    WriteSample(folder / "plain");
    std::filesystem::rename(folder / "plain", folder / name);
    const auto source = OpenParquetFolder(folder / name, 1);
    ASSERT_TRUE(source.ok()) << name << ": " << source.error().message;
    EXPECT_EQ(source.value()->tables().size(), 7U);
    EXPECT_THAT(DumpOf(source, 2), HasSubstr("'cudaLaunchKernel_v7000'")) << name;
    EXPECT_EQ(source.value()->tables()[0].columns.size(), 10U) << name;
  }
}

TEST(ParquetSource, EachFooterIsCheckedWhenOpened) {
  const TempFolder folder;
  WriteSample(folder / "d");
  const std::string path = folder / "d/NVTX_EVENTS.parquet";
  const std::string whole = ReadFile(path);
  for (const size_t size : {size_t{0}, size_t{3}, size_t{10}, whole.size() / 2, whole.size() - 1}) {
    WriteFile(path, whole.substr(0, size));
    const auto source = OpenParquetFolder(folder / "d", 1);
    ASSERT_FALSE(source.ok()) << size;
    EXPECT_EQ(source.error().code, ErrorCode::kProfile);
    EXPECT_THAT(source.error().message, HasSubstr("NVTX_EVENTS.parquet is damaged or truncated"));
    EXPECT_EQ(source.error().message.find('\n'), std::string::npos);
    EXPECT_EQ(source.error().message.find("/proc/"), std::string::npos) << source.error().message;
  }
}

TEST(ParquetSource, OddBytesAfterManyGoodRowsAppearOnce) {
  const TempFolder folder;
  Writer writer;
  std::filesystem::create_directories(folder / "d");
  const std::string path = folder / "d/StringIds.parquet";
  writer.Copy(
      "SELECT i::INTEGER AS id, CASE WHEN i=270000 THEN '~odd' ELSE 'text ' || i END AS value "
      "FROM range(300000) t(i) ORDER BY i",
      path, ", COMPRESSION uncompressed, ROW_GROUP_SIZE 10240");
  Replace(path, "~odd",
          "\xFE"
          "odd");
  const auto source = OpenParquetFolder(folder / "d", 1);
  ASSERT_TRUE(source.ok()) << source.error().message;
  const WantedColumn wanted[] = {{"id", CellType::kInteger}, {"value", CellType::kText}};
  int64_t next = 0;
  std::string odd;
  const Status status = source.value()->Read("StringIds", wanted, [&](const Batch& batch) {
    for (size_t row = 0; row < batch.rows; ++row, ++next) {
      ASSERT_EQ(batch.columns[0].integers[row], next);
      if (next == 270000) {
        odd = batch.columns[1].texts[row];
      }
      if (next == 299999) {
        EXPECT_EQ(batch.columns[1].texts[row], "text 299999");
      }
    }
  });
  ASSERT_TRUE(status.ok()) << status.error().message;
  EXPECT_EQ(next, 300000);
  EXPECT_EQ(odd,
            "\xFE"
            "odd");
}

TEST(ParquetSource, FlippedBytesGiveErrorsNotCrashes) {
  const TempFolder folder;
  WriteSample(folder / "d");
  const std::string path = folder / "d/StringIds.parquet";
  const std::string whole = ReadFile(path);
  for (size_t at = 4; at < whole.size(); at += 13) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    WriteFile(path, bytes);
    DumpOf(OpenParquetFolder(folder / "d", 1), 1);
  }
}

TEST(ListParquetFiles, SkipsHiddenFilesAndFolders) {
  const TempFolder folder;
  WriteFile(folder / "B.parquet", "");
  WriteFile(folder / "A.parquet", "");
  WriteFile(folder / "._A.parquet", "");
  WriteFile(folder / "x.txt", "");
  std::filesystem::create_directories(folder / "C.parquet");
  EXPECT_THAT(ListParquetFiles(folder.path()), ElementsAre("A.parquet", "B.parquet"));
  EXPECT_TRUE(ListParquetFiles(folder / "none").empty());
}

TEST(HideTextLabels, AnyPrefixAndFlipIsSafe) {
  const TempFolder folder;
  WriteSample(folder / "d");
  const std::string whole = ReadFile(folder / "d/StringIds.parquet");
  const auto length = static_cast<size_t>(static_cast<unsigned char>(whole[whole.size() - 8])) |
                      static_cast<size_t>(static_cast<unsigned char>(whole[whole.size() - 7])) << 8;
  const std::string footer = whole.substr(whole.size() - 8 - length, length);
  std::string good = footer;
  EXPECT_TRUE(HideTextLabels(good));
  EXPECT_NE(good, footer);
  EXPECT_EQ(good.size(), footer.size());
  for (size_t size = 0; size < footer.size(); ++size) {
    std::string cut = footer.substr(0, size);
    HideTextLabels(cut);
    std::string flipped = footer;
    flipped[size] = static_cast<char>(~flipped[size]);
    HideTextLabels(flipped);
  }
  std::string endless(64, '\xFF');
  EXPECT_FALSE(HideTextLabels(endless));
}

// Found by a fuzzer: hiding one label must not make another field one.
TEST(HideTextLabels, FieldsOutOfOrderAreNotUnderstood) {
  std::string footer(
      "\x29\x3C\x00\x15\x0C\x0C\x0C\x0C\x00\x00\x80\x00\x15\x0C\x51\x51\x02\x02\x56\x0C"
      "\x0C\x0C\x00\x00\x00\x00\x00\x91\xEC\x5F",
      30);
  EXPECT_FALSE(HideTextLabels(footer));
}

}  // namespace
}  // namespace nsys
