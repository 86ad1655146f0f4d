// SPDX-License-Identifier: MIT
// A RowHint as a condition of SQL, in words that both engines know.
#pragma once

#include <string>

#include "ingest/table_source.h"

namespace nsys {

// " WHERE …", or nothing when the hint names too much to be worth it.
std::string ConditionOf(const RowHint& hint);

}  // namespace nsys
