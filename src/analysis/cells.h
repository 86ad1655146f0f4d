// SPDX-License-Identifier: MIT
// Parts of a trace as cells of a row; null for what the capture does not tell.
#pragma once

#include <cstdint>
#include <string>

#include "base/value.h"
#include "trace/trace.h"

namespace nsys {

// The process id of a lane; null also for a word without one, which stands for "no process".
inline Value PidCell(const Lane& lane) {
  const int64_t pid = lane.global_pid ? Process{*lane.global_pid}.pid() : 0;
  return pid != 0 ? Value(pid) : Value();
}

// The text of `id`.
inline Value TextCell(const Trace& trace, StringId id) {
  return id == StringId::kNone ? Value() : Value(trace.strings.Get(id));
}

// Of a row with the keys pid and tid, both for the text table: "1234/1240", or "-" when unknown.
inline std::string PidTidText(const Object& row) {
  const int64_t* pid = row.Find("pid")->AsInt();
  return pid == nullptr ? "-"
                        : std::to_string(*pid) + "/" + std::to_string(*row.Find("tid")->AsInt());
}

}  // namespace nsys
