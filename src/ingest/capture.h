// SPDX-License-Identifier: MIT
// Opening a capture by path: what kind of thing is there (judged by its content, not its name), and
// the TableSource that reads it. Nothing is ever written beside the user's file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ingest/sqlite_pages.h"
#include "ingest/table_source.h"

namespace nsys {

struct OpenOptions {
  int threads = 1;  // for readers that use several within one table
  // To convert a whole capture: a table may be a folder of part files. (Statements of users read
  // the files by themselves, one per table.)
  bool table_folders = false;
  SqliteReader reader = SqliteReader::kAuto;
  bool keep_going = false;  // tables whose file cannot be read are left out, with a warning
};

// The tables of the capture at `path`: an SQLite export, a folder of Parquet tables, or a report
// (.nsys-rep, .qdrep), for which a fresh export beside it is used, else `nsys export` into a
// temporary folder that is removed with the source. Errors name what is there instead and what to
// do.
Result<std::unique_ptr<TableSource>> OpenCapture(const std::string& path,
                                                 const OpenOptions& options);
inline Result<std::unique_ptr<TableSource>> OpenCapture(const std::string& path, int threads) {
  return OpenCapture(path, OpenOptions{.threads = threads});
}

}  // namespace nsys
