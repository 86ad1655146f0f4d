// SPDX-License-Identifier: MIT
// Statements of users in DuckDB's engine; see sql_target.h.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-sql_duckdb -max_len=512 "$PWD/CORPUS_FOLDER"
#include <cstdint>
#include <string_view>

#include "sql_target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nsys::SqlTarget target(nsys::SqlEngine::kDuckdb);
  target.Run({reinterpret_cast<const char*>(data), size});
  return 0;
}
