// SPDX-License-Identifier: MIT
#include "base/os_error.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include <sys/resource.h>
#include <unistd.h>

#include "base/text.h"

namespace nsys {

bool IsOutOfFiles(int error) { return error == EMFILE || error == ENFILE; }

bool TellsOfOutOfFiles(std::string_view message) {
  return message.find(std::strerror(EMFILE)) != std::string_view::npos;  // that of ENFILE as well
}

std::string OutOfFilesHint() {
  return "allow the process more open files, as with `ulimit -n 4096`";
}

bool TellsOfOutOfMemory(std::string_view message) {
  // The dynamic linker's words, and DuckDB's.
  static constexpr std::string_view kWords[] = {"failed to map segment", "cannot allocate memory",
                                                "out of memory",         "allocation failure",
                                                "failed to allocate",    "could not allocate"};
  const std::string lower = LowerAscii(message);
  return std::any_of(std::begin(kWords), std::end(kWords), [&](std::string_view words) {
    return lower.find(words) != std::string::npos;
  });
}

std::string OutOfMemoryHint() {
  return "allow the process more memory, as with `ulimit -v unlimited`, or end other programs";
}

std::optional<int64_t> AddressSpaceLeft() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  int64_t pages = 0;  // mapped now
  std::ifstream("/proc/self/statm") >> pages;
  return static_cast<int64_t>(limit.rlim_cur) - pages * sysconf(_SC_PAGESIZE);
}

std::string HintFor(int error, std::string_view otherwise) {
  return IsOutOfFiles(error) ? OutOfFilesHint() : std::string(otherwise);
}

}  // namespace nsys
