# SPDX-License-Identifier: MIT
# bin/nsys-ai, bin/convert_nsys.sh, lib/libduckdb.so, and the documents and licence texts of all that is shipped or used.
if(TARGET nsys-ai)
  install(TARGETS nsys-ai RUNTIME DESTINATION bin)
endif()
install(FILES "${NSYS_AI_DUCKDB_LIB_DIR}/libduckdb.so" DESTINATION lib
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                    WORLD_EXECUTE)

install(PROGRAMS scripts/convert_nsys.sh DESTINATION bin)

set(_doc_dir share/doc/nsys-ai)
install(FILES LICENSE NOTICE README.md CONTRIBUTING.md CHANGELOG.md DESTINATION ${_doc_dir})
install(DIRECTORY docs/ DESTINATION ${_doc_dir}/docs FILES_MATCHING PATTERN "*.md" PATTERN "*.svg")

# Skills to copy, or to use in place: nsys-ai skill --skills-dir PREFIX/share/nsys-ai/skills …
install(DIRECTORY examples/skills/ DESTINATION share/nsys-ai/skills FILES_MATCHING PATTERN "*.md")

# An installation without the licence texts of what it contains may not be passed on.
set(_licence_duckdb "${NSYS_AI_DUCKDB_LICENSE}")
foreach(_package fmt cli11 sqlite3)
  set(_licence_${_package} "/usr/share/doc/lib${_package}-dev/copyright")
endforeach()
foreach(_part duckdb fmt cli11 sqlite3)
  if(EXISTS "${_licence_${_part}}")
    install(FILES "${_licence_${_part}}" DESTINATION ${_doc_dir}/licenses RENAME ${_part}.txt)
  else()
    message(WARNING "`install` will lack the licence text of ${_part}: no ${_licence_${_part}}. "
                    "Do not pass such an installation on.")
  endif()
endforeach()
