# SPDX-License-Identifier: MIT
# The choices a builder may make. Presets set them; see CMakePresets.json.
option(NSYS_AI_WERROR "Treat compiler warnings as errors" ON)
option(NSYS_AI_PCH "Precompile the heavy standard headers" ON)
option(NSYS_AI_TESTS "Build and register the tests" ON)
option(NSYS_AI_FUZZ "Build the libFuzzer targets of tests/fuzz (needs clang)" OFF)
set(NSYS_AI_SANITIZE "" CACHE STRING "Value for -fsanitize=, for example address,undefined")
set(NSYS_AI_DEPS_DIR "${CMAKE_SOURCE_DIR}/build/_deps" CACHE PATH
    "Where fetched dependencies are kept, shared by all presets")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()
# Line tables are enough for profilers and for the backtraces of sanitizers, and build a quarter
# faster. A debugger that is to show variables wants "-O0 -g" here.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1 -D_GLIBCXX_ASSERTIONS")

# The name tests and scripts know this build by.
if(CMAKE_BUILD_TYPE STREQUAL "Debug")
  set(NSYS_AI_BUILD_TYPE debug)
else()
  set(NSYS_AI_BUILD_TYPE release)
endif()
