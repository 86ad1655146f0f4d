// SPDX-License-Identifier: MIT
// Opening a capture by path: what kind of thing is there (judged by its content, not its name), and
// the TableSource that reads it. Nothing is ever written beside the user's file.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ingest/table_source.h"

namespace nsys {

// The tables of the capture at `path`: an SQLite export, a folder of Parquet tables, or a report
// (.nsys-rep, .qdrep), for which a fresh export beside it is used, else `nsys export` into a
// temporary folder that is removed with the source. Errors name what is there instead and what to
// do.
// `threads` is for readers that use several within one table.
Result<std::unique_ptr<TableSource>> OpenCapture(const std::string& path, int threads);

}  // namespace nsys
