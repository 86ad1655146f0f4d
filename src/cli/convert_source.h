// SPDX-License-Identifier: MIT
// The trace of an input: of a report, nsys makes the tables first.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/convert_one.h"
#include "cli/convert_plan.h"
#include "perfetto/publication.h"
#include "trace/trace.h"

namespace nsys {

struct LoadedInput {
  Trace trace;
  bool exported = false;  // by nsys, into the publication's work folder
};

// Loads what `options` draw. The nsys that was used is noted in `conversion`. Warnings go to
// standard error.
Result<LoadedInput> LoadInput(const ConvertRequest& request, const ConvertJob& job, int threads,
                              perfetto::Publication& publication, Conversion& conversion,
                              Progress& progress);

}  // namespace nsys
