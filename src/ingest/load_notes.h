// SPDX-License-Identifier: MIT
// What a loaded trace says of itself: its devices, and warnings about what its tables leave open.
#pragma once

#include "trace/tables.h"
#include "trace/trace.h"

namespace nsys {

// Fills Trace::device_inventory; warns of ordinals that stand for several GPUs.
void ListDevices(Trace& trace);

// Warns when no name of a kernel, or of a call, could be read.
void WarnOfUnreadableNames(Trace& trace);

// Warns of tables that would have been read under their exact names.
void WarnOfNearMisses(const Reads& reads, Trace& trace);

}  // namespace nsys
