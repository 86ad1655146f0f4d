// SPDX-License-Identifier: MIT
// Any bytes as an SQLite capture: opening and loading either works or gives an error.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-capture -max_len=65536 CORPUS_FOLDER
#include <cstdint>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ingest/capture.h"
#include "ingest/load.h"

namespace {

nsys::Reads Everything() {
  nsys::Reads reads;
  for (size_t table = 0; table < nsys::kTableCount; ++table) {
    for (size_t column = 0; column < nsys::kColumnCount; ++column) {
      reads.Add(static_cast<nsys::TableId>(table), {static_cast<nsys::Column>(column)});
    }
  }
  return reads;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int kFile = ::memfd_create("capture", MFD_CLOEXEC);
  static const std::string kPath = "/proc/self/fd/" + std::to_string(kFile);
  static const nsys::Reads kReads = Everything();
  if (::ftruncate(kFile, 0) != 0 || ::pwrite(kFile, data, size, 0) != static_cast<ssize_t>(size)) {
    std::abort();
  }
  const auto source = nsys::OpenCapture(kPath, 1);
  if (source.ok()) {
    static_cast<void>(
        nsys::LoadTrace(*source.value(), kReads, {.threads = 1, .progress = {}}).ok());
  }
  return 0;
}
