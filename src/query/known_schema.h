// SPDX-License-Identifier: MIT
// The tables and columns that Nsight's exports are known to have, of all versions together: what a
// statement can be checked against when there is no capture.
#pragma once

#include "trace/trace.h"

namespace nsys {

Schema KnownSchema();

}  // namespace nsys
