// SPDX-License-Identifier: MIT
// Temporary files of SQLite in memory. SQLite's own way to keep them there (temp_store=MEMORY)
// makes it sort a whole table in one go, which nothing can interrupt; with files it sorts in small
// parts.
#pragma once

namespace nsys {

// The name of a VFS that opens named files as `base` does ("unix", "unix-none") and keeps nameless
// temporary ones in memory; null when there is no such base. Thread-safe.
const char* MemoryTempVfs(const char* base);

}  // namespace nsys
