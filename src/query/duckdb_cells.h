// SPDX-License-Identifier: MIT
// Cells of DuckDB's results as values. Integers, reals, texts and blobs are read as they are; every
// other type arrives as DuckDB's text of it.
#pragma once

#include <string>

#include "ingest/duckdb_api.h"
#include "query/sql_session.h"

namespace nsys {

// Whether CellReader reads this type as it is; others have to be cast to VARCHAR by the statement.
bool IsPlainType(duckdb_type type);

// Whether values of this type are numbers that texts carry: they become numbers again where a
// number says exactly the same, and stay texts otherwise.
bool IsWideNumber(duckdb_type type);

// INTEGER, REAL, TEXT or BLOB.
std::string ResultTypeName(duckdb_type type);

// The value in row `row` of a vector of type `type`; `declared` is the column's type before a cast.
Value CellOf(const DuckdbApi& api, duckdb_vector vector, duckdb_type type, duckdb_type declared,
             size_t row);

}  // namespace nsys
