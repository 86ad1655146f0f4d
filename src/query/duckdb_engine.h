// SPDX-License-Identifier: MIT
// SqlSession on DuckDB.
#pragma once

#include <memory>
#include <string_view>

#include "ingest/table_source.h"
#include "query/sql_session.h"

namespace nsys {

Result<std::unique_ptr<SqlSession>> OpenDuckdbSession(std::unique_ptr<TableSource> source,
                                                      int threads);

// CheckSql for this engine.
Status CheckDuckdbSql(std::string_view text);

}  // namespace nsys
