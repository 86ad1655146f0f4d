// SPDX-License-Identifier: MIT
// For tests: folders of Parquet tables, written by DuckDB.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/duckdb_session.h"

namespace nsys::ingest_test {

// Statements, one after the other, in a database in memory.
class ParquetMaker {
 public:
  ParquetMaker() {
    auto opened = DuckdbDatabase::Open(1);
    EXPECT_TRUE(opened.ok()) << (opened.ok() ? "" : opened.error().message);
    database_ = std::move(opened).value();
    connection_ = std::make_unique<DuckdbConnection>(*database_);
  }

  // `sql` holds no semicolon within a text.
  void Run(std::string_view sql) {
    for (size_t begin = 0; begin < sql.size();) {
      const size_t end = std::min(sql.find(';', begin), sql.size());
      const std::string_view statement = sql.substr(begin, end - begin);
      if (statement.find_first_not_of(" \n") != std::string_view::npos) {
        EXPECT_EQ(connection_->Execute(std::string(statement)), "") << statement;
      }
      begin = end + 1;
    }
  }

  void Copy(std::string_view query, const std::string& path) {
    Run(fmt::format("COPY ({}) TO '{}' (FORMAT parquet)", query, path));
  }

 private:
  std::unique_ptr<DuckdbDatabase> database_;
  std::unique_ptr<DuckdbConnection> connection_;
};

// Makes `folder` with a file for each table that `sql` creates by "CREATE TABLE <name> (". BIGINT,
// DOUBLE and TEXT mean the same to SQLite.
inline void MakeParquetFolder(const std::string& folder, const std::string& sql) {
  std::filesystem::create_directories(folder);
  ParquetMaker maker;
  maker.Run(sql);
  constexpr std::string_view kCreate = "CREATE TABLE ";
  for (size_t at = sql.find(kCreate); at != std::string::npos; at = sql.find(kCreate, at + 1)) {
    const size_t begin = at + kCreate.size();
    const std::string name = sql.substr(begin, sql.find_first_of(" (", begin) - begin);
    maker.Copy("SELECT * FROM " + name, fmt::format("{}/{}.parquet", folder, name));
  }
}

}  // namespace nsys::ingest_test
