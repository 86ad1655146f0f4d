// SPDX-License-Identifier: MIT
// Where the outputs of a conversion lie: $NSYS_WORKSPACE_ROOT/<report>/, else
// $HOME/.nsys-workspace/<report>/, under names that follow from the report's.
#pragma once

#include <string>

#include "base/result.h"

namespace nsys::perfetto {

// The base name of `input` without .nsys-rep, .qdrep, .sqlite, .parquetdir or _pqtdir.
std::string ReportName(const std::string& input);

// `report` as part of a file name: a report name given by the user may hold anything.
std::string FileStem(const std::string& report);

// The folder that holds one folder per report. A usage error when no variable tells.
Result<std::string> WorkspaceRoot();

// The outputs of one report in a folder.
struct SetPaths {
  std::string export_folder;  // the tables as nsys exports them
  std::string parquet;        // drawn events
  std::string dependencies;
  std::string pftrace;
  std::string json;
};
SetPaths PathsIn(const std::string& folder, const std::string& report);

}  // namespace nsys::perfetto
