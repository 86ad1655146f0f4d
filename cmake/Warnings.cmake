# SPDX-License-Identifier: MIT
# nsys_ai_options: what every target of this project is compiled and linked with.
add_library(nsys_ai_options INTERFACE)
target_compile_features(nsys_ai_options INTERFACE cxx_std_20)
target_include_directories(nsys_ai_options INTERFACE "${CMAKE_SOURCE_DIR}/src")
target_compile_options(nsys_ai_options INTERFACE
  -Wall -Wextra -Wconversion -Wshadow -Wmissing-declarations
  # Designated initialisers leave out what has no news; g++ 12 warns of those too.
  -Wno-missing-field-initializers)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  # False alarms on std::string::insert, replace and operator+ (GCC bug 105651, fixed in 13).
  target_compile_options(nsys_ai_options INTERFACE -Wno-restrict -Wno-stringop-overflow -Wno-stringop-overread
    -Wno-array-bounds)
endif()
if(NSYS_AI_WERROR)
  target_compile_options(nsys_ai_options INTERFACE -Werror)
endif()

if(NSYS_AI_SANITIZE)
  set(_sanitize -fsanitize=${NSYS_AI_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_compile_options(nsys_ai_options INTERFACE ${_sanitize})
  target_link_options(nsys_ai_options INTERFACE ${_sanitize})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    # g++ 12 raises false alarms of this kind in sanitised standard containers.
    target_compile_options(nsys_ai_options INTERFACE -Wno-maybe-uninitialized)
    # A third of the time of a build, for what the address sanitizer mostly sees too. The fuzz
    # targets, built with clang, have these checks.
    target_compile_options(nsys_ai_options INTERFACE
      -fno-sanitize=null,alignment,vptr,object-size)
  endif()
endif()
if(NSYS_AI_FUZZ)
  target_compile_options(nsys_ai_options INTERFACE -fsanitize=fuzzer-no-link)
  target_link_options(nsys_ai_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
