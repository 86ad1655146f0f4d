// SPDX-License-Identifier: MIT
#include "ingest/duckdb_api.h"

#include <cstdlib>
#include <string>

#include <dlfcn.h>

#include <fmt/format.h>

#include "base/os_error.h"
#include "base/text.h"

namespace nsys {
namespace {

Error Missing(std::string_view library, const char* reason) {
  const std::string_view why = reason == nullptr ? "no reason given" : reason;
  if (TellsOfOutOfMemory(why)) {
    return {.code = ErrorCode::kSkillExecution,
            .message = fmt::format("out of memory: {} could not be loaded", library),
            .hint = OutOfMemoryHint()};
  }
  return {.code = ErrorCode::kProfile,
          .message = fmt::format(
              "reading Parquet, or SQL on DuckDB, needs DuckDB's library: {} could not be "
              "loaded",
              library),
          .hint = TellsOfOutOfFiles(why)
                      ? fmt::format("{} ({})", OutOfFilesHint(), Printable(why))
                      : fmt::format("install it in lib beside the program's bin folder, or set "
                                    "NSYS_AI_DUCKDB to its path ({})",
                                    Printable(why))};
}

Result<const DuckdbApi*> Load() {
  const char* named = std::getenv("NSYS_AI_DUCKDB");
  const bool by_name = named != nullptr && *named != '\0';
  const char* file = by_name ? named : "libduckdb.so";
  const std::string shown = Printable(by_name ? std::string("NSYS_AI_DUCKDB=") + named : file);
  void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    return Missing(shown, dlerror());
  }
  static DuckdbApi api;
#define NSYS_RESOLVE(name)                                                          \
  api.name = reinterpret_cast<decltype(api.name)>(dlsym(library, "duckdb_" #name)); \
  if (api.name == nullptr) return Missing(shown, dlerror());
  NSYS_DUCKDB_FUNCTIONS(NSYS_RESOLVE)
#undef NSYS_RESOLVE
  return static_cast<const DuckdbApi*>(&api);
}

}  // namespace

Result<const DuckdbApi*> LoadDuckdb() {
  static const Result<const DuckdbApi*> kLoaded = Load();
  return kLoaded;
}

}  // namespace nsys
