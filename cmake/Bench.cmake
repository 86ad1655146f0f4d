# SPDX-License-Identifier: MIT
# bench/*.cc: programs that print ratios, built by the target `benchmarks` only.
file(GLOB _bench_sources CONFIGURE_DEPENDS bench/*.cc)
add_custom_target(benchmarks)
foreach(_source IN LISTS _bench_sources)
  get_filename_component(_stem "${_source}" NAME_WE)
  add_executable(bench-${_stem} EXCLUDE_FROM_ALL "${_source}")
  target_link_libraries(bench-${_stem} PRIVATE nsys_ai_cli)
  target_include_directories(bench-${_stem} PRIVATE "${CMAKE_SOURCE_DIR}/tests")
  add_dependencies(benchmarks bench-${_stem})
endforeach()
if(TARGET nsys-ai)
  add_dependencies(benchmarks nsys-ai)
endif()
