// SPDX-License-Identifier: MIT
// Parquet's footer, as far as one need goes: Nsight labels columns as strings although their bytes
// are not always UTF-8, and DuckDB refuses such values. With the label made unreadable in a copy of
// the footer, the same column reads as plain bytes.
#pragma once

#include <string>

namespace nsys {

// Hides the "this is text" label of every top-level byte column in `footer`, the serialized
// metadata of a Parquet file, without changing its length. False when it cannot be understood.
bool HideTextLabels(std::string& footer);

}  // namespace nsys
