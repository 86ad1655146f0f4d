// SPDX-License-Identifier: MIT
// From a report (.nsys-rep), which only the vendor's tool can read, to tables: a fresh export that
// lies beside it, or one made now in a temporary folder that goes away with its owner.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/result.h"

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
  TemporaryExport(std::string folder, int slot) : folder_(std::move(folder)), slot_(slot) {}

  std::string folder_;
  std::string path_;
  int slot_;
};

// The error for a report when there is no nsys: it holds the command to run elsewhere.
Error NsysMissing(const std::string& report, const SiblingExports& siblings);

// For a handler that is about to end the process: kills a running export and removes the temporary
// folders. Uses only what a signal handler may use (fork, exec, wait).
void RemoveTemporaryExports() noexcept;

}  // namespace nsys
