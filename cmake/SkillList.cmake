# SPDX-License-Identifier: MIT
# The list of skills is the listing of src/skills: each file foo.cc defines `Skill skill_foo()`.
# Writes generated/skills/skills.h (a prototype per file) and skills.inc (a line per file), both in
# alphabetical order. A file whose function has another name does not compile.
nsys_ai_sources(_files skills)
set(_stems "")
foreach(_file IN LISTS _files)
  get_filename_component(_stem "${_file}" NAME_WE)
  if(NOT _stem STREQUAL "registry")
    list(APPEND _stems "${_stem}")
  endif()
endforeach()
list(SORT _stems)

set(_prototypes "")
set(_entries "")
foreach(_stem IN LISTS _stems)
  string(APPEND _prototypes "Skill skill_${_stem}();\n")
  string(APPEND _entries "skill_${_stem},\n")
endforeach()

# file(CONFIGURE) leaves a file alone whose content is the same: no needless rebuild.
set(NSYS_AI_GENERATED_DIR "${CMAKE_BINARY_DIR}/generated")
file(CONFIGURE OUTPUT "${NSYS_AI_GENERATED_DIR}/skills/skills.h" @ONLY CONTENT
"// Generated from the listing of src/skills; do not edit.
#pragma once

#include \"analysis/skill.h\"

namespace nsys {

@_prototypes@
}  // namespace nsys
")
file(CONFIGURE OUTPUT "${NSYS_AI_GENERATED_DIR}/skills/skills.inc" @ONLY CONTENT
"// Generated from the listing of src/skills; do not edit.
@_entries@")
