// SPDX-License-Identifier: MIT
// Running a skill: everything that every skill would have to check (absent tables and columns,
// empty captures, unknown devices) is checked here, once, so that a skill sees only captures that
// it can answer for.
#pragma once

#include <optional>

#include "analysis/skill.h"

namespace nsys {

// What has to be loaded to run `skill`: its own reads, and those of the checks below.
Reads ReadsFor(const Skill& skill, const Params& params, const std::optional<Window>& window);

// An error unless `window` overlaps [first kernel start, last kernel end] of `trace`; a capture
// without kernels has no span to compare with, and passes.
Status CheckWindow(const Trace& trace, const Window& window);

// An abstention when the capture has no kernels or no API calls, and so no launches to find
// iterations by.
std::optional<Answer> AbstainWithoutLaunches(const Trace& trace);

// The rows of `skill`: a problem row when its `device` occurs nowhere, an abstention when the
// capture lacks a table or column that it needs or has no GPU work at all, else what the skill
// found.
Result<Answer> RunSkill(const Skill& skill, const Query& query);

// Kernel counts of the devices that have kernels or are in the inventory: {"0": 12, "1": 0}.
Object AvailableDevices(const Trace& trace);

// The answer for a device, or a device in a window, on which no kernel ran: `error`,
// `requested_device`, [`requested_trim_ns`], `available_devices`, `hint`.
Answer NoKernelsProblem(const Query& query, int64_t device);

}  // namespace nsys
