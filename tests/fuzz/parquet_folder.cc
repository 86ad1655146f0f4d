// SPDX-License-Identifier: MIT
// Any bytes as one table of a folder of Parquet tables, beside one that is sound: opening and
// loading either works or gives an error.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-parquet_folder -max_len=16384 CORPUS_FOLDER
#include <cstdint>
#include <memory>

#include <fmt/format.h>

#include "ingest/capture.h"
#include "ingest/duckdb_session.h"
#include "ingest/load.h"
#include "input_file.h"
#include "target.h"

namespace {

struct Folder {
  Folder() {
    const auto database = nsys::DuckdbDatabase::Open(1);
    nsys::Require(database.ok());
    nsys::DuckdbConnection connection(*database.value());
    const std::string path = folder / "StringIds.parquet";
    nsys::Require(connection
                      .Execute(fmt::format("COPY (SELECT range AS id, 'name ' || range AS value "
                                           "FROM range(100)) TO '{}' (FORMAT parquet)",
                                           path))
                      .empty());
  }
  nsys::FuzzFolder folder;
  nsys::InputFile table{folder / "CUPTI_ACTIVITY_KIND_KERNEL.parquet"};
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static Folder input;
  static const nsys::Reads kReads = nsys::EveryColumn();
  input.table.Hold(data, size);
  const auto source = nsys::OpenCapture(input.folder.path(), 1);
  if (source.ok()) {
    static_cast<void>(
        nsys::LoadTrace(*source.value(), kReads, {.threads = 1, .progress = {}}).ok());
  }
  return 0;
}
