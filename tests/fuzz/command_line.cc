// SPDX-License-Identifier: MIT
// Any bytes as the arguments of the program, one a line: a request, or a usage error that says what
// is wrong.
//
//   cmake --preset fuzz && cmake --build --preset fuzz
//   build/fuzz/fuzz-command_line -max_len=512 CORPUS_FOLDER
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command_line.h"
#include "target.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  // The system gives no argument with a NUL.
  std::string_view left(reinterpret_cast<const char*>(data), size);
  left = left.substr(0, left.find('\0'));
  std::vector<std::string> arguments;
  while (!left.empty()) {
    const size_t end = std::min(left.find('\n'), left.size());
    arguments.emplace_back(left.substr(0, end));
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  static_cast<void>(nsys::WantsJsonErrors(arguments));
  const auto request = nsys::ParseCommandLine(arguments);
  if (!request.ok()) {
    nsys::Require(!request.error().message.empty());
    nsys::Require(nsys::ExitStatus(request.error().code) != 0);
  }
  return 0;
}
