// SPDX-License-Identifier: MIT
// Writing the outputs of a conversion under their temporary names, and reading them back.
#pragma once

#include "base/result.h"
#include "cli/convert_one.h"
#include "perfetto/layout.h"
#include "perfetto/publication.h"
#include "trace/trace.h"

namespace nsys {

// Writes all of `conversion.files`, and notes what they hold there.
Status WriteOutputs(const Trace& trace, const perfetto::Layout& layout, int threads,
                    const perfetto::Publication& publication, Conversion& conversion,
                    Progress& progress);

// Reads them back from disk as any reader will.
Status ReadBackOutputs(const perfetto::Publication& publication, const Conversion& conversion,
                       Progress& progress);

}  // namespace nsys
