// SPDX-License-Identifier: MIT
// Parts of a trace as cells of a row; null for what the capture does not tell.
#pragma once

#include <optional>

#include "base/value.h"
#include "trace/trace.h"

namespace nsys {

// The process id of a lane.
inline Value PidCell(const Lane& lane) {
  return lane.global_pid ? Value(Process{*lane.global_pid}.pid()) : Value();
}

// The text of `id`.
inline Value TextCell(const Trace& trace, StringId id) {
  return id == StringId::kNone ? Value() : Value(trace.strings.Get(id));
}

}  // namespace nsys
