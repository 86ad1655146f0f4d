// SPDX-License-Identifier: MIT
// Any text as the statement of `nsys-ai sql` on a small capture: it runs, is refused, or reaches a
// limit. It changes nothing, and shows nothing that is not in the capture.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include <sqlite3.h>

#include "base/text.h"
#include "query/sql_session.h"
#include "target.h"

namespace nsys {

class SqlTarget {
 public:
  // Works in a folder of its own, with files beside the capture that are none of a statement's
  // business.
  explicit SqlTarget(SqlEngine engine) {
    std::filesystem::current_path(folder_.path());
    Make("capture", kTables);
    Make("other.sqlite", std::string("CREATE TABLE secrets AS SELECT '") + kSecret + "' AS secret");
    std::ofstream("other.csv") << "secret\n" << kSecret << "\n";
    content_ = ReadAll("capture");
    auto opened = SqlSession::Open("capture", engine, 1);
    Require(opened.ok());
    session_ = std::move(opened).value();
  }

  void Run(std::string_view text) {
    if (HasLargeNumber(text)) {
      return;
    }
    const SqlLimits limits{.max_rows = 1000, .max_bytes = int64_t{64} << 20, .timeout_ms = 500};
    const auto rows = session_->Run({.text = std::string(text), .bindings = {}}, limits);
    Require(rows.ok() || !rows.error().message.empty());
    if (rows.ok()) {
      // The secret may be in a statement, too, and come back from there.
      Require(text.find(kSecret) != std::string_view::npos || !Shows(rows.value()));
    }
    if (++runs_ % 64 == 0) {
      Require(ReadAll("capture") == content_);
      Require(std::distance(std::filesystem::directory_iterator("."), {}) == 3);
    }
  }

 private:
  // One call of printf that fills a billion characters cannot be stopped from within; the command
  // ends by its deadline then, with the process.
  static bool HasLargeNumber(std::string_view text) {
    size_t digits = 0;
    return std::any_of(text.begin(), text.end(), [&](char c) {
      digits = IsDigit(c) ? digits + 1 : 0;
      return digits > 6;
    });
  }

  static constexpr const char* kSecret = "dont-show-this";
  static constexpr const char* kTables = R"(
CREATE TABLE StringIds (id INTEGER NOT NULL PRIMARY KEY, value TEXT);
INSERT INTO StringIds VALUES (1,'gemm'),(2,'void gemm<float>()'),(3,'cudaLaunchKernel_v7000');
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, "end" INTEGER, deviceId INTEGER,
  contextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER,
  shortName INTEGER, demangledName INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (100,200,0,1,7,11,16777216,1,2),
  (300,450,0,1,7,12,16777216,1,2);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, "end" INTEGER, globalTid INTEGER,
  correlationId INTEGER, nameId INTEGER);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (90,95,16777217,11,3),(40,45,16777217,12,3);
CREATE TABLE NVTX_EVENTS (start INTEGER, "end" INTEGER, eventType INTEGER, text TEXT,
  textId INTEGER, globalTid INTEGER, domainId INTEGER);
INSERT INTO NVTX_EVENTS VALUES (10,500,59,'step',NULL,16777217,0);
)";

  static void Make(const std::string& path, const std::string& sql) {
    sqlite3* db = nullptr;
    Require(sqlite3_open(path.c_str(), &db) == SQLITE_OK);
    Require(sqlite3_exec(db, sql.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK);
    sqlite3_close(db);
  }

  static std::string ReadAll(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }

  static bool Shows(const SqlRows& rows) {
    for (const auto& row : rows.rows) {
      for (const Value& value : row) {
        const auto* text = value.AsText();
        if (text != nullptr && text->find(kSecret) != std::string::npos) {
          return true;
        }
      }
    }
    return false;
  }

  FuzzFolder folder_;
  std::string content_;
  std::unique_ptr<SqlSession> session_;
  uint64_t runs_ = 0;
};

}  // namespace nsys
