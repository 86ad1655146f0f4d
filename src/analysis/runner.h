// SPDX-License-Identifier: MIT
// Running a skill: arguments are bound before a capture is opened, and everything that every skill
// would have to check (absent tables and columns, empty captures, unknown devices) is checked here,
// once, so that a skill sees only captures that it can answer for.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "analysis/skill.h"

namespace nsys {

using GivenParam = std::pair<std::string, std::string>;  // KEY, VALUE as typed

// The parameters of `skill` from what was given, with defaults for the rest. Unknown, repeated,
// ill-typed and missing parameters are usage errors that name the parameter and what it takes.
Result<Params> BindParams(const Skill& skill, std::span<const GivenParam> given);

// What has to be loaded to run `skill`: its own reads, and those of the checks below.
Reads ReadsFor(const Skill& skill, bool has_window);

// An error unless `window` overlaps [first kernel start, last kernel end] of `trace`; a capture
// without kernels has no span to compare with, and passes.
Status CheckWindow(const Trace& trace, const Window& window);

// The rows of `skill`: a problem row when its `device` occurs nowhere, an abstention when the
// capture lacks a table or column that it needs or has no GPU work at all, else what the skill
// found.
Result<Rows> RunSkill(const Skill& skill, const Query& query);

// Kernel counts of the devices that have kernels or are in the inventory: {"0": 12, "1": 0}.
Object AvailableDevices(const Trace& trace);

// The answer for a device, or a device in a window, on which no kernel ran: `error`,
// `requested_device`, [`requested_trim_ns`], `available_devices`, `hint`.
Rows NoKernelsProblem(const Query& query, int64_t device);

}  // namespace nsys
