// SPDX-License-Identifier: MIT
// What a conversion tells of itself: one line of key=value pairs and the files, or JSON.
#pragma once

#include <string>

#include "base/value.h"
#include "cli/convert_one.h"

namespace nsys {

// "report=train kernels=2 cuda_api=9 …", without a newline. Blanks, control characters and the
// percent sign of the report's name are percent-encoded.
std::string SummaryLine(const Conversion& conversion);

// The text form on standard output: the nsys that was used, the line, the files with their sizes,
// and, as the last line, the path of the JSON trace.
std::string SummaryText(const Conversion& conversion);

// The same as an entry of "reports".
Object SummaryObject(const Conversion& conversion);

}  // namespace nsys
