// SPDX-License-Identifier: MIT
// The Parquet form of a capture: a folder with one <TABLE>.parquet per table, read by DuckDB.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ingest/parquet_folder.h"
#include "ingest/table_source.h"

namespace nsys {

struct ParquetOptions {
  bool table_folders = false;  // a table may be a folder <TABLE>.parquet of part files
  bool keep_going = false;     // files that cannot be read are left out, with a warning
};

// Opens `folder`; checks the footer of every file. `threads` work on one table at a time.
Result<std::unique_ptr<TableSource>> OpenParquetFolder(const std::string& folder, int threads,
                                                       const ParquetOptions& options = {});

}  // namespace nsys
