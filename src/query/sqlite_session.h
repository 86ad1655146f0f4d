// SPDX-License-Identifier: MIT
// SqlSession on SQLite: an SQLite file in place, or the tables of a Parquet capture in memory.
#pragma once

#include <memory>

#include "ingest/table_source.h"
#include "query/sql_session.h"

namespace nsys {

Result<std::unique_ptr<SqlSession>> OpenSqliteSession(std::unique_ptr<TableSource> source);

// CheckSql for this engine.
Status CheckSqliteSql(std::string_view text);

}  // namespace nsys
