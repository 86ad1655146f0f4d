// SPDX-License-Identifier: MIT
// DuckDB's C library, loaded when first needed: it takes 70 MB and several milliseconds that only
// Parquet captures and SQL on DuckDB should pay for. The program never links against it.
#pragma once

#include <duckdb.h>

#include "base/result.h"

namespace nsys {

// The functions used, under their names without the prefix `duckdb_`.
#define NSYS_DUCKDB_FUNCTIONS(X)      \
  X(open_ext)                         \
  X(close)                            \
  X(create_config)                    \
  X(set_config)                       \
  X(destroy_config)                   \
  X(free)                             \
  X(connect)                          \
  X(disconnect)                       \
  X(prepare)                          \
  X(prepare_error)                    \
  X(destroy_prepare)                  \
  X(pending_prepared_streaming)       \
  X(pending_error)                    \
  X(execute_pending)                  \
  X(destroy_pending)                  \
  X(destroy_result)                   \
  X(result_error)                     \
  X(column_count)                     \
  X(column_type)                      \
  X(fetch_chunk)                      \
  X(destroy_data_chunk)               \
  X(data_chunk_get_size)              \
  X(data_chunk_get_vector)            \
  X(vector_get_data)                  \
  X(vector_get_validity)              \
  X(string_t_length)                  \
  X(string_t_data)                    \
  X(interrupt)                        \
  X(extract_statements)               \
  X(extract_statements_error)         \
  X(destroy_extracted)                \
  X(prepared_statement_type)          \
  X(prepared_statement_column_count)  \
  X(prepared_statement_column_name)   \
  X(prepared_statement_column_type)   \
  X(appender_create)                  \
  X(appender_close)                   \
  X(appender_destroy)                 \
  X(appender_error)                   \
  X(append_data_chunk)                \
  X(create_logical_type)              \
  X(destroy_logical_type)             \
  X(create_data_chunk)                \
  X(data_chunk_reset)                 \
  X(data_chunk_set_size)              \
  X(vector_size)                      \
  X(vector_ensure_validity_writable)  \
  X(validity_set_row_invalid)         \
  X(vector_assign_string_element_len) \
  X(create_scalar_function)           \
  X(destroy_scalar_function)          \
  X(scalar_function_set_name)         \
  X(scalar_function_add_parameter)    \
  X(scalar_function_set_return_type)  \
  X(scalar_function_set_extra_info)   \
  X(scalar_function_get_extra_info)   \
  X(scalar_function_set_function)     \
  X(register_scalar_function)

struct DuckdbApi {
#define NSYS_DECLARE(name) decltype(&duckdb_##name) name = nullptr;
  NSYS_DUCKDB_FUNCTIONS(NSYS_DECLARE)
#undef NSYS_DECLARE
};

// The library, looked for once: at $NSYS_AI_DUCKDB, else libduckdb.so where the dynamic linker
// looks (an installed program: in ../lib of its own folder). Thread-safe; the pointer stays valid
// until the process ends.
Result<const DuckdbApi*> LoadDuckdb();

}  // namespace nsys
