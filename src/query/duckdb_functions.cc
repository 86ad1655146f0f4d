// SPDX-License-Identifier: MIT
#include "query/duckdb_functions.h"

#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>

#include "query/sql_text.h"
#include "query/views.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

// Answers per distinct kernel name. DuckDB calls from several threads.
struct KernelFunction {
  bool TensorCoreUse::* part;
  std::mutex mutex;
  std::unordered_map<std::string, bool> by_name;

  bool Of(const std::string& name) {
    const std::scoped_lock lock(mutex);
    const auto [at, is_new] = by_name.try_emplace(name);
    if (is_new) {
      at->second = TensorCoreClass(name).*part;
    }
    return at->second;
  }
};

void Call(duckdb_function_info info, duckdb_data_chunk input, duckdb_vector output) {
  static const DuckdbApi& api = *LoadDuckdb().value();  // loaded, or nobody would call
  auto* function = static_cast<KernelFunction*>(api.scalar_function_get_extra_info(info));
  duckdb_vector names = api.data_chunk_get_vector(input, 0);
  const uint64_t* validity = api.vector_get_validity(names);
  auto* texts = static_cast<duckdb_string_t*>(api.vector_get_data(names));
  auto* numbers = static_cast<int32_t*>(api.vector_get_data(output));
  const size_t rows = api.data_chunk_get_size(input);
  for (size_t row = 0; row < rows; ++row) {
    const bool valid = validity == nullptr || (validity[row / 64] >> (row % 64) & 1) != 0;
    if (!valid) {
      api.vector_ensure_validity_writable(output);
      api.validity_set_row_invalid(api.vector_get_validity(output), row);
      continue;
    }
    const std::string name(api.string_t_data(&texts[row]), api.string_t_length(texts[row]));
    numbers[row] = function->Of(name) ? 1 : 0;
  }
}

void Register(DuckdbConnection& connection, const DuckdbApi& api, std::string_view name,
              bool TensorCoreUse::* part, bool& ok) {
  duckdb_scalar_function function = api.create_scalar_function();
  duckdb_logical_type text = api.create_logical_type(DUCKDB_TYPE_VARCHAR);
  duckdb_logical_type number = api.create_logical_type(DUCKDB_TYPE_INTEGER);
  api.scalar_function_set_name(function, std::string(name).c_str());
  api.scalar_function_add_parameter(function, text);
  api.scalar_function_set_return_type(function, number);
  auto state =
      std::unique_ptr<KernelFunction>(new KernelFunction{.part = part, .mutex = {}, .by_name = {}});
  api.scalar_function_set_extra_info(
      function, state.release(), [](void* owned) { delete static_cast<KernelFunction*>(owned); });
  api.scalar_function_set_function(function, Call);
  ok = ok && api.register_scalar_function(connection.handle(), function) == DuckDBSuccess;
  api.destroy_scalar_function(&function);
  api.destroy_logical_type(&text);
  api.destroy_logical_type(&number);
}

}  // namespace

Status RegisterDuckdbFunctions(DuckdbConnection& connection, const DuckdbApi& api) {
  bool ok = true;
  Register(connection, api, kTensorCoreEligible, &TensorCoreUse::eligible, ok);
  Register(connection, api, kTensorCoreActive, &TensorCoreUse::active, ok);
  return ok ? Status() : SqlError("DuckDB did not take the functions of the view kernels");
}

}  // namespace nsys
