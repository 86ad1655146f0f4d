// SPDX-License-Identifier: MIT
// What kind of thing lies at a path, judged by its first bytes rather than by its name, and how an
// error speaks about it. Used before any reader opens the file.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/file_descriptor.h"
#include "base/result.h"

namespace nsys {

enum class FileKind {
  kDirectory,
  kSqlite,
  kParquetFile,
  kReport,  // the binary form that `nsys profile` writes
  kOther,   // something else; `what` says it
};

struct FileFacts {
  FileKind kind = FileKind::kOther;
  std::string what = {};  // of kOther: "a gzip archive"
  std::string hint = {};  // of kOther: what to do about it
  int64_t size = 0;
  bool never_report = false;  // of kOther: cannot be a report either, whatever its name says
};

// Looks at `path`. Errors: nothing there, not allowed to look, or neither a file nor a folder.
Result<FileFacts> InspectFile(const std::string& path);

// The regular file at `path` for reading. Opens nothing else, so that no pipe can block it.
Result<FileDescriptor> OpenRegularFile(const std::string& path);

// The error about `path` that could not be opened; `error` is errno.
Error CannotOpen(const std::string& path, int error);

// What a file of `size` bytes is, judged by its first bytes; `head` need not be the whole file.
FileFacts JudgeContent(std::string_view head, int64_t size);

// `path` for a message: one line, valid UTF-8.
std::string ShownPath(std::string_view path);

// Whether the name of `path` ends with `suffix` (".nsys-rep"), letters compared without case.
bool HasSuffix(std::string_view path, std::string_view suffix);

}  // namespace nsys
