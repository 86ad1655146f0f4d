// SPDX-License-Identifier: MIT
// The page of profile_health_manifest for people.
#pragma once

#include <string>

#include "analysis/skill.h"

namespace nsys {

// One line per subject. Reads nothing but the row of the skill, which must have all its keys.
std::string ManifestReport(const Answer& answer);

}  // namespace nsys
