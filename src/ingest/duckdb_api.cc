// SPDX-License-Identifier: MIT
#include "ingest/duckdb_api.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <string>

#include "base/text.h"

namespace nsys {
namespace {

Error Missing(std::string_view where, const char* reason) {
  return {.code = ErrorCode::kProfile,
          .message = fmt::format("reading Parquet needs libduckdb.so, which could not be loaded {}",
                                 where),
          .hint = fmt::format("install it beside the program, or name it in NSYS_AI_DUCKDB ({})",
                              Printable(ToValidUtf8(reason == nullptr ? "" : reason)))};
}

Result<const DuckdbApi*> Load() {
  const char* named = std::getenv("NSYS_AI_DUCKDB");
  const bool by_name = named != nullptr && *named != '\0';
  const std::string where = by_name ? "from NSYS_AI_DUCKDB=" + Printable(ToValidUtf8(named))
                                    : std::string("from beside the program");
  void* library = dlopen(by_name ? named : "libduckdb.so", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Missing(where, dlerror());
  }
  static DuckdbApi api;
#define NSYS_RESOLVE(name)                                                          \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "duckdb_" #name)); \
  if (api.name == nullptr) return Missing(where, dlerror());
  NSYS_DUCKDB_FUNCTIONS(NSYS_RESOLVE)
#undef NSYS_RESOLVE
  return static_cast<const DuckdbApi*>(&api);
}

}  // namespace

Result<const DuckdbApi*> LoadDuckdb() {
  static const Result<const DuckdbApi*> loaded = Load();
  return loaded;
}

}  // namespace nsys
