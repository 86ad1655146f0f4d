// SPDX-License-Identifier: MIT
// What a conversion writes, and where: one job per input, checked before anything is read.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/convert_options.h"

namespace nsys {

struct ConvertJob {
  std::string input;
  std::string report;      // its name
  bool is_report = false;  // only nsys can read the input

  // All paths are absolute. An empty one is not made.
  std::string home;  // the folder of the outputs; of files named one by one: that of the last
  std::string json;
  std::string pftrace;
  std::string parquet;
  std::string dependencies;
  std::string export_folder;
  std::string manifest;            // name of a file in `home`, see perfetto/publication.h
  std::vector<std::string> stale;  // outputs that are not made this time
};

// Usage errors: two inputs of one name, two outputs at one path, an output that is a folder, an
// input, or inside of one, or something that was not made by a conversion and would be replaced.
Result<std::vector<ConvertJob>> PlanConversion(const ConvertRequest& request);

}  // namespace nsys
