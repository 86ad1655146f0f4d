// SPDX-License-Identifier: MIT
// The page of profile_health_manifest for people.
#pragma once

#include <string>

#include "analysis/skill.h"

namespace nsys {

// One line per subject, from the row that the skill gives.
std::string ManifestReport(const Answer& answer);

}  // namespace nsys
