// SPDX-License-Identifier: MIT
// For tests of loading: the same tables as an SQLite file and as a folder of Parquet files.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "ingest/ingest_test_util.h"
#include "ingest/load.h"
#include "ingest/parquet_source.h"
#include "ingest/parquet_test_util.h"
#include "ingest/sqlite_source.h"

namespace nsys::ingest_test {

enum class Form { kSqlite, kParquet };

class LoadForms : public testing::TestWithParam<Form> {
 protected:
  Trace Load(const std::string& sql, const Reads& reads,
             const LoadOptions& options = {.threads = 1, .progress = {}, .for_drawing = true}) {
    const TempFolder folder;
    const bool parquet = GetParam() == Form::kParquet;
    if (parquet) {
      MakeParquetFolder(folder / "d", sql);
    } else {
      MakeSqlite(folder / "x.sqlite", sql);
    }
    const auto source =
        parquet ? OpenParquetFolder(folder / "d", 1) : OpenSqlite(folder / "x.sqlite");
    EXPECT_TRUE(source.ok()) << source.error().message;
    auto trace = LoadTrace(*source.value(), reads, options);
    EXPECT_TRUE(trace.ok()) << trace.error().message;
    return std::move(trace).value();
  }
};

inline std::string FormName(const testing::TestParamInfo<Form>& form) {
  return form.param == Form::kSqlite ? "Sqlite" : "Parquet";
}

inline constexpr const char* kStrings =
    "CREATE TABLE StringIds (id BIGINT, value TEXT);"
    "INSERT INTO StringIds VALUES (1,'gemm'),(2,'void gemm()'),(3,'_Z4gemmv'),(4,'cudaFree'),"
    "(5,'poll'),(1,'second of the id'),(6,'{\"a\":1}');";

}  // namespace nsys::ingest_test
