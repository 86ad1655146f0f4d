// SPDX-License-Identifier: MIT
// Files: writing results where they belong, to standard output or to a file that appears whole or
// not at all; reading small ones; flushing; and what paths lead to.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace nsys {

// Writes `text` to standard output and flushes it. A closed pipe ends the process quietly with
// status 141, as a shell reports it; any other failure is an error.
Status WriteStdout(std::string_view text);

// Writes `text` to `path` through a temporary name in the same folder, flushed to disk and renamed,
// so that readers see the old file or the new one; an old file's permissions are kept. Where a
// symbolic link leads, the target is replaced. Anything that is no regular file (a device, a pipe)
// is written into. Missing folders are an error, not created.
Status WriteFileAtomically(const std::string& path, std::string_view text);

// The bytes of a regular file (or of one that a symbolic link leads to), which may have at most
// `max_bytes`. `code` is that of the error.
Result<std::string> ReadFile(const std::string& path, size_t max_bytes, ErrorCode code);

// Whether both paths lead to the same file, or `path` into the folder `other`.
bool IsSameFileOrInside(const std::string& path, const std::string& other);

// Whether anything is there, a dangling link included.
bool IsThere(const std::string& path);

// The folder that `path` lies in.
std::string FolderOf(const std::string& path);

// Flushes names in `folder` to disk.
Status SyncFolder(const std::string& folder);
// Flushes a file, or a folder with all files in it.
Status SyncTree(const std::string& path);

// `error` is an errno.
Error CannotWrite(std::string_view what, int error);

}  // namespace nsys
