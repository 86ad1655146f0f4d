// SPDX-License-Identifier: MIT
#include "query/sqlite_functions.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/number.h"
#include "query/views.h"
#include "trace/kernel_class.h"

namespace nsys {
namespace {

// Answers per distinct kernel name, for one connection.
struct KernelClasses {
  std::unordered_map<std::string, TensorCoreUse> by_name;

  TensorCoreUse Of(const std::string& name) {
    const auto [at, is_new] = by_name.try_emplace(name);
    if (is_new) {
      at->second = TensorCoreClass(name);
    }
    return at->second;
  }
};

void TensorCoreFunction(sqlite3_context* context, sqlite3_value* value,
                        bool TensorCoreUse::* part) {
  const auto* text = reinterpret_cast<const char*>(sqlite3_value_text(value));
  if (text == nullptr) {
    return sqlite3_result_null(context);
  }
  auto* classes = static_cast<KernelClasses*>(sqlite3_user_data(context));
  const std::string name(text, static_cast<size_t>(sqlite3_value_bytes(value)));
  sqlite3_result_int(context, classes->Of(name).*part ? 1 : 0);
}

void EligibleFunction(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  TensorCoreFunction(context, values[0], &TensorCoreUse::eligible);
}

void ActiveFunction(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  TensorCoreFunction(context, values[0], &TensorCoreUse::active);
}

void RoundFunction(sqlite3_context* context, int /*count*/, sqlite3_value** values) {
  const int64_t places = sqlite3_value_int64(values[1]);
  const int type = sqlite3_value_type(values[0]);
  const bool known = (type == SQLITE_INTEGER || type == SQLITE_FLOAT) && places >= 0 &&
                     places <= 9 && sqlite3_value_type(values[1]) == SQLITE_INTEGER;
  if (!known) {
    return sqlite3_result_null(context);
  }
  sqlite3_result_double(context,
                        RoundHalfEven(sqlite3_value_double(values[0]), static_cast<int>(places)));
}

using Function = void (*)(sqlite3_context*, int, sqlite3_value**);

constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;

int RegisterFunction(sqlite3* db, std::string_view name, Function function) {
  return sqlite3_create_function_v2(
      db, std::string(name).c_str(), 1, kFlags, new KernelClasses, function, nullptr, nullptr,
      [](void* classes) { delete static_cast<KernelClasses*>(classes); });
}

}  // namespace

bool RegisterSqliteFunctions(sqlite3* db) {
  return RegisterFunction(db, kTensorCoreEligible, EligibleFunction) == SQLITE_OK &&
         RegisterFunction(db, kTensorCoreActive, ActiveFunction) == SQLITE_OK &&
         sqlite3_create_function_v2(db, std::string(kRoundHalfEven).c_str(), 2, kFlags, nullptr,
                                    RoundFunction, nullptr, nullptr, nullptr) == SQLITE_OK;
}

}  // namespace nsys
