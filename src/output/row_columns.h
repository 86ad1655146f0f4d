// SPDX-License-Identifier: MIT
// The columns of rows: those that the skill declares, or, where it declares none, one for each key.
#pragma once

#include <vector>

#include "analysis/skill.h"

namespace nsys {

// Valid as long as `skill` and `answer`. Columns made of keys are headed by the key; they are
// numbers when every cell is one.
std::vector<ColumnSpec> ColumnsOf(const Skill& skill, const Answer& answer);

}  // namespace nsys
