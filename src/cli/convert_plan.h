// SPDX-License-Identifier: MIT
// What a conversion writes, and where: one job per input, checked before anything is read.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/convert_options.h"

namespace nsys {

// In the order of publication: where the JSON trace is, the set is complete.
enum class OutputKind : uint8_t {
  kExport,  // a folder
  kParquet,
  kDependencies,
  kPftrace,
  kJson,
};

// "export", "parquet", …
std::string_view OutputKindName(OutputKind kind);

struct ConvertJob {
  std::string input;
  std::string report;      // its name
  bool is_report = false;  // only nsys can read the input

  // All paths are absolute.
  std::string home;  // the folder of the outputs; of files named one by one: that of the last
  std::map<OutputKind, std::string> files;  // those that are made
  std::string export_folder;                // empty: none is made
  std::string manifest;                     // name of a file in `home`, see perfetto/publication.h
  std::vector<std::string> stale;           // outputs that are not made this time
};

// Usage errors: two inputs of one name, two outputs at one path, an output that is a folder, an
// input, or inside of one, or something that was not made by a conversion and would be replaced.
Result<std::vector<ConvertJob>> PlanConversion(const ConvertRequest& request);

}  // namespace nsys
