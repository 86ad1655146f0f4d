// SPDX-License-Identifier: MIT
// The Parquet form of a capture: a folder with one <TABLE>.parquet per table, read by DuckDB.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "ingest/table_source.h"

namespace nsys {

// The names of the *.parquet files directly in `folder`, in byte order.
std::vector<std::string> ListParquetFiles(const std::string& folder);

// Opens `folder`; checks the footer of every file. `threads` work on one table at a time.
Result<std::unique_ptr<TableSource>> OpenParquetFolder(const std::string& folder, int threads);

}  // namespace nsys
