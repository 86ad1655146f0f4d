// SPDX-License-Identifier: MIT
// Which files of a folder are tables of a capture. Nothing is opened.
#pragma once

#include <string>
#include <vector>

namespace nsys {

// The names of the *.parquet files directly in `folder`, in byte order.
std::vector<std::string> ListParquetFiles(const std::string& folder);

struct ParquetTable {
  std::string name;
  // One, or the parts of the table in byte order of their names. Whether they are regular files is
  // not looked at.
  std::vector<std::string> paths;
};

struct ParquetListing {
  std::vector<ParquetTable> tables;   // in byte order of their names
  std::vector<std::string> warnings;  // about what looks like a table and is none
  int error = 0;                      // errno, when the folder could not be read
};

// The tables of `folder`. With `table_folders` a table may also be a folder <TABLE>.parquet of
// *.parquet files.
ParquetListing ListParquetTables(const std::string& folder, bool table_folders);

}  // namespace nsys
