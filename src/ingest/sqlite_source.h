// SPDX-License-Identifier: MIT
// The SQLite form of a capture, as tables.
#pragma once

#include <memory>
#include <string>

#include "base/result.h"
#include "ingest/table_source.h"

namespace nsys {

// Opens `path`, which is known to begin like an SQLite file. `reason`: why SQLite reads it, for
// TableSource::reader().
Result<std::unique_ptr<TableSource>> OpenSqlite(const std::string& path, std::string reason = {});

}  // namespace nsys
