// SPDX-License-Identifier: MIT
// Converting one input: export where it is a report, load, lay out, write, check, publish.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/convert_plan.h"
#include "perfetto/layout.h"

namespace nsys {

class Progress;

struct ConvertedFile {
  OutputKind kind = OutputKind::kJson;
  std::string path;
  int64_t bytes = 0;
};

// What a conversion did, for its summary.
struct Conversion {
  std::string input;
  std::string report;
  std::string nsys;          // the program that exported; empty: none was needed
  std::string nsys_version;  // as it says
  perfetto::Counts counts;
  int64_t json_events = 0;
  int64_t json_bytes = 0;  // before gzip
  int64_t parquet_rows = 0;
  int64_t packets = 0;  // of the protobuf trace
  int64_t origin_ns = 0;
  int64_t anchor_ns = 0;
  bool anchored = false;
  std::vector<ConvertedFile> files;  // by kind: the JSON trace, if made, is the last
};

Result<Conversion> ConvertOne(const ConvertRequest& request, const ConvertJob& job,
                              Progress& progress);

}  // namespace nsys
