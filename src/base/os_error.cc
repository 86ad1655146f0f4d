// SPDX-License-Identifier: MIT
#include "base/os_error.h"

#include <cerrno>
#include <cstring>

namespace nsys {

bool IsOutOfFiles(int error) { return error == EMFILE || error == ENFILE; }

bool TellsOfOutOfFiles(std::string_view message) {
  return message.find(std::strerror(EMFILE)) != std::string_view::npos;  // that of ENFILE as well
}

std::string OutOfFilesHint() {
  return "allow the process more open files, as with `ulimit -n 4096`";
}

std::string HintFor(int error, std::string_view otherwise) {
  return IsOutOfFiles(error) ? OutOfFilesHint() : std::string(otherwise);
}

}  // namespace nsys
