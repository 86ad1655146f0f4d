// SPDX-License-Identifier: MIT
// The result of a statement as a Parquet file.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "query/sql_session.h"

namespace nsys {

// The bytes of the file. `names` of the columns must differ. A column is BIGINT or DOUBLE when all
// its values are numbers (true is 1), else VARCHAR; one without values is what it was declared as.
Result<std::string> RowsToParquet(const std::vector<std::string>& names, const SqlRows& rows);

}  // namespace nsys
