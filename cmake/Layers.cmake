# SPDX-License-Identifier: MIT
# One static library per folder of src/, linked along the layer table of docs/architecture.md.
include_guard()

# nsys_ai_sources(<out> <folder>): the folder's sources without its tests.
function(nsys_ai_sources out folder)
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_SOURCE_DIR}/src/${folder}/*.cc")
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# One precompiled header for all libraries: the standard headers nearly every file includes. Files
# still include what they use; the `lint` preset compiles without it.
if(NSYS_AI_PCH)
  file(CONFIGURE OUTPUT "${CMAKE_BINARY_DIR}/generated/pch_stub.cc" CONTENT "")
  add_library(nsys_ai_pch OBJECT "${CMAKE_BINARY_DIR}/generated/pch_stub.cc")
  target_link_libraries(nsys_ai_pch PRIVATE nsys_ai_options fmt::fmt Threads::Threads)
  target_precompile_headers(nsys_ai_pch PRIVATE
    <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <span> <string>
    <string_view> <unordered_map> <utility> <variant> <vector> <fmt/format.h>)
endif()

# nsys_ai_layer(<folder> [<target>...]): library nsys_ai_<folder>; an empty folder is fine.
function(nsys_ai_layer folder)
  nsys_ai_sources(sources ${folder})
  list(FILTER sources EXCLUDE REGEX "/cli/main\\.cc$")
  if(NOT sources)
    add_library(nsys_ai_${folder} INTERFACE)
    target_link_libraries(nsys_ai_${folder} INTERFACE nsys_ai_options ${ARGN})
    return()
  endif()
  add_library(nsys_ai_${folder} STATIC ${sources})
  target_link_libraries(nsys_ai_${folder} PUBLIC nsys_ai_options ${ARGN})
  if(NSYS_AI_PCH)
    target_precompile_headers(nsys_ai_${folder} REUSE_FROM nsys_ai_pch)
  endif()
endfunction()
