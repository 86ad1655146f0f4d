# SPDX-License-Identifier: MIT
# Build helpers used when they are installed: ccache for compiling, mold for linking.
find_program(NSYS_AI_CCACHE ccache)
mark_as_advanced(NSYS_AI_CCACHE)
if(NSYS_AI_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness ccache does not cache a compilation that uses a precompiled header.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env
      CCACHE_SLOPPINESS=pch_defines,time_macros "${NSYS_AI_CCACHE}")
endif()

include(CheckLinkerFlag)
check_linker_flag(CXX -fuse-ld=mold NSYS_AI_HAS_MOLD)
if(NSYS_AI_HAS_MOLD)
  add_link_options(-fuse-ld=mold)
endif()

# Writes DT_RPATH rather than DT_RUNPATH. The program loads libduckdb.so with dlopen(); under a
# sanitizer that call comes from the sanitizer's own library, where DT_RUNPATH is not consulted.
add_link_options(-Wl,--disable-new-dtags)
