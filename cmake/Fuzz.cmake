# SPDX-License-Identifier: MIT
# tests/fuzz/*.cc: one libFuzzer program each, fuzz-<stem>.
if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  message(FATAL_ERROR "NSYS_AI_FUZZ needs clang; use the preset `fuzz`")
endif()
file(GLOB _fuzz_sources CONFIGURE_DEPENDS tests/fuzz/*.cc)
foreach(_source IN LISTS _fuzz_sources)
  get_filename_component(_stem "${_source}" NAME_WE)
  add_executable(fuzz-${_stem} "${_source}")
  target_link_libraries(fuzz-${_stem} PRIVATE nsys_ai_cli)
  target_link_options(fuzz-${_stem} PRIVATE -fsanitize=fuzzer)
endforeach()
