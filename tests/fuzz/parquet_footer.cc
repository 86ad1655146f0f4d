// SPDX-License-Identifier: MIT
// Any bytes as the footer of a Parquet file: hiding its labels keeps its length, and what was
// hidden once is not found again. The same bytes as a whole file: the check of a footer only ever
// says no.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-parquet_footer -max_len=4096 CORPUS_FOLDER
#include <cstdint>
#include <string>

#include "base/parquet_file.h"
#include "ingest/parquet_footer.h"
#include "input_file.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nsys::InputFile file;
  std::string footer(reinterpret_cast<const char*>(data), size);
  if (nsys::HideTextLabels(footer)) {
    nsys::Require(footer.size() == size);
    std::string again = footer;
    nsys::Require(!nsys::HideTextLabels(again) || again == footer);
  }
  static_cast<void>(nsys::CheckParquetFooter(file.Hold(data, size), 1).ok());
  return 0;
}
