# SPDX-License-Identifier: MIT
# DuckDB's C library and header, fetched once with the npm and pip clients, pinned by checksum.
#
# The program is never linked against the library: commands that need it load it at run time.
# Gives:   DuckDB::headers            interface target with the include directory
#          NSYS_AI_DUCKDB_LIB_DIR     folder of libduckdb.so
#          NSYS_AI_DUCKDB_LICENSE     DuckDB's licence text
# Bypass:  -DDUCKDB_ROOT=<prefix>     a prefix with include/duckdb.h and lib/libduckdb.so
set(DUCKDB_ROOT "" CACHE PATH "Prefix with include/duckdb.h and lib/libduckdb.so, not fetched")

set(_duckdb_version 1.5.6)
set(_duckdb_npm_version 1.5.6-r.1)
set(_duckdb_header_sha256 e85f70155b5948c8575e59f66e60d43575cec8b252293534c9e8598eb313a293)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  set(_duckdb_arch arm64)
  set(_duckdb_package_sha256 3a45a6305b3235a781ed9de25aa795a3862acd042782d1f864e1bdb656de212b)
  set(_duckdb_library_sha256 23686593dba4ec22c6e581bb1c843b3964e84c4bc4d0063d8b4daddd2e20e30a)
else()
  set(_duckdb_arch x64)
  set(_duckdb_package_sha256 1b9f82478539bb9a1d1df44bd103121a12ae52142c07158dc52b97d2ec1d69ff)
  set(_duckdb_library_sha256 3f4962cdd266eab2b479a5b5a4a6d063d279b2954ae814ed00385d553b747633)
endif()

function(_duckdb_verify file expected)
  file(SHA256 "${file}" actual)
  if(NOT actual STREQUAL expected)
    message(FATAL_ERROR "DuckDB: ${file} has SHA-256\n  ${actual}, expected\n  ${expected}\n"
                        "Delete it and configure again, or set DUCKDB_ROOT.")
  endif()
endfunction()

function(_duckdb_run what directory)
  execute_process(COMMAND ${ARGN} WORKING_DIRECTORY "${directory}"
    RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "DuckDB: ${what} failed (${status}):\n${output}\n"
      "Needs the package clients and a network; or set DUCKDB_ROOT to a prefix with "
      "include/duckdb.h and lib/libduckdb.so.")
  endif()
endfunction()

function(_duckdb_fetch_library prefix scratch)
  set(package "@duckdb/node-bindings-linux-${_duckdb_arch}@${_duckdb_npm_version}")
  message(STATUS "DuckDB: fetching ${package}")
  find_program(NSYS_AI_NPM npm REQUIRED)
  _duckdb_run("npm pack" "${scratch}" "${NSYS_AI_NPM}" pack --silent "${package}")
  set(archive "${scratch}/duckdb-node-bindings-linux-${_duckdb_arch}-${_duckdb_npm_version}.tgz")
  _duckdb_verify("${archive}" ${_duckdb_package_sha256})
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${scratch}"
       PATTERNS "package/libduckdb.so" "package/LICENSE")
  _duckdb_verify("${scratch}/package/libduckdb.so" ${_duckdb_library_sha256})
  file(MAKE_DIRECTORY "${prefix}/lib")
  file(RENAME "${scratch}/package/LICENSE" "${prefix}/LICENSE")
  file(RENAME "${scratch}/package/libduckdb.so" "${prefix}/lib/libduckdb.so")
endfunction()

function(_duckdb_fetch_header prefix scratch)
  message(STATUS "DuckDB: fetching the header of duckdb==${_duckdb_version}")
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
  _duckdb_run("pip download" "${scratch}" "${Python3_EXECUTABLE}" -m pip download --quiet
    --disable-pip-version-check --no-deps --no-binary duckdb -d "${scratch}"
    duckdb==${_duckdb_version})
  file(ARCHIVE_EXTRACT INPUT "${scratch}/duckdb-${_duckdb_version}.tar.gz"
       DESTINATION "${scratch}" PATTERNS "*/external/duckdb/src/include/duckdb.h")
  set(header "${scratch}/duckdb-${_duckdb_version}/external/duckdb/src/include/duckdb.h")
  _duckdb_verify("${header}" ${_duckdb_header_sha256})
  file(MAKE_DIRECTORY "${prefix}/include")
  file(RENAME "${header}" "${prefix}/include/duckdb.h")
endfunction()

# Both parts appear by a rename at the very end, so what is there is complete and verified; the
# lock makes two configures that start together fetch once.
function(_duckdb_fetch prefix)
  file(MAKE_DIRECTORY "${NSYS_AI_DEPS_DIR}")
  file(LOCK "${NSYS_AI_DEPS_DIR}/duckdb.lock" GUARD FUNCTION TIMEOUT 900)
  set(scratch "${prefix}/download")
  file(MAKE_DIRECTORY "${scratch}")
  if(NOT EXISTS "${prefix}/lib/libduckdb.so")
    _duckdb_fetch_library("${prefix}" "${scratch}")
  endif()
  if(NOT EXISTS "${prefix}/include/duckdb.h")
    _duckdb_fetch_header("${prefix}" "${scratch}")
  endif()
  file(REMOVE_RECURSE "${scratch}")
endfunction()

if(DUCKDB_ROOT)
  set(_duckdb_prefix "${DUCKDB_ROOT}")
  foreach(_part include/duckdb.h lib/libduckdb.so)
    if(NOT EXISTS "${DUCKDB_ROOT}/${_part}")
      message(FATAL_ERROR "DUCKDB_ROOT: ${DUCKDB_ROOT}/${_part} does not exist")
    endif()
  endforeach()
else()
  set(_duckdb_prefix "${NSYS_AI_DEPS_DIR}/duckdb-${_duckdb_version}-${_duckdb_arch}")
  if(NOT EXISTS "${_duckdb_prefix}/lib/libduckdb.so"
     OR NOT EXISTS "${_duckdb_prefix}/include/duckdb.h")
    _duckdb_fetch("${_duckdb_prefix}")
  endif()
endif()

set(NSYS_AI_DUCKDB_LIB_DIR "${_duckdb_prefix}/lib")
set(NSYS_AI_DUCKDB_LICENSE "${_duckdb_prefix}/LICENSE")
add_library(DuckDB::headers INTERFACE IMPORTED GLOBAL)
target_include_directories(DuckDB::headers SYSTEM INTERFACE "${_duckdb_prefix}/include")
