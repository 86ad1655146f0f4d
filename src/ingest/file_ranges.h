// SPDX-License-Identifier: MIT
// Ranges of bytes of open files, whole or not at all. Signals do not matter, file positions
// neither.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>

namespace nsys {

// False when the file ends early or cannot be read or written.
bool ReadFully(int fd, char* to, size_t bytes, off_t offset);
bool WriteFully(int fd, const char* from, size_t bytes, off_t offset);

// Copies a range to the same place of another file.
bool CopyRange(int from, int to, int64_t offset, int64_t bytes);

}  // namespace nsys
