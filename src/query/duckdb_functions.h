// SPDX-License-Identifier: MIT
// The functions of views.h in DuckDB.
#pragma once

#include "base/result.h"
#include "ingest/duckdb_session.h"

namespace nsys {

Status RegisterDuckdbFunctions(DuckdbConnection& connection, const DuckdbApi& api);

}  // namespace nsys
