// SPDX-License-Identifier: MIT
// From a report (.nsys-rep), which only the vendor's tool can read, to tables: a fresh export that
// lies beside it, or one made now in a temporary folder that goes away with its owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/unfinished.h"

namespace nsys {

// Exports beside X.nsys-rep: X.sqlite, X.parquetdir, X_pqtdir.
struct SiblingExports {
  // Not older than the report; newest first, SQLite first among equals.
  std::vector<std::string> fresh;
  std::vector<std::string> stale;  // older than the report
};
SiblingExports FindSiblingExports(const std::string& report);

// A folder of its own under $TMPDIR, removed with everything in it.
class TemporaryExport {
 public:
  // Runs `nsys export` on `report`: Parquet where the tool can write it, else SQLite.
  static Result<std::unique_ptr<TemporaryExport>> Make(const std::string& nsys,
                                                       const std::string& report);
  ~TemporaryExport();
  TemporaryExport(const TemporaryExport&) = delete;
  TemporaryExport& operator=(const TemporaryExport&) = delete;

  // What was exported: a folder of Parquet tables or an SQLite file.
  const std::string& path() const { return path_; }

 private:
  explicit TemporaryExport(std::string folder) : folder_(std::move(folder)), unfinished_(folder_) {}

  std::string folder_;
  std::string path_;
  Unfinished unfinished_;
};

// The error for a report when there is no nsys: it holds the command to run elsewhere.
Error NsysMissing(const std::string& report, const SiblingExports& siblings);

// The nsys that makes exports to keep.
struct NsysTool {
  std::string path;     // empty: there is none
  std::string version;  // what `nsys --version` prints
};

// The nsys called `named`, or, when that is empty, the one of FindNsys. An error when it cannot
// write Parquet. `log` is a file for what it prints.
Result<NsysTool> FindExporter(const std::string& named, const std::string& log);

// Exports `report` to the folder `output`, with times since the epoch. When this fails, part of
// it may be there.
Status ExportTables(const NsysTool& tool, const std::string& report, const std::string& output,
                    const std::string& log);

// For a handler that is about to end the process: kills a running export and removes all temporary
// files and folders (base/unfinished.h). Uses only what a signal handler may use (fork, exec,
// wait).
void RemoveTemporaryExports() noexcept;

}  // namespace nsys
