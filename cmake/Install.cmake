# SPDX-License-Identifier: MIT
# bin/nsys-ai, lib/libduckdb.so, and the documents and licence texts of all that is shipped or used.
if(TARGET nsys-ai)
  install(TARGETS nsys-ai RUNTIME DESTINATION bin)
endif()
install(FILES "${NSYS_AI_DUCKDB_LIB_DIR}/libduckdb.so" DESTINATION lib
        PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                    WORLD_EXECUTE)

set(_doc_dir share/doc/nsys-ai)
install(FILES LICENSE NOTICE DESTINATION ${_doc_dir})
install(FILES README.md DESTINATION ${_doc_dir} OPTIONAL)
install(DIRECTORY docs/ DESTINATION ${_doc_dir}/docs FILES_MATCHING PATTERN "*.md")

install(FILES "${NSYS_AI_DUCKDB_LICENSE}" DESTINATION ${_doc_dir}/licenses RENAME duckdb.txt
        OPTIONAL)
foreach(_package fmt cli11 sqlite3)
  install(FILES "/usr/share/doc/lib${_package}-dev/copyright"
          DESTINATION ${_doc_dir}/licenses RENAME ${_package}.txt OPTIONAL)
endforeach()
