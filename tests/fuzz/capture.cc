// SPDX-License-Identifier: MIT
// Any bytes as an SQLite capture: opening and loading either works or gives an error.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-capture -max_len=65536 CORPUS_FOLDER
#include <cstdint>

#include "ingest/capture.h"
#include "ingest/load.h"
#include "input_file.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static nsys::InputFile file;
  static const nsys::Reads kReads = nsys::EveryColumn();
  const auto source = nsys::OpenCapture(file.Hold(data, size), 1);
  if (source.ok()) {
    static_cast<void>(
        nsys::LoadTrace(*source.value(), kReads, {.threads = 1, .progress = {}}).ok());
  }
  return 0;
}
