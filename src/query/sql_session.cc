// SPDX-License-Identifier: MIT
#include "query/sql_session.h"

#include <algorithm>
#include <thread>

#include "ingest/capture.h"
#include "query/duckdb_engine.h"
#include "query/sqlite_session.h"

namespace nsys {

Result<std::unique_ptr<SqlSession>> SqlSession::Open(const std::string& path, SqlEngine engine,
                                                     int threads) {
  const unsigned cores = std::max(1U, std::thread::hardware_concurrency());
  const int readers = threads > 0 ? threads : static_cast<int>(cores);
  NSYS_ASSIGN(std::unique_ptr<TableSource> source, OpenCapture(path, readers));
  const InputFiles inputs = source->inputs();
  Result<std::unique_ptr<SqlSession>> session = engine == SqlEngine::kDuckdb
                                                    ? OpenDuckdbSession(std::move(source), readers)
                                                    : OpenSqliteSession(std::move(source));
  NSYS_TRY(inputs.CheckUnchanged());
  return session;
}

Status CheckSql(std::string_view text, SqlEngine engine) {
  if (engine == SqlEngine::kDuckdb) {
    return CheckDuckdbSql(text);
  }
  return CheckSqliteSql(text);
}

}  // namespace nsys
